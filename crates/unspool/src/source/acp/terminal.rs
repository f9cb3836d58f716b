//! Terminals of the client (`terminal/*`), of an adapter (in `_meta`), and of the
//! agent (in the draft of protocol 2).

use base64::Engine as _;

use crate::json::{Json, Object};
use crate::recent::RecentMap;

/// Maximum number of terminals.
const KEPT: usize = 256;

/// The output of a command.
#[derive(Clone, Default)]
pub(super) struct Terminal {
    output: Vec<u8>,
    /// Bytes of `output` that were emitted while the command ran.
    shown: usize,
    pub(super) exit_code: Option<i64>,
    pub(super) exited: bool,
}

impl Terminal {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }

    /// Replaces the whole output.
    pub(super) fn replace(&mut self, bytes: Vec<u8>) {
        if !bytes.starts_with(self.output.get(..self.shown).unwrap_or_default()) {
            // Its start was dropped, so the addition is unknown.
            self.shown = bytes.len();
        }
        self.output = bytes;
    }

    /// Reads an exit status in any spelling.
    pub(super) fn exit(&mut self, status: Json<'_>) {
        if !status.is_object() {
            return;
        }
        let fields = status.object();
        self.exited = true;
        self.exit_code = fields
            .get("exit_code")
            .i64()
            .or_else(|| fields.get("exitCode").i64());
    }

    /// Returns the output since the last call, without an incomplete character.
    pub(super) fn take_new(&mut self) -> String {
        let new = self.output.get(self.shown..).unwrap_or_default();
        let complete = match std::str::from_utf8(new) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => new.len(),
        };
        self.shown += complete;
        String::from_utf8_lossy(new.get(..complete).unwrap_or_default()).into_owned()
    }
}

pub(super) type Terminals = RecentMap<String, Terminal, KEPT>;

/// Decodes the draft's base64 `data`.
pub(super) fn decode(data: Json<'_>) -> Vec<u8> {
    let text = data.str().unwrap_or_default();
    base64::engine::general_purpose::STANDARD
        .decode(text.trim().as_bytes())
        .unwrap_or_default()
}

/// Returns the terminal in a tool call's content.
pub(super) fn shown_in(content: Json<'_>) -> Option<String> {
    content
        .array()
        .into_iter()
        .map(Json::object)
        .find(|block: &Object<'_>| block.get("type").str().as_deref() == Some("terminal"))
        .and_then(|block| block.get("terminalId").str())
        .map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_characters_wait_for_the_rest() {
        let mut terminal = Terminal::default();
        terminal.append(b"a\xc3");
        assert_eq!(terminal.take_new(), "a");
        terminal.append(b"\xa9b");
        assert_eq!(terminal.take_new(), "\u{e9}b");
        assert_eq!(terminal.text(), "a\u{e9}b");
    }

    #[test]
    fn additions_to_a_whole_output() {
        let mut terminal = Terminal::default();
        terminal.replace(b"one\n".to_vec());
        assert_eq!(terminal.take_new(), "one\n");
        terminal.replace(b"one\ntwo\n".to_vec());
        assert_eq!(terminal.take_new(), "two\n");
        terminal.replace(b"wo\nthree\n".to_vec());
        assert_eq!(terminal.take_new(), "");
        assert_eq!(terminal.text(), "wo\nthree\n");
    }
}
