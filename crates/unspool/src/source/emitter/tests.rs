//! Tests of the emitter.

use super::*;
use crate::event::{RawJson, ToolStatus};

fn call<'a>(id: &'a str, name: &'a str, input: &str) -> Call<'a> {
    Call {
        id,
        name,
        input: RawJson::new(input),
        ..Call::default()
    }
}

fn lines(mut out: Emitter) -> Vec<String> {
    std::iter::from_fn(|| out.pop())
        .map(|event| {
            let mut line = serde_json::to_value(&event).unwrap();
            line.as_object_mut().unwrap().shift_remove("seq");
            line.to_string()
        })
        .collect()
}

fn popped(out: &mut Emitter) -> Vec<&'static str> {
    std::iter::from_fn(|| out.pop())
        .map(|event| event.body.kind())
        .collect()
}

#[test]
fn a_final_form_equal_to_its_deltas_is_not_repeated() {
    let mut out = Emitter::default();
    out.text_delta(Some("m"), "Hel");
    out.text_delta(Some("m"), "lo");
    out.text(Some("m"), "Hello");
    out.text(Some("m"), "Hello");
    out.text(Some("m"), "Hello!");
    assert_eq!(
        lines(out),
        [
            r#"{"kind":"text","text":"Hel","id":"m","delta":true}"#,
            r#"{"kind":"text","text":"lo","id":"m","delta":true}"#,
            r#"{"kind":"text","text":"Hello!","id":"m"}"#,
        ]
    );
}

#[test]
fn a_message_without_an_id_ends_at_a_call_a_plan_and_reasoning() {
    let mut out = Emitter::default();
    out.text_delta(None, "a");
    out.tool_use(call("1", "TodoWrite", r#"{"todos":[]}"#));
    out.text_delta(None, "b");
    out.notice(Level::Info, "n");
    out.tool_result("1", Outcome::default());
    out.text_delta(None, "b");
    out.plan(Plan::default());
    out.text_delta(None, "c");
    out.withhold(call("3", "TodoWrite", "{}"));
    out.tool_result("3", Outcome::new(ToolStatus::Error));
    out.text_delta(None, "d");
    out.tool_use(call("2", "Read", "{}"));
    out.text_delta(None, "e");
    out.reasoning_delta(None, "r");
    out.plan(Plan::default());
    out.reasoning_delta(None, "r");
    out.text_delta(None, "f");
    let ids: Vec<String> = std::iter::from_fn(|| out.pop())
        .filter_map(|event| match event.body {
            Body::Text(message) | Body::Reasoning(message) => Some(message.id),
            _ => None,
        })
        .collect();
    assert_eq!(
        ids,
        [
            "text-1",
            "text-2",
            "text-2",
            "text-3",
            "text-4",
            "text-5",
            "reasoning-1",
            "reasoning-2",
            "text-6"
        ]
    );
}

#[test]
fn a_call_is_emitted_again_only_if_it_says_more() {
    let mut out = Emitter::default();
    out.tool_use(call("1", "Read", "{}"));
    out.tool_use(call("1", "Read", "{}"));
    out.tool_use(call("1", "Read", r#"{"path":"a"}"#));
    out.tool_result("1", Outcome::default());
    out.tool_result("1", Outcome::default());
    assert_eq!(
        lines(out),
        [
            r#"{"kind":"tool_use","id":"1","name":"Read","category":"read","input":{}}"#,
            r#"{"kind":"tool_use","id":"1","name":"Read","category":"read","arg":"a","input":{"path":"a"}}"#,
            r#"{"kind":"tool_result","id":"1","name":"Read","status":"ok"}"#,
        ]
    );
}

#[test]
fn an_id_that_is_used_again_is_made_unique() {
    let mut out = Emitter::default();
    for _ in 0..3 {
        out.tool_use(call("x", "Read", "{}"));
        out.tool_result("x", Outcome::default());
    }
    let ids: Vec<String> = std::iter::from_fn(|| out.pop())
        .filter_map(|event| match event.body {
            Body::ToolUse(call) => Some(call.id),
            Body::ToolResult(result) => Some(result.id),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["x", "x", "x#2", "x#2", "x#3", "x#3"]);
}

#[test]
fn a_result_without_a_call_is_still_shown() {
    let mut out = Emitter::default();
    out.tool_result(
        "1",
        Outcome {
            name: "Bash".into(),
            ..Outcome::default()
        },
    );
    out.tool_result("1", Outcome::default());
    assert_eq!(
        lines(out),
        [r#"{"kind":"tool_result","id":"1","name":"Bash","status":"ok"}"#]
    );
}

#[test]
fn a_plan_call_that_failed_gives_a_warning() {
    let mut out = Emitter::default();
    out.tool_use(call("1", "update_plan", r#"{"plan":[{"step":"a"}]}"#));
    let status = ToolStatus::Error;
    out.tool_result(
        "1",
        Outcome {
            status,
            output: "bad".into(),
            ..Outcome::default()
        },
    );
    assert_eq!(
        lines(out),
        [r#"{"kind":"notice","level":"warning","text":"bad"}"#]
    );
}

#[test]
fn memory_stays_bounded() {
    let mut out = Emitter::default();
    for number in 0..3 * REMEMBERED {
        let id = number.to_string();
        out.text_delta(Some(&id), "x");
        out.tool_use(call(&id, "Read", "{}"));
        out.tool_result(&id, Outcome::default());
        while out.pop().is_some() {}
    }
    assert!(out.calls.len() <= REMEMBERED + 1);
    assert!(out.messages.open.len() <= messages::OPEN);
}

#[test]
fn an_id_used_again_is_emitted_under_another_one() {
    let mut out = Emitter::default();
    out.tool_use(call("c", "read", "{}"));
    assert_eq!(out.emitted_id("c"), Some("c"));
    out.tool_result("c", Outcome::default());
    out.tool_use(call("c", "read", "{}"));
    assert_eq!(out.emitted_id("c"), Some("c#2"));
    assert_eq!(out.emitted_id("other"), None);
}

#[test]
fn events_wait_for_the_outcome_of_a_proposed_edit() {
    let edit = |path: &str| Edit {
        path: path.into(),
        ..Edit::default()
    };
    let mut out = Emitter::default();
    out.text(None, "First.");
    out.proposed_edits(vec![edit("a"), edit("b")]);
    out.text(None, "Then.");
    assert_eq!(popped(&mut out), ["text"]);
    out.decide_edits(|edit| (edit.path == "a").then(|| (ToolStatus::Rejected, "no".into())));
    let Some(Body::Edit(made)) = out.pop().map(|event| event.body) else {
        panic!("no edit");
    };
    assert_eq!(made.status, ToolStatus::Rejected);
    assert_eq!(popped(&mut out), [] as [&str; 0]);
    out.release_edits();
    assert_eq!(popped(&mut out), ["edit", "text"]);
    out.proposed_edits(vec![edit("c")]);
    for _ in 0..2000 {
        out.notice(Level::Info, "n");
    }
    assert_eq!(popped(&mut out).len(), 2001);
}

#[test]
fn a_failed_plan_call_without_a_list_is_only_a_warning() {
    let failed = |output: &str| Outcome {
        status: ToolStatus::Error,
        output: output.into(),
        ..Outcome::default()
    };
    let mut out = Emitter::default();
    out.builtin_tool_use(call("1", "TodoWrite", r#"{"todos":"oops"}"#));
    out.tool_result("1", failed("no list"));
    assert_eq!(
        lines(out),
        [r#"{"kind":"notice","level":"warning","text":"no list"}"#]
    );
}

#[test]
fn a_plan_call_without_a_list_is_emitted_if_it_did_not_fail() {
    let shown = [
        r#"{"kind":"tool_use","id":"1","name":"TodoWrite","category":"plan","input":{"todos":{}}}"#,
        r#"{"kind":"tool_result","id":"1","name":"TodoWrite","status":"ok"}"#,
        r#"{"kind":"turn_end","status":"interrupted"}"#,
    ];
    let mut out = Emitter::default();
    out.builtin_tool_use(call("1", "TodoWrite", r#"{"todos":{}}"#));
    out.tool_result("1", Outcome::default());
    out.interrupted();
    assert_eq!(lines(out), shown);
    let mut cut = Emitter::default();
    cut.builtin_tool_use(call("1", "TodoWrite", r#"{"todos":{}}"#));
    cut.interrupted();
    assert_eq!(lines(cut), [shown[0], shown[2]]);
}

#[test]
fn a_plan_call_without_a_list_is_emitted_when_somebody_is_asked() {
    let mut out = Emitter::default();
    out.builtin_tool_use(call("1", "write_todos", "{}"));
    out.tool_use(call("1", "write_todos", "{}"));
    out.permission(Permission::default());
    assert_eq!(popped(&mut out), ["tool_use", "permission"]);
    out.tool_result("1", refused());
    assert_eq!(popped(&mut out), ["tool_result"]);
}

fn refused() -> Outcome {
    Outcome {
        status: ToolStatus::Error,
        output: "one at a time".into(),
        ..Outcome::default()
    }
}

#[test]
fn a_refused_plan_is_only_a_warning() {
    let todo = r#"{"todos":[{"content":"a","status":"in_progress"}]}"#;
    let mut out = Emitter::default();
    out.tool_use(call("1", "TodoWrite", todo));
    out.tool_use(call("2", "Read", "{}"));
    assert_eq!(popped(&mut out), [] as [&str; 0]);
    out.tool_result("1", refused());
    let numbers: Vec<u64> = out.events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, [0, 1]);
    assert_eq!(
        lines(out),
        [
            r#"{"kind":"tool_use","id":"2","name":"Read","category":"read","input":{}}"#,
            r#"{"kind":"notice","level":"warning","text":"one at a time"}"#,
        ]
    );
}

#[test]
fn an_accepted_plan_keeps_its_place() {
    let todo = r#"{"todos":[{"content":"a","status":"in_progress"}]}"#;
    let mut out = Emitter::default();
    out.tool_use(call("1", "TodoWrite", todo));
    out.tool_use(call("2", "Read", "{}"));
    out.tool_result("1", Outcome::default());
    assert_eq!(popped(&mut out), ["plan", "tool_use"]);
    out.tool_use(call("3", "TodoWrite", todo));
    out.tool_use(call("4", "Read", "{}"));
    out.interrupted();
    assert_eq!(popped(&mut out), ["plan", "tool_use", "turn_end"]);
}

#[test]
fn nobody_waits_for_the_result_of_a_plan() {
    let todo = r#"{"todos":[{"content":"a","status":"in_progress"}]}"#;
    let plan = || call("1", "TodoWrite", todo);
    let awaited: [&dyn Fn(&mut Emitter); 3] = [
        &|out| out.text_delta(None, "a"),
        &|out| out.permission(Permission::default()),
        &|out| out.tool_output("2", "a"),
    ];
    for event in awaited {
        let mut out = Emitter::default();
        out.tool_use(plan());
        event(&mut out);
        assert_eq!(popped(&mut out).len(), 1);
        out.tool_result("1", Outcome::default());
        let next = out.pop().unwrap();
        assert_eq!((next.body.kind(), next.seq), ("plan", 1));
        let mut out = Emitter::default();
        out.tool_use(plan());
        event(&mut out);
        out.tool_result("1", refused());
        assert!(!popped(&mut out).contains(&"plan"));
    }
    let mut out = Emitter::default();
    out.tool_use(plan());
    for _ in 0..100 {
        out.notice(Level::Info, "n");
    }
    assert_eq!(popped(&mut out).len(), 100);
}

#[test]
fn a_plan_that_grows_before_its_result_is_emitted_once() {
    let list = |items: &str| format!(r#"{{"todos":[{items}]}}"#);
    let (first, second) = (list(r#"{"content":"a"}"#), list(r#"{"content":"b"}"#));
    for is_aside in [false, true] {
        let mut out = Emitter::default();
        out.tool_use(call("1", "TodoWrite", &first));
        if is_aside {
            out.set_plans_aside();
        }
        out.tool_use(call("1", "TodoWrite", &second));
        out.tool_result("1", Outcome::default());
        assert_eq!(
            lines(out),
            [r#"{"kind":"plan","entries":[{"text":"b","status":"pending"}]}"#]
        );
    }
}
