use super::*;

fn blocks(text: &str, format: &str) -> Vec<Block> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let files = ["app.py".to_owned()];
    let chat = Chat {
        format,
        files: &files,
    };
    let mut found: Vec<Block> = Vec::new();
    let mut path = String::new();
    let mut finder = Finder::new(&lines, chat);
    while let Some(block) = finder.next(found.last().map_or(0, |b| b.end), &path) {
        path.clone_from(&block.edits[0].path);
        found.push(block);
    }
    found
}

#[test]
fn the_file_name_is_above_or_inside_the_fence() {
    for text in [
        "x\napp.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n",
        "x\n```python\napp.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n",
        "x\n**`app.py`**:\n````\n<<<<< SEARCH\na\n=====\nb\n>>>>> REPLACE\n````\n",
    ] {
        let found = blocks(text, "diff");
        assert_eq!((found[0].begin, found[0].end), (1, 9), "{text}");
        assert_eq!(found[0].edits[0].path, "app.py");
        assert_eq!(found[0].edits[0].hunks[0].lines, ["-a", "+b"]);
        assert_eq!(found[0].edits[0].hunks[0].old_start, None);
    }
}

#[test]
fn a_block_without_a_name_is_for_the_file_before() {
    let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    assert!(blocks(&format!("No file name:\n\n```\n{block}```\n"), "diff").is_empty());
    let found = blocks(&format!("a.py\n```\n{block}{block}```\n"), "diff");
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].edits[0].path, "a.py");
}

#[test]
fn an_empty_search_creates_a_file_or_appends_to_one() {
    let text = "lib/x.py\n```\n<<<<<<< SEARCH\n=======\nX\n>>>>>>> REPLACE\n```\n";
    let edit = &blocks(text, "diff")[0].edits[0];
    assert_eq!((edit.op, edit.hunks[0].new_start), (EditOp::Add, Some(1)));
    let edit = &blocks(&text.replace("lib/x.py", "app.py"), "diff")[0].edits[0];
    assert_eq!((edit.op, edit.hunks[0].new_start), (EditOp::Update, None));
}

#[test]
fn code_is_an_edit_only_in_a_format_that_allows_it() {
    let text = "app.py\n```python\nx = 1\n```\n";
    assert!(blocks(text, "diff").is_empty());
    assert_eq!(blocks(text, "whole")[0].edits[0].op, EditOp::Update);
    let text = "```diff\n--- /dev/null\n+++ a.py\n@@ ... @@\n+x\n```\n";
    assert!(blocks(text, "diff").is_empty());
    let edit = &blocks(text, "udiff")[0].edits[0];
    assert_eq!((edit.op, edit.path.as_str()), (EditOp::Add, "a.py"));
    assert!(blocks(text, "ask").is_empty());
}

#[test]
fn a_diff_may_be_of_several_files() {
    let first = "--- a.py\n+++ a.py\n@@ ... @@\n-old\n+new\n@@ ... @@\n def f():\n+    return 1\n";
    let second = "--- /dev/null\n+++ b.py\n@@ ... @@\n+hello\n--- no\n+++ header\n";
    for between in ["", "\n"] {
        let text = format!("```diff\n{first}{between}{second}```\n");
        let edits = &blocks(&text, "udiff")[0].edits;
        let paths: Vec<_> = edits.iter().map(|edit| edit.path.as_str()).collect();
        assert_eq!(paths, ["a.py", "b.py"]);
        assert_eq!((edits[0].op, edits[1].op), (EditOp::Update, EditOp::Add));
        assert_eq!(edits[0].hunks[1].lines, [" def f():", "+    return 1"]);
        assert_eq!(edits[1].hunks[0].lines, ["+hello", "--- no", "+++ header"]);
    }
}

#[test]
fn a_block_that_is_cut_off_stays_text() {
    assert!(blocks("a.py\n```\n<<<<<<< SEARCH\na\n=======\nb\n", "diff").is_empty());
    assert!(blocks("*** Begin Patch\n*** Delete File: a\n", "patch").is_empty());
}
