//! `unspool demo`: shows a recorded run that is built into the program.

use unspool_sessions::input::Input;

use crate::cli::Demo;
use crate::commands::show;
use crate::status::Status;

/// A saved session of Claude Code.
const SESSION: &[u8] = include_bytes!("demo/session.jsonl");
/// The records of its sub-agent.
const SUB_AGENT: [(&str, &[u8]); 2] = [
    ("agent-1.jsonl", include_bytes!("demo/agent.jsonl")),
    ("agent-1.meta.json", include_bytes!("demo/agent.meta.json")),
];

pub(crate) fn run(arguments: &Demo) -> anyhow::Result<Status> {
    let records = SUB_AGENT.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    let input = Input::new("the recorded run".to_owned(), SESSION).with_attachments(records.into());
    show::recording(&arguments.look, arguments.speed, input)
}
