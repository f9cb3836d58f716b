//! Commands that the user types after `!`. They run in a terminal and are shown as
//! tool calls.

use std::io;

use unspool::event::{Category, RawJson, ToolOutput, ToolResult, ToolStatus, ToolUse};
use unspool::tool;

use super::Client;
use crate::terminals::TerminalCommand;

/// A running command of the user.
#[derive(Default)]
pub(super) struct Shell {
    /// The start of a character whose other bytes have not arrived yet.
    partial: Vec<u8>,
}

impl Client {
    /// Runs a command line of the user in the root. Returns the id of its events.
    /// Fails when no terminal can be opened.
    pub fn run_shell(&mut self, line: &str) -> io::Result<String> {
        self.last_terminal += 1;
        let id = format!("unspool-shell-{}", self.last_terminal);
        let command = TerminalCommand {
            command: line.to_owned(),
            cwd: self.files.root().to_owned(),
            ..TerminalCommand::default()
        };
        self.terminals.start(&id, &command)?;
        self.shells.insert(id.clone(), Shell::default());
        self.show_command(&id, "shell", line);
        Ok(id)
    }

    /// Returns the ids of the user's running commands, oldest first.
    pub fn running_shells(&self) -> impl Iterator<Item = &str> {
        self.shells.keys().map(String::as_str)
    }

    /// Stops a command of the user.
    pub fn stop_shell(&mut self, id: &str) {
        if self.shells.contains_key(id) {
            self.terminals.kill(id);
        }
    }

    /// Writes to the terminal of a command of the user.
    pub fn write_to_shell(&mut self, id: &str, bytes: &[u8]) {
        if self.shells.contains_key(id) {
            // Fails once the command has ended.
            let _ = self.terminals.write(id, bytes);
        }
    }

    /// Sets the size of all terminals.
    pub fn resize_terminals(&mut self, rows: u16, columns: u16) {
        self.terminals.resize(rows, columns);
    }

    pub(super) fn show_shell_output(&mut self, id: &str) {
        let bytes = self.terminals.take_new(id);
        let Some(shell) = self.shells.get_mut(id) else {
            return;
        };
        let text = take_complete(&mut shell.partial, bytes);
        self.show_command_output(id, text);
    }

    pub(super) fn finish_shell(&mut self, id: &str) {
        self.show_shell_output(id);
        if self.shells.remove(id).is_none() {
            return;
        }
        self.show_command_end(id, "shell");
        self.terminals.release(id);
    }

    pub(super) fn end_shells(&mut self) {
        let ids: Vec<String> = self.shells.keys().cloned().collect();
        for id in ids {
            self.terminals.kill_now(&id);
            self.finish_shell(&id);
        }
    }

    pub(super) fn show_command(&mut self, id: &str, name: &str, line: &str) {
        let input = serde_json::json!({"command": line}).to_string();
        let call = ToolUse::new(id, name)
            .with_category(Category::Execute)
            .with_arg(tool::preview(line))
            .with_input(RawJson::new(&input))
            .with_title(tool::label(line));
        self.journal.add(call);
    }

    pub(super) fn show_command_output(&mut self, id: &str, text: String) {
        if !text.is_empty() {
            self.journal.add(ToolOutput::new(id, text));
        }
    }

    pub(super) fn show_command_end(&mut self, id: &str, name: &str) {
        let output = self.terminals.output(id).unwrap_or_default();
        let ran = self.terminals.exit(id).map(|(_, ran)| ran);
        let exit = output.exit.unwrap_or_default();
        let status = match (exit.code, exit.signal) {
            (Some(0), _) => ToolStatus::Ok,
            (_, Some(_)) => ToolStatus::Canceled,
            _ => ToolStatus::Error,
        };
        let result = ToolResult::new(id, status)
            .with_name(name)
            .with_output(output.text)
            .with_exit_code(exit.code.map(i64::from))
            .with_duration_ms(ran.and_then(|ran| u64::try_from(ran.as_millis()).ok()));
        self.journal.add(result);
    }
}

/// Returns the complete characters of `partial` and `bytes`, and leaves the start of
/// an incomplete one in `partial`.
pub(super) fn take_complete(partial: &mut Vec<u8>, bytes: Vec<u8>) -> String {
    partial.extend(bytes);
    let complete = match std::str::from_utf8(partial) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => partial.len(),
    };
    let rest = partial.split_off(complete);
    let complete = std::mem::replace(partial, rest);
    String::from_utf8_lossy(&complete).into_owned()
}
