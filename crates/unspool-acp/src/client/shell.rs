//! Commands that the person types after `!`: run in a terminal of ours, and
//! shown as a call like those of agents.

use unspool::event::{Category, RawJson, ToolOutput, ToolResult, ToolStatus, ToolUse};
use unspool::tool;

use super::Client;
use crate::terminals::{Output, TerminalCommand};

/// A command of the person that runs.
#[derive(Default)]
pub(super) struct Shell {
    /// The beginning of a character whose rest has not come yet.
    cut: Vec<u8>,
}

impl Client {
    /// Runs a command line for the person, in the root. The id names it in the
    /// events that tell of it. Fails when there is no terminal for it.
    pub fn run_shell(&mut self, command: &str) -> std::io::Result<String> {
        self.services.last += 1;
        let id = format!("unspool-shell-{}", self.services.last);
        let run = TerminalCommand {
            command: command.to_owned(),
            cwd: self.services.files.root().to_owned(),
            ..TerminalCommand::default()
        };
        self.services.terminals.start(&id, &run)?;
        self.services.shells.insert(id.clone(), Shell::default());
        self.show_command(&id, "shell", command);
        Ok(id)
    }

    /// The person's commands that run, oldest first.
    pub fn running_shells(&self) -> impl Iterator<Item = &str> {
        self.services.shells.keys().map(String::as_str)
    }

    /// Whether a command of the agent runs that no call of its own shows.
    pub fn has_unattached_terminal(&self) -> bool {
        self.services.runs_card()
    }

    /// Stops a command of the person.
    pub fn stop_shell(&mut self, id: &str) {
        if self.services.shells.contains_key(id) {
            self.services.terminals.kill(id);
        }
    }

    /// Types into a command of the person.
    pub fn write_to_shell(&mut self, id: &str, bytes: &[u8]) {
        if self.services.shells.contains_key(id) {
            // One that is over does not read.
            let _ = self.services.terminals.write(id, bytes);
        }
    }

    /// The size of all terminals, rows first.
    pub fn resize_terminals(&mut self, rows: u16, columns: u16) {
        self.services.terminals.resize(rows, columns);
    }

    pub(super) fn shell_said(&mut self, id: &str) {
        let bytes = self.services.terminals.take_new(id);
        let Some(shell) = self.services.shells.get_mut(id) else {
            return;
        };
        let text = whole(&mut shell.cut, bytes);
        self.show_command_output(id, text);
    }

    pub(super) fn show_command_output(&mut self, id: &str, text: String) {
        if !text.is_empty() {
            self.journal.say(ToolOutput::new(id, text));
        }
    }

    pub(super) fn shell_ended(&mut self, id: &str) {
        self.shell_said(id);
        if self.services.shells.remove(id).is_none() {
            return;
        }
        let output = self.services.terminals.output(id).unwrap_or_default();
        let ran = self.services.terminals.exit(id).map(|(_, ran)| ran);
        self.services.terminals.release(id);
        let duration = ran.and_then(|ran| u64::try_from(ran.as_millis()).ok());
        self.show_command_end(id, "shell", output, duration);
    }

    pub(super) fn end_shells(&mut self) {
        let ids: Vec<String> = self.services.shells.keys().cloned().collect();
        for id in ids {
            self.services.terminals.kill_now(&id);
            self.shell_ended(&id);
        }
    }

    pub(super) fn show_command(&mut self, id: &str, name: &str, command: &str) {
        let input = serde_json::json!({"command": command}).to_string();
        let call = ToolUse::new(id, name)
            .with_category(Category::Execute)
            .with_arg(tool::preview(command))
            .with_input(RawJson::new(&input))
            .with_title(tool::label(command));
        self.journal.say(call);
    }

    pub(super) fn show_command_end(
        &mut self,
        id: &str,
        name: &str,
        output: Output,
        duration_ms: Option<u64>,
    ) {
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
            .with_duration_ms(duration_ms);
        self.journal.say(result);
    }
}

/// The characters that are complete; the beginning of one that is not stays.
pub(super) fn whole(cut: &mut Vec<u8>, bytes: Vec<u8>) -> String {
    cut.extend(bytes);
    let complete = match std::str::from_utf8(cut) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => cut.len(),
    };
    let rest = cut.split_off(complete);
    let whole = std::mem::replace(cut, rest);
    String::from_utf8_lossy(&whole).into_owned()
}
