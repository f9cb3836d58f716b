//! The changes that a client reports to its app.

use agent_client_protocol_schema::v1 as schema;
use unspool::Event;

use super::QuestionId;
use crate::agent_state::{Phase, SavedSession};
use crate::files::WrittenFile;
use crate::permission::Action;
use crate::process::Exit;

/// A change since the last update.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Update {
    /// An event to show.
    Event(Event),
    /// The phase changed.
    Phase(Phase),
    /// [`Client::state`](super::Client::state) or
    /// [`Client::queue`](super::Client::queue) changed.
    StateChanged,
    /// A question was added to [`Client::questions`](super::Client::questions), or
    /// replaced there.
    QuestionAdded(QuestionId),
    /// A question was answered or withdrawn.
    QuestionClosed(QuestionId),
    /// A rule answered a permission request.
    AnsweredByRule {
        /// The title of the request.
        title: String,
        /// The answer.
        action: Action,
        /// The rule's position in the list, counted from 1.
        rule: usize,
    },
    /// The agent wrote a file through the client.
    FileWritten(WrittenFile),
    /// The answer to [`Client::list_sessions`](super::Client::list_sessions), and
    /// the cursor of the next page.
    Sessions(Vec<SavedSession>, Option<String>),
    /// A request failed.
    Failed {
        /// The protocol's method, or `record` for the recording.
        what: String,
        /// The reason.
        message: String,
    },
    /// The agent printed a line that is not a protocol message.
    InvalidLine(String),
    /// The agent's process ended.
    Ended {
        /// Its exit status.
        exit: Exit,
        /// The end of its standard error.
        stderr: String,
    },
}

/// A prompt that waits for the current turn to end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueuedPrompt {
    /// Identifies it.
    pub id: u64,
    /// Its content.
    pub blocks: Vec<schema::ContentBlock>,
}
