//! Tests of joining events into entries.

use super::*;

/// Returns the entries yielded after each line.
fn yielded(lines: &[&str]) -> Vec<String> {
    let mut session = Session::new();
    let mut out = Vec::new();
    for line in lines {
        let mut words = Vec::new();
        session.apply(Event::from_json(line).unwrap(), &mut |entry| {
            words.push(match entry.item {
                Item::Text(text) => text.text,
                Item::Tool(tool) => tool.call.id,
                other => format!("{other:?}"),
            });
        });
        out.push(words.join(" "));
    }
    out
}

#[test]
fn entries_finished_during_a_message_follow_it() {
    let out = yielded(&[
        r#"{"kind":"tool_use","id":"t1","name":"Bash"}"#,
        r#"{"kind":"tool_use","id":"t2","name":"Bash","agent":{"id":"x","depth":1}}"#,
        r#"{"kind":"text","id":"a","text":"Hel","delta":true}"#,
        r#"{"kind":"tool_result","id":"t2","status":"ok","agent":{"id":"x","depth":1}}"#,
        r#"{"kind":"text","id":"b","text":"inner","agent":{"id":"x","depth":1}}"#,
        r#"{"kind":"tool_result","id":"t1","status":"ok"}"#,
        r#"{"kind":"text","id":"a","text":"lo","delta":true}"#,
        r#"{"kind":"text","id":"c","text":"Bye"}"#,
    ]);
    assert_eq!(out, ["", "", "", "", "", "", "", "Hello t2 inner t1 Bye"]);
}

#[test]
fn a_picture_stays_between_the_texts_around_it() {
    let out = yielded(&[
        r#"{"kind":"text","id":"a","text":"one","delta":true}"#,
        r#"{"kind":"text","id":"a","media":[{"mime":"image/png"}],"delta":true}"#,
        r#"{"kind":"text","id":"a","text":"two","delta":true}"#,
        r#"{"kind":"turn_end","status":"completed"}"#,
    ]);
    let picture = format!(
        "{:?}",
        Item::Media(vec![crate::event::Media::new("image/png")])
    );
    assert_eq!(out[..3], ["", &format!("one {picture}"), ""]);
    assert!(out[3].starts_with("two "), "{out:?}");
}

#[test]
fn text_after_an_edit_follows_it() {
    let lines = [
        r#"{"kind":"text","id":"m","text":"before","delta":true}"#,
        r#"{"kind":"edit","edits":[{"op":"update","path":"a.rs"}]}"#,
        r#"{"kind":"text","id":"m","text":"after","delta":true}"#,
    ];
    let mut session = Session::new();
    let mut seen = Vec::new();
    let mut see = |entry: Entry| {
        seen.push(match entry.item {
            Item::Text(text) => text.text,
            Item::Edit(made) => made.edits[0].path.clone(),
            other => format!("{other:?}"),
        });
    };
    for line in lines {
        session.apply(Event::from_json(line).unwrap(), &mut see);
    }
    session.finish(&mut see);
    assert_eq!(seen, ["before", "a.rs", "after"]);
}

#[test]
fn sub_agents_do_not_delay_each_other() {
    let of =
        |agent: &str, rest: &str| format!(r#"{{"agent":{{"id":"{agent}","depth":1}},{rest}}}"#);
    let lines = [
        of("x", r#""kind":"text","id":"a","text":"Read","delta":true"#),
        of("y", r#""kind":"tool_use","id":"t1","name":"Bash""#),
        of("y", r#""kind":"tool_result","id":"t1","status":"ok""#),
        of("x", r#""kind":"text","id":"a","text":"ing","delta":true"#),
        of("y", r#""kind":"text","id":"b","text":"Good","delta":true"#),
        of("x", r#""kind":"tool_use","id":"t2","name":"Bash""#),
        of("y", r#""kind":"usage","context_used":5"#),
    ];
    let out = yielded(&lines.each_ref().map(String::as_str));
    assert_eq!(out[..6], ["", "", "t1", "", "", "Reading"]);
    assert!(out[6].starts_with("Good "));
}

#[test]
fn an_endless_message_does_not_delay_other_entries() {
    let mut lines = vec![r#"{"kind":"text","id":"a","text":"Hel","delta":true}"#];
    let other = r#"{"kind":"text","id":"b","text":"x","agent":{"id":"x","depth":1}}"#;
    lines.extend([other; MOST_WAITING + 1]);
    let out = yielded(&lines);
    assert!(out[MOST_WAITING].is_empty());
    assert!(out[MOST_WAITING + 1].starts_with("Hel x x"));
}

#[test]
fn a_sub_agent_is_named_after_its_task() {
    let mut session = Session::new();
    let mut names = Vec::new();
    for line in [
        r#"{"kind":"tool_use","id":"c","name":"Agent","category":"task","arg":"Count tests"}"#,
        r#"{"kind":"text","id":"a","text":"x","agent":{"id":"x","parent":"c","depth":1,"name":"Explore"}}"#,
        r#"{"kind":"text","id":"b","text":"y","agent":{"id":"y","depth":1,"name":"Review"}}"#,
    ] {
        session.apply(Event::from_json(line).unwrap(), &mut |entry| {
            names.push(entry.agent.unwrap().name.clone());
        });
    }
    assert_eq!(names, ["Count tests", "Review"]);
}

#[test]
fn a_stop_notice_appears_once_after_the_stopped_calls() {
    let call = r#"{"kind":"tool_use","id":"t","name":"Bash"}"#;
    let stop = r#"{"kind":"notice","level":"canceled","text":"stop"}"#;
    let end = r#"{"kind":"turn_end","status":"canceled","reason":"why"}"#;
    let kinds = |lines: &[&str]| -> String {
        let mut session = Session::new();
        let mut kinds = String::new();
        let mut take = |entry: Entry| match entry.item {
            Item::Tool(_) => kinds.push('t'),
            Item::Notice(notice) => kinds.extend(["<", &*notice.text.as_str(), ">"]),
            Item::TurnEnd(_) => kinds.push('e'),
            _ => kinds.push('.'),
        };
        for line in lines {
            session.apply(Event::from_json(line).unwrap(), &mut take);
        }
        session.finish(&mut take);
        kinds
    };
    assert_eq!(kinds(&[call, stop, end]), "t<stop>e");
    assert_eq!(kinds(&[call, stop]), "t<stop>");
    assert_eq!(kinds(&[call, end]), "t<why>e");
    let next = r#"{"kind":"user","text":"x"}"#;
    assert_eq!(kinds(&[call, stop, next]), "<stop>.t");
    let warning = r#"{"kind":"notice","level":"warning","text":"why"}"#;
    let failed = r#"{"kind":"turn_end","status":"failed","reason":"why"}"#;
    assert_eq!(kinds(&[warning, failed]), "<why>e");
    let failed = r#"{"kind":"turn_end","status":"failed"}"#;
    let error = r#"{"kind":"notice","level":"error","text":"no"}"#;
    assert_eq!(kinds(&[error, failed, failed]), "<no>e<the turn failed.>e");
}

#[test]
fn an_unanswered_request_precedes_the_end_of_its_call() {
    let ask = |id: &str, call: &str| {
        format!(r#"{{"kind":"permission","id":"{id}","tool_id":"{call}","title":"?"}}"#)
    };
    let out = yielded(&[
        r#"{"kind":"tool_use","id":"t1","name":"Bash"}"#,
        r#"{"kind":"tool_use","id":"t2","name":"Bash"}"#,
        &ask("p1", "t1"),
        &ask("p2", "t2"),
        r#"{"kind":"tool_result","id":"t1","status":"ok"}"#,
        r#"{"kind":"tool_output","id":"t2","text":"x"}"#,
        r#"{"kind":"tool_result","id":"t2","status":"ok"}"#,
    ]);
    assert!(out[4].starts_with("Permission(") && out[4].ends_with(" t1"));
    assert!(out[4].contains("\"p1\"") && !out[4].contains("\"p2\""));
    assert!(out[5].contains("\"p2\""));
    assert_eq!(out[6], "t2");
}

#[test]
fn a_question_and_its_answer_are_one_entry() {
    let ask = |question: &str, answer: &str| {
        format!(r#"{{"kind":"prompt","question":"{question}","answer":"{answer}"}}"#)
    };
    let out = yielded(&[
        &ask("a", ""),
        &ask("b", ""),
        &ask("a", "yes"),
        r#"{"kind":"tool_use","id":"t","name":"Bash"}"#,
        &ask("c", "no"),
    ]);
    assert!(out[2].contains("\"a\"") && out[2].contains("yes"));
    assert!(out[3].contains("\"b\""));
    assert!(out[4].contains("\"c\""));
    assert_eq!([&*out[0], &*out[1]], ["", ""]);
}

#[test]
fn a_repeated_plan_is_dropped() {
    let plan = r#"{"kind":"plan","entries":[{"text":"a","status":"pending"}]}"#;
    let other = r#"{"kind":"plan","entries":[{"text":"a","status":"completed"}]}"#;
    let next = r#"{"kind":"user","text":"x"}"#;
    let out = yielded(&[plan, plan, other, plan, plan, next, plan]);
    let shown: Vec<bool> = out.iter().map(|words| !words.is_empty()).collect();
    assert_eq!(shown, [true, false, true, true, false, true, true]);
}

#[test]
fn a_stopped_turn_cancels_its_calls() {
    let ends = |status: &str| {
        let mut session = Session::new();
        let mut results = Vec::new();
        for line in [
            r#"{"kind":"tool_use","id":"t","name":"Bash"}"#,
            r#"{"kind":"tool_output","id":"t","text":"so far"}"#,
            &format!(r#"{{"kind":"turn_end","status":"{status}"}}"#),
        ] {
            session.apply(Event::from_json(line).unwrap(), &mut |entry| {
                if let Item::Tool(tool) = entry.item {
                    results.push((tool.result.map(|result| result.status), tool.output));
                }
            });
        }
        results
    };
    let stopped = Some(ToolStatus::Canceled);
    assert_eq!(ends("canceled"), [(stopped, "so far".to_owned())]);
    assert_eq!(ends("failed"), [(None, "so far".to_owned())]);
}
