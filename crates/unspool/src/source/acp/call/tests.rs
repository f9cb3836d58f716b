//! Tests of single calls.

use super::*;

fn call(id: &str, session: &str, fields: &str) -> Call {
    let mut call = Call::new(id, session, session, false);
    call.update(&Json::parse(fields).unwrap().object());
    call
}

#[test]
fn the_tool_name_is_preferred_to_the_kind() {
    let named = r#"{"name":"Read","kind":"read","_meta":{"claudeCode":{"toolName":"X"}}}"#;
    assert_eq!(call("1", "s", named).tool(), "Read");
    let meta = r#"{"kind":"execute","_meta":{"toolName":"run_shell_command"}}"#;
    assert_eq!(call("1", "s", meta).tool(), "run_shell_command");
    let gemini = "mcp__a__mcp__a_1_0";
    assert_eq!(call(gemini, "s", "{}").tool(), "mcp__a");
    let title = r#"{"title":"todowrite","kind":"other"}"#;
    assert_eq!(call("1", "ses_1", title).tool(), "todowrite");
    assert_eq!(call("1", "s", title).tool(), "todowrite");
    let title = r#"{"title":"hologram","kind":"other"}"#;
    assert_eq!(call("1", "s", title).tool(), "other");
    assert_eq!(call("1", "s", r#"{"title":7,"kind":[]}"#).tool(), "other");
}

#[test]
fn the_category_comes_from_name_or_kind() {
    let category = |fields| call("1", "s", fields).category();
    let named = r#"{"name":"exec_command","kind":"read"}"#;
    assert_eq!(category(named), Category::Execute);
    assert_eq!(category(r#"{"kind":"switch_mode"}"#), Category::Other);
    assert_eq!(category(r#"{"kind":"fetch"}"#), Category::Fetch);
    let title = r#"{"title":"Command: ls","kind":"other"}"#;
    assert_eq!(category(title), Category::Execute);
    assert_eq!(category(r#"{"title":"spawnAgent"}"#), Category::Task);
}

#[test]
fn the_input_says_more_than_the_kind() {
    let category = |fields| call("1", "s", fields).category();
    let files = r#"{"kind":"read","title":"Finding","rawInput":{"pattern":"src/**/*"}}"#;
    assert_eq!(category(files), Category::List);
    let text = r#"{"kind":"read","title":"Searching","rawInput":{"pattern":"TODO"}}"#;
    assert_eq!(category(text), Category::Search);
    let new = r#"{"kind":"edit","rawInput":{"path":"a","file_text":"b"}}"#;
    assert_eq!(category(new), Category::Write);
    let edit = r#"{"kind":"edit","rawInput":{"path":"a","old_str":"b","content":"c"}}"#;
    assert_eq!(category(edit), Category::Edit);
    let task = r#"{"kind":"other","rawInput":{"prompt":"a","agent_type":"b"}}"#;
    assert_eq!(category(task), Category::Task);
}

#[test]
fn calls_of_sub_agents() {
    let of = |fields| {
        let call = call("1", "ses_1", fields);
        let category = call.category();
        let arg = call.arg(category).map(Cow::into_owned);
        (call.tool().into_owned(), category, arg, call.is_report())
    };
    let task = Category::Task;
    let a = Some("a".to_owned());
    assert_eq!(
        of(r#"{"title":"Start it","rawInput":{"activityKind":"started","agentPath":"/root/a"}}"#),
        ("spawn_agent".to_owned(), task, a.clone(), false)
    );
    assert_eq!(
        of(
            r#"{"title":"Stop it","rawInput":{"activityKind":"interrupted","agentPath":"/root/a"}}"#
        ),
        ("interrupt_agent".to_owned(), task, a.clone(), false)
    );
    assert_eq!(
        of(r#"{"title":"End it","rawInput":{"activityKind":"completed","agentPath":"/root/a"}}"#),
        ("sub_agent_activity".to_owned(), task, a, true)
    );
    let loaded =
        r#"{"kind":"think","title":"Count","rawInput":{"subagent_type":"x","prompt":"y"}}"#;
    assert_eq!(of(loaded), ("task".to_owned(), task, None, false));
}

#[test]
fn descriptions_of_commands_have_their_category() {
    let described = |kind: &str, title: &str| {
        let fields = format!(r#"{{"name":"exec_command","kind":"{kind}","title":"{title}"}}"#);
        let call = call("1", "s", &fields);
        let category = call.category();
        let arg = call.arg(category).map(Cow::into_owned);
        (category, arg.unwrap_or_default())
    };
    let text = |category, arg: &str| (category, arg.to_owned());
    assert_eq!(
        described("search", "Search for '*.py' in ."),
        text(Category::List, "*.py")
    );
    let read = described("read", "Read file '/a b'");
    assert_eq!(read, text(Category::Read, "/a b"));
    let list = described("read", "List files");
    assert_eq!(list, text(Category::List, "."));
    let inside = described("read", "List files in 'src'");
    assert_eq!(inside, text(Category::List, "src"));
    let search = described("search", "Search for 'def ' in src");
    assert_eq!(search, text(Category::Search, "'def ' in src"));
    let command = described("execute", "Read file 'a'");
    assert_eq!(command, text(Category::Execute, ""));
}

#[test]
fn the_file_of_a_call_from_any_field() {
    let arg = |fields: &str| {
        let call = call("1", "s", fields);
        call.arg(call.category()).map(Cow::into_owned)
    };
    let meta = r#""_meta":{"claudeCode":{"toolName":"Read","parentToolUseId":"p"}}"#;
    let read = |rest: &str| arg(&format!("{{{meta},{rest}}}"));
    let file = Some("src/a.rs".to_owned());
    assert_eq!(read(r#""title":"Read src/a.rs""#), file);
    assert_eq!(
        read(r#""title":"Read src/a.rs","kind":"read","rawInput":{}"#),
        file
    );
    let place = r#""title":"Read a.rs","kind":"other","locations":[{"path":"src/a.rs"}]"#;
    assert_eq!(read(place), file);
    assert_eq!(read(r#""title":"Read File","rawInput":{}"#), None);
    assert_eq!(read(r#""title":"Looking at a.rs""#), None);
    let qwen = r#"{"title":"ReadFile: src/a.rs","_meta":{"toolName":"read_file"}}"#;
    assert_eq!(arg(qwen), file);
    assert_eq!(arg(r#"{"title":"Edit src/a.rs","kind":"edit"}"#), file);
}

#[test]
fn codex_names_tools_in_the_input() {
    let fields = r#"{"kind":"execute","title":"mcp.a.b","rawInput":{"server":"a","tool":"b","arguments":{"x":1}}}"#;
    let server = call("1", "s", fields);
    assert_eq!(server.tool(), "a.b");
    assert_eq!(server.category(), Category::Other);
    assert_eq!(server.arguments().unwrap().get(), r#"{"x":1}"#);
    let fields = r#"{"kind":"other","title":"closeAgent","rawInput":{"senderThreadId":"t"}}"#;
    let agents = call("1", "s", fields);
    assert_eq!(agents.tool(), "close_agent");
    assert_eq!(agents.category(), Category::Task);
    let fields =
        r#"{"kind":"read","title":"Read a","rawInput":{"command":["bash","-lc","cat a"]}}"#;
    assert_eq!(call("1", "s", fields).category(), Category::Execute);
}

#[test]
fn events_of_codex_in_the_input_name_the_tool() {
    let of = |fields| {
        let call = call("1", "s", fields);
        (call.tool().into_owned(), call.category())
    };
    let command = r#"{"kind":"search","title":"List a","rawInput":{"call_id":"c","command":["bash","-lc","ls"]}}"#;
    assert_eq!(of(command), ("exec_command".to_owned(), Category::Execute));
    let patch = r#"{"kind":"edit","title":"Edit a","rawInput":{"call_id":"c","changes":{"a":{"type":"add","content":"x"}}}}"#;
    assert_eq!(of(patch), ("apply_patch".to_owned(), Category::Write));
    let resources = r#"{"kind":"execute","rawInput":{"server":"codex","tool":"list_mcp_resources","arguments":{}}}"#;
    assert_eq!(
        of(resources),
        ("codex.list_mcp_resources".to_owned(), Category::Read)
    );
}

#[test]
fn diffs_of_one_kind_have_its_category() {
    let category = |content: &str| {
        let fields = format!(r#"{{"kind":"edit","title":"Editing files","content":{content}}}"#);
        call("1", "s", &fields).category()
    };
    let new = r#"{"type":"diff","path":"a","oldText":null,"newText":"x"}"#;
    let gone = r#"{"type":"diff","path":"b","oldText":"x","newText":"","_meta":{"kind":"delete"}}"#;
    let changed = r#"{"type":"diff","path":"c","oldText":"x","newText":"y"}"#;
    assert_eq!(category(&format!("[{new}]")), Category::Write);
    assert_eq!(category(&format!("[{gone}]")), Category::Delete);
    assert_eq!(category(&format!("[{changed}]")), Category::Edit);
    assert_eq!(category(&format!("[{new},{gone}]")), Category::Edit);
    assert_eq!(category("[]"), Category::Edit);
}

#[test]
fn calls_between_agents_have_no_ids_as_arguments() {
    let wait = r#"{"kind":"other","title":"wait","rawInput":{"senderThreadId":"t","receiverThreadIds":["u"]}}"#;
    let call = call("1", "s", wait);
    assert_eq!(call.arg(call.category()).as_deref(), Some(""));
}
