//! Rules of the event format that hold for every provider, checked on every
//! recording.

use std::collections::{HashMap, HashSet};

use unspool::Event;
use unspool::event::{Body, ToolStatus};

use crate::files;

/// Runs a check on the events of every recording.
fn everywhere(check: impl Fn(&str, &[Event])) {
    for (recording, events) in files::all_events() {
        check(&recording.name, events);
    }
}

#[test]
fn seq_counts_from_zero() {
    everywhere(|name, events| {
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event.seq, index as u64, "{name}");
        }
    });
}

#[test]
fn deltas_and_final_forms_are_not_repeated() {
    everywhere(|name, events| {
        let mut texts: HashMap<(&str, &str), String> = HashMap::new();
        for event in events {
            let (Body::Text(message) | Body::Reasoning(message)) = &event.body else {
                continue;
            };
            let shown = texts.entry((event.body.kind(), &message.id)).or_default();
            if message.delta {
                shown.push_str(&message.text.as_str());
            } else {
                assert_ne!(*shown, message.text.as_str(), "{name}: event {}", event.seq);
                *shown = message.text.to_string();
            }
        }
    });
}

/// Where the wire has no ids, the emitter numbers messages.
#[test]
fn no_numbered_message_continues_after_a_plan() {
    everywhere(|name, events| {
        let agent = |event: &Event| event.agent.as_ref().map(|agent| agent.id.clone());
        let mut ended = HashSet::new();
        let mut open = HashMap::new();
        for event in events {
            match &event.body {
                Body::Plan(_) => ended.extend(open.remove(&agent(event))),
                Body::Text(message) if message.id.starts_with("text-") => {
                    assert!(!ended.contains(&message.id), "{name}: {}", event.seq);
                    open.insert(agent(event), message.id.clone());
                }
                _ => {}
            }
        }
    });
}

#[test]
fn every_text_has_an_id() {
    everywhere(|name, events| {
        for event in events {
            if let Body::Text(message) | Body::Reasoning(message) = &event.body {
                assert!(!message.id.is_empty(), "{name}: event {}", event.seq);
                assert!(!message.text.is_empty(), "{name}: event {}", event.seq);
            }
        }
    });
}

#[test]
fn a_call_has_one_result_and_no_output_after_it() {
    everywhere(|name, events| {
        let mut finished = HashSet::new();
        for event in events {
            match &event.body {
                Body::ToolUse(call) => {
                    assert!(!call.id.is_empty(), "{name}: event {}", event.seq);
                    assert!(!call.name.is_empty(), "{name}: event {}", event.seq);
                    assert!(
                        !finished.contains(&call.id),
                        "{name}: {} is used again",
                        call.id
                    );
                }
                Body::ToolOutput(output) => {
                    assert!(
                        !finished.contains(&output.id),
                        "{name}: {} has ended",
                        output.id
                    );
                }
                Body::ToolResult(result) => {
                    assert!(
                        finished.insert(result.id.clone()),
                        "{name}: {} twice",
                        result.id
                    );
                }
                _ => {}
            }
        }
    });
}

#[test]
fn a_result_has_the_name_of_its_call() {
    everywhere(|name, events| {
        let mut names = HashMap::new();
        for event in events {
            match &event.body {
                Body::ToolUse(call) => {
                    names.insert(call.id.clone(), call.name.clone());
                }
                Body::ToolResult(result) => {
                    if let Some(called) = names.get(&result.id) {
                        assert_eq!(*called, result.name, "{name}: event {}", event.seq);
                    }
                }
                _ => {}
            }
        }
    });
}

#[test]
fn a_known_exit_code_other_than_zero_is_an_error() {
    everywhere(|name, events| {
        for event in events {
            if let Body::ToolResult(result) = &event.body
                && result.exit_code.is_some_and(|code| code != 0)
            {
                assert_ne!(result.status, ToolStatus::Ok, "{name}: event {}", event.seq);
            }
        }
    });
}

#[test]
fn arg_is_at_most_40_characters() {
    everywhere(|name, events| {
        for event in events {
            if let Body::ToolUse(call) = &event.body {
                assert!(call.arg.chars().count() <= 40, "{name}: {}", call.arg);
            }
        }
    });
}

#[test]
fn sub_agents_have_a_depth() {
    everywhere(|name, events| {
        for event in events {
            if let Some(agent) = &event.agent {
                assert!(agent.depth >= 1, "{name}: event {}", event.seq);
            }
        }
    });
}

#[test]
fn an_edit_names_its_file_and_signs_its_lines() {
    everywhere(|name, events| {
        for event in events {
            let edits = match &event.body {
                Body::Edit(edits) => &edits.edits,
                Body::ToolResult(result) => &result.edits,
                _ => continue,
            };
            for edit in edits {
                assert!(!edit.path.is_empty(), "{name}: event {}", event.seq);
                for line in edit.hunks.iter().flat_map(|hunk| &hunk.lines) {
                    assert!(line.starts_with([' ', '+', '-']), "{name}: {line:?}");
                    assert!(!line.contains('\n'), "{name}: {line:?}");
                }
            }
        }
    });
}

#[test]
fn an_unknown_frame_keeps_its_raw_form() {
    everywhere(|name, events| {
        for event in events {
            if let Body::Unknown(unknown) = &event.body {
                assert_eq!(
                    event.raw.as_deref(),
                    Some(&*unknown.text.as_str()),
                    "{name}"
                );
            }
        }
    });
}

#[test]
fn no_event_follows_the_last_turn_end_of_a_finished_stream() {
    everywhere(|name, events| {
        let last_end = events
            .iter()
            .rposition(|event| matches!(event.body, Body::TurnEnd(_)));
        let Some(last_end) = last_end else { return };
        // A session loaded later has no turn, and a sub-agent may outlive the
        // turn that started it.
        let loads = |event: &&Event| match &event.body {
            Body::Session(session) => !session.cwd.is_empty(),
            _ => false,
        };
        let rest = events[last_end + 1..].iter();
        for event in rest.take_while(|event| !loads(event)) {
            assert!(
                event.agent.is_some() || !matches!(event.body, Body::ToolUse(_) | Body::User(_)),
                "{name}: event {} follows the last turn_end",
                event.seq
            );
        }
    });
}
