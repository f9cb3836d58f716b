//! Tests the modes `text` and `verbose`: golden files in `tests/answers` for
//! some recordings of every provider, and a second computation of the answers
//! of all live recordings of five providers, directly from the wire's fields.

use std::path::{Path, PathBuf};

use serde_json::Value;
use unspool::Event;
use unspool::answer::Answer;

use crate::files::{self, Recording};

/// For each provider: the parity run, one with errors, one with deltas if the
/// wire has them, a saved session, and special cases.
const GOLDEN: &[&str] = &[
    "claude/parity/parity.live.jsonl",
    "claude/errors/errors.live.jsonl",
    "claude/partial/partial.live.jsonl",
    "claude/nested/901b0aa6-3b24-44b2-a68b-face226a784d.jsonl",
    "claude/apierror-midturn/apierror-midturn.live.jsonl",
    "codex/parity/parity.live.jsonl",
    "codex/errors/errors.live.jsonl",
    "codex/appserver-parity/parity.appserver.jsonl",
    "codex/plan/plan.session.jsonl",
    "gemini/parity/parity.live.jsonl",
    "gemini/errors/errors.live.jsonl",
    "gemini/thinking/thinking.live.jsonl",
    "gemini/plan/plan.session/project/chats/session-2026-11-15T18-17-89ea56c8.jsonl",
    "qwen/parity/parity.live.jsonl",
    "qwen/errors/errors.live.jsonl",
    "qwen/partial/partial.live.jsonl",
    "qwen/plan/plan.session/projects/-home-user-project/chats/dd22f913-372f-4732-bd7e-b8572e3c363a.jsonl",
    "opencode/parity/parity.live.jsonl",
    "opencode/errors/errors.live.jsonl",
    "opencode/partial/partial.sse.txt",
    "opencode/parity/parity.session/export.json",
    "openai/chat-parity/chat-parity.messages.json",
    "openai/chat-stream-error/chat-stream-error.sse.txt",
    "openai/chat-parallel/chat-parallel.sse.txt",
    "openai/resp-parity/resp-parity.input.json",
    "acp/claude/parity.acp.jsonl",
    "acp/opencode/errors.acp.stdout.jsonl",
    "acp/gemini/thinking.acp.jsonl",
    "acp/codex/load.2.acp.jsonl",
    "aider/ce-agent-parity/ce-agent-parity.txt",
    "aider/ce-agent-errors/ce-agent-errors.txt",
    "aider/ce-agent-pty-pretty/ce-agent-pty-pretty.txt",
    "aider/ce-agent-message/ce-agent-message.session.md",
    "codalotl/parity/parity.live.jsonl",
    "codalotl/errors/errors.live.jsonl",
    "codalotl/interrupted/interrupted.live.jsonl",
    "codalotl/subagent/subagent.live.jsonl",
];

fn written(mut answer: Answer, events: &[Event]) -> String {
    let mut out = Vec::new();
    for event in events {
        answer.event(event, &mut out).unwrap();
    }
    answer.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/answers")
}

#[test]
fn text_and_verbose_of_every_provider() {
    for name in GOLDEN {
        let found = files::all_events()
            .iter()
            .find(|(recording, _)| recording.name == *name);
        let (recording, events) = found.unwrap_or_else(|| panic!("{name} is not in the corpus"));
        let text = written(Answer::text(), events);
        let verbose = written(Answer::verbose(), events);
        let content = format!("=== {name}, text\n{text}=== verbose\n{verbose}=== end");
        let case = name.split('/').skip(1).take(1).collect::<String>();
        let file = recording.path.file_name().unwrap().to_str().unwrap();
        insta::with_settings!({
            snapshot_path => folder().join(&recording.provider),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(format!("{case}.{file}"), content);
        });
    }
}

#[test]
fn every_provider_has_golden_answers() {
    let mut providers: Vec<&str> = files::recordings()
        .iter()
        .map(|recording| recording.provider.as_str())
        .collect();
    providers.dedup();
    for provider in providers {
        let cases = GOLDEN
            .iter()
            .filter(|name| name.starts_with(&format!("{provider}/")));
        assert!(cases.count() >= 1, "add recordings of {provider} to GOLDEN");
    }
}

/// The answers on the wire, each followed by a newline.
struct Wire {
    provider: &'static str,
    /// The suffix of its live recordings' names.
    endings: &'static [&'static str],
    answers: fn(&Path) -> String,
    /// Recordings whose answer is in other fields.
    except: &'static [&'static str],
    /// Minimum number of recordings.
    least: usize,
}

const WIRES: &[Wire] = &[
    Wire {
        provider: "claude",
        endings: &[".live.jsonl"],
        answers: claude,
        except: &[
            // Truncated before its message was complete.
            "interrupted-partial",
            // The answer is in the field of the result.
            "structured",
        ],
        least: 35,
    },
    Wire {
        provider: "codex",
        endings: &[".live.jsonl"],
        answers: codex,
        except: &[],
        least: 55,
    },
    Wire {
        provider: "gemini",
        endings: &[".live.jsonl"],
        answers: gemini,
        except: &[],
        least: 20,
    },
    Wire {
        provider: "opencode",
        endings: &[".live.jsonl"],
        answers: opencode,
        except: &[],
        least: 30,
    },
    Wire {
        provider: "openai",
        endings: &[".response.json", ".sse.txt"],
        answers: openai,
        except: &[],
        least: 80,
    },
];

#[test]
fn text_mode_equals_the_answers_on_the_wire() {
    for wire in WIRES {
        let is_live = |recording: &Recording| {
            let case = recording.name.split('/').nth(1).unwrap();
            recording.provider == wire.provider
                && !wire.except.contains(&case)
                && wire
                    .endings
                    .iter()
                    .any(|ending| recording.name.ends_with(ending))
        };
        let mut compared = 0;
        for (recording, events) in files::all_events() {
            if is_live(recording) {
                let text = written(Answer::text(), events);
                assert_eq!(text, (wire.answers)(&recording.path), "{}", recording.name);
                compared += 1;
            }
        }
        assert!(compared >= wire.least, "{}: {compared}", wire.provider);
    }
}

/// Returns the lines of a file that are JSON.
fn lines(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

fn claude(path: &Path) -> String {
    let mut answers = String::new();
    for line in lines(path) {
        let message = &line["message"];
        // Error messages of the agent itself are notices.
        let is_answer = line["type"] == "assistant"
            && line["parent_tool_use_id"].is_null()
            && line["is_api_error_message"] != true;
        for block in message["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|_| is_answer)
        {
            if let (Some("text"), Some(text)) = (block["type"].as_str(), block["text"].as_str()) {
                answers += text;
                answers += "\n";
            }
        }
    }
    answers
}

fn codex(path: &Path) -> String {
    let mut answers = String::new();
    for line in lines(path) {
        let item = &line["item"];
        let text = if line["type"] == "item.completed" && item["type"] == "agent_message" {
            item["text"].as_str()
        } else if line["msg"]["type"] == "agent_message" {
            // Codex 0.36.
            line["msg"]["message"].as_str()
        } else {
            None
        };
        if let Some(text) = text {
            answers += text;
            answers += "\n";
        }
    }
    answers
}

/// Messages arrive as deltas without an id; a call, a result or a prompt ends
/// one.
fn gemini(path: &Path) -> String {
    let mut answers = String::new();
    let mut is_open = false;
    for line in lines(path) {
        if line["type"] == "message" && line["role"] == "assistant" {
            answers += line["content"].as_str().unwrap();
            is_open = true;
        } else if is_open
            && matches!(
                line["type"].as_str(),
                Some("tool_use" | "result" | "message")
            )
        {
            answers += "\n";
            is_open = false;
        }
    }
    if is_open {
        answers += "\n";
    }
    answers
}

fn opencode(path: &Path) -> String {
    let mut answers = String::new();
    for line in lines(path) {
        // Synthetic parts are prompts that the agent generates.
        if line["type"] == "text" && line["part"]["synthetic"] != true {
            answers += line["part"]["text"].as_str().unwrap();
            answers += "\n";
        }
    }
    answers
}

fn openai(path: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut add = |id: String, text: &Value| {
        let Some(text) = text.as_str().filter(|text| !text.is_empty()) else {
            return;
        };
        match blocks.iter_mut().find(|(other, _)| *other == id) {
            Some((_, block)) => block.push_str(text),
            None => blocks.push((id, text.to_owned())),
        }
    };
    let frames: Vec<Value> = match serde_json::from_str(&text) {
        Ok(body) => vec![body],
        Err(_) => text
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
            .collect(),
    };
    for frame in frames {
        for choice in frame["choices"].as_array().into_iter().flatten() {
            for message in [&choice["message"], &choice["delta"]] {
                add(format!("choice {}", choice["index"]), &message["content"]);
                add(format!("choice {}", choice["index"]), &message["refusal"]);
            }
        }
        for (output, item) in frame["output"].as_array().into_iter().flatten().enumerate() {
            for (content, block) in item["content"].as_array().into_iter().flatten().enumerate() {
                let id = format!("item {output} {content}");
                match block["type"].as_str() {
                    Some("output_text") => add(id, &block["text"]),
                    Some("refusal") => add(id, &block["refusal"]),
                    _ => {}
                }
            }
        }
        if let Some("response.output_text.delta" | "response.refusal.delta") =
            frame["type"].as_str()
        {
            let id = format!("item {} {}", frame["output_index"], frame["content_index"]);
            add(id, &frame["delta"]);
        }
    }
    // Several choices stream at once, but are yielded one after the other.
    blocks.sort_by(|(a, _), (b, _)| a.cmp(b));
    blocks.into_iter().map(|(_, block)| block + "\n").collect()
}
