//! The run under test, and the program on a terminal.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::terminal::{Size, Start, Terminal};

/// A file with a run.
pub(crate) struct Run {
    folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Run {
    pub(crate) fn of(lines: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        Self { folder, path }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn start(&self, size: Size, arguments: &[&str]) -> Start {
        let path = self.path.to_str().unwrap();
        let arguments = [&["view", "--theme", "dark", path], arguments].concat();
        let home = self.folder().to_str().unwrap();
        Start::unspool(size, &arguments).variable("HOME", home)
    }

    /// Opens the view and waits until the run is read.
    pub(crate) fn open(&self, size: Size) -> Terminal {
        let terminal = self.start(size, &[]).start();
        is_read(&terminal);
        terminal
    }
}

pub(crate) fn is_read(terminal: &Terminal) {
    crate::world::wait_until("the run to be read", || {
        let text = terminal.text();
        text.contains('▌') && !text.contains("reading…")
    });
}

/// Returns prompts, each with calls and an answer.
pub(crate) fn long(prompts: usize) -> Vec<String> {
    let mut lines = vec![
        r#"{"kind":"session","seq":0,"provider":"claude","model":"opus","title":"Mend the parser"}"#
            .to_owned(),
    ];
    for prompt in 0..prompts {
        lines.push(format!(r#"{{"kind":"user","text":"prompt {prompt}"}}"#));
        for call in 0..4 {
            let id = format!("t{prompt}x{call}");
            let status = if call == 2 { "error" } else { "ok" };
            lines.push(format!(
                r#"{{"kind":"tool_use","id":"{id}","name":"Bash","category":"execute","input":{{"command":"make {id}"}}}}"#
            ));
            lines.push(format!(
                r#"{{"kind":"tool_result","id":"{id}","name":"Bash","status":"{status}","output":"made {id}\nnothing\nto\nsee\nhere\nbut\nsecret {id}\nand\nthe\nrest\nof\nit"}}"#
            ));
        }
        lines.push(format!(
            r#"{{"kind":"text","id":"m{prompt}","text":"answer {prompt}"}}"#
        ));
    }
    lines
}

/// Returns one of each kind of entry.
pub(crate) fn varied() -> Vec<String> {
    let agent = r#""agent":{"id":"x","parent":"task","depth":1,"name":"Explore"}"#;
    let mut lines: Vec<String> = [
        r#"{"kind":"session","seq":0,"provider":"claude","model":"opus-5","title":"Mend the parser"}"#,
        r#"{"kind":"user","text":"Mend the parser, please: it fails on 漢字."}"#,
        r#"{"kind":"reasoning","id":"r","text":"**Looking at the parser**\n\nIt counts bytes, not characters."}"#,
        r#"{"kind":"plan","entries":[{"text":"Read the parser","status":"completed"},{"text":"Mend it","status":"in_progress"},{"text":"Run the tests","status":"pending"}]}"#,
        r#"{"kind":"tool_use","id":"task","name":"Task","category":"task","input":{"description":"find the callers","prompt":"Find all callers."}}"#,
    ]
    .map(str::to_owned)
    .to_vec();
    lines.push(format!(
        r#"{{"kind":"tool_use","id":"g","name":"Grep","category":"search","input":{{"pattern":"parse\\("}},{agent}}}"#
    ));
    lines.push(format!(
        r#"{{"kind":"tool_result","id":"g","name":"Grep","status":"ok","output":"src/main.rs",{agent}}}"#
    ));
    lines.push(format!(
        r#"{{"kind":"text","id":"s","text":"One caller, in `main.rs`.",{agent}}}"#
    ));
    lines.extend(
        [
            r#"{"kind":"tool_result","id":"task","name":"Task","status":"ok","output":"One caller."}"#,
            r#"{"kind":"tool_use","id":"e","name":"Edit","category":"edit","arg":"src/parser.rs","input":{"file_path":"src/parser.rs"}}"#,
            r#"{"kind":"tool_result","id":"e","name":"Edit","status":"ok","edits":[{"op":"update","path":"src/parser.rs","hunks":[{"old_start":10,"new_start":10,"lines":[" fn width(text: &str) -> usize {","-    text.len()","+    text.chars().count()"," }"]}]}]}"#,
            r#"{"kind":"tool_use","id":"b","name":"Bash","category":"execute","input":{"command":"cargo test"}}"#,
            r#"{"kind":"tool_result","id":"b","name":"Bash","status":"error","exit_code":101,"duration_ms":75000,"output":"running 2 tests\n\u001b[31mFAILED\u001b[0m width\nok empty"}"#,
            r#"{"kind":"tool_use","id":"d","name":"Bash","category":"execute","input":{"command":"rm -rf /"}}"#,
            r#"{"kind":"tool_result","id":"d","name":"Bash","status":"rejected","output":"the user said no"}"#,
            r#"{"kind":"text","id":"m","text":"Characters are counted now, but:\n\n- wide ones count **twice**\n- `width` has to know"}"#,
            r#"{"kind":"usage","input_tokens":52000,"output_tokens":900,"cost_usd":0.42,"context_used":52000,"context_size":200000}"#,
            r#"{"kind":"turn_end","status":"completed"}"#,
        ]
        .map(str::to_owned),
    );
    lines
}
