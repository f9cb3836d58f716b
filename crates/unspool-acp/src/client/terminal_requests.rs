//! The agent's requests to run commands in terminals.
//!
//! As with files, a grant of this turn or a rule lets a command pass without a
//! question (`grants.rs`). How its output is shown is up to `terminal_cards.rs`.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as schema;
use serde_json::Value;
use unspool::tool;

use super::questions::{DeferredRequest, invalid_params};
use super::terminal_cards::AgentTerminal;
use super::tool_calls::join_command;
use super::{Client, ToolCall};
use crate::permission::{Action, Operation};
use crate::process::Exit;
use crate::terminals::{TerminalCommand, TerminalEvent, signal_name};
use crate::wire::{items, text};

/// Maximum number of open terminals.
pub(super) const MAX_TERMINALS: usize = 64;
/// Maximum number of requests that wait for a command to end.
const MAX_WAITING: usize = 256;

impl Client {
    pub(super) fn handle_terminal_request(
        &mut self,
        request: &Value,
        method: &str,
        params: &Value,
    ) {
        if method == "terminal/create" {
            self.request_terminal(request, params);
            return;
        }
        let id = text(params, "terminalId");
        if !self.agent_terminals.open.contains_key(&id) {
            let error = schema::Error::resource_not_found(Some(id));
            self.refuse(request, &error);
            return;
        }
        match method {
            "terminal/output" => {
                let output = self.terminals.output(&id).unwrap_or_default();
                let status = output.exit.as_ref().map(exit_status);
                let response =
                    schema::TerminalOutputResponse::new(output.text, output.is_truncated)
                        .exit_status(status);
                self.reply(request, &response);
            }
            "terminal/wait_for_exit" => {
                let waiting = &mut self.agent_terminals.waiting;
                if waiting.len() >= MAX_WAITING {
                    self.refuse(request, &schema::Error::internal_error());
                    return;
                }
                waiting.push((request.clone(), id.clone()));
                self.answer_waiting(&id);
            }
            "terminal/kill" => {
                self.terminals.kill(&id);
                self.reply(request, &schema::KillTerminalResponse::new());
            }
            "terminal/release" => {
                self.release_terminal(&id);
                self.reply(request, &schema::ReleaseTerminalResponse::new());
            }
            _ => self.refuse(request, &schema::Error::method_not_found()),
        }
    }

    fn request_terminal(&mut self, request: &Value, params: &Value) {
        // A request that cannot succeed is not put to the user.
        let Some(command) = self.checked_command(request, params) else {
            return;
        };
        let line = full_line(&command);
        let judge = |line: String| {
            self.config.rules.judge(&Operation {
                tool: "terminal/create".to_owned(),
                kind: "execute".to_owned(),
                command: Some(line),
                ..Operation::default()
            })
        };
        // Variables before a denied command don't make it allowed.
        let verdict = match judge(bare_line(&command)) {
            denied if denied.action == Action::Deny => denied,
            _ => judge(line.clone()),
        };
        if self.refuse_if_denied(request, &verdict, &line) {
            return;
        }
        if let (Action::Allow, Some(rule)) = (verdict.action, verdict.rule) {
            self.report_rule(line.clone(), Action::Allow, rule);
        }
        let needs_grant = verdict.action == Action::Ask && !self.grants.all_commands;
        if needs_grant && !self.grants.take_command(&command, &line, &self.files) {
            let call = ToolCall {
                name: "terminal/create".to_owned(),
                kind: "execute".to_owned(),
                title: line.clone(),
                command: Some(line),
                is_command_given: true,
                remarks: self.folder_remark(&command),
                ..ToolCall::default()
            };
            let deferred = DeferredRequest {
                method: "terminal/create".to_owned(),
                params: params.clone(),
            };
            self.ask_before(request, deferred, call);
            return;
        }
        self.create_terminal(request, params);
    }

    /// Reads the command of a request. Refuses the request if it is invalid.
    fn checked_command(&mut self, request: &Value, params: &Value) -> Option<TerminalCommand> {
        let mut command = read_command(params);
        if command.command.is_empty() {
            self.refuse(request, &invalid_params("command is missing"));
            return None;
        }
        // An invalid name could look like part of the command.
        if !items(params, "env").iter().all(has_valid_name) {
            self.refuse(request, &invalid_params("env has an invalid name"));
            return None;
        }
        let cwd = text(params, "cwd");
        let folder = if cwd.is_empty() {
            Ok(self.files.root().to_owned())
        } else {
            self.files.folder(Path::new(&cwd))
        };
        match folder {
            Ok(folder) => command.cwd = folder,
            Err(error) => {
                self.refuse_file(request, Path::new(&cwd), &error);
                return None;
            }
        }
        Some(command)
    }

    /// Returns a remark on the folder of a command that does not run in the root.
    fn folder_remark(&self, command: &TerminalCommand) -> Vec<String> {
        if command.cwd == self.files.root() {
            return Vec::new();
        }
        vec![format!("cwd: {}", command.cwd.display())]
    }

    pub(super) fn create_terminal(&mut self, request: &Value, params: &Value) {
        let Some(command) = self.checked_command(request, params) else {
            return;
        };
        if self.agent_terminals.open.len() >= MAX_TERMINALS {
            let error = schema::Error::new(-32603, "too many terminals are open");
            self.refuse(request, &error);
            return;
        }
        self.last_terminal += 1;
        let id = format!("terminal-{}", self.last_terminal);
        let terminal = AgentTerminal::new(text(params, "sessionId"), full_line(&command));
        match self.terminals.start(&id, &command) {
            Ok(()) => {
                self.agent_terminals.open.insert(id.clone(), terminal);
                self.reply(request, &schema::CreateTerminalResponse::new(id));
            }
            Err(error) => {
                let error = schema::Error::new(-32603, format!("{}: {error}", command.command));
                self.refuse(request, &error);
            }
        }
    }

    pub(super) fn handle_terminal_event(&mut self, event: TerminalEvent) {
        match event {
            TerminalEvent::Output(id) if self.agent_terminals.open.contains_key(&id) => {
                self.show_terminal_output(&id);
            }
            TerminalEvent::Exited(id) if self.agent_terminals.open.contains_key(&id) => {
                self.show_terminal_output(&id);
                let exit = self.terminals.exit(&id);
                let code = exit.and_then(|(exit, _)| exit.code);
                if let Some(terminal) = self.agent_terminals.open.get(&id) {
                    self.journal.terminal_exited(&terminal.session, &id, code);
                }
                self.answer_waiting(&id);
            }
            TerminalEvent::Output(id) => self.show_shell_output(&id),
            TerminalEvent::Exited(id) => self.finish_shell(&id),
        }
    }

    /// Replies to the requests that wait for a command, if it has ended.
    fn answer_waiting(&mut self, id: &str) {
        let Some((exit, _)) = self.terminals.exit(id) else {
            return;
        };
        let waiting = &mut self.agent_terminals.waiting;
        let ready: Vec<(Value, String)> = waiting
            .extract_if(.., |(_, terminal)| terminal == id)
            .collect();
        for (request, _) in ready {
            let response = schema::WaitForTerminalExitResponse::new(exit_status(&exit));
            self.reply(&request, &response);
        }
    }

    fn release_terminal(&mut self, id: &str) {
        self.show_terminal_output(id);
        self.terminals.kill_now(id);
        self.answer_waiting(id);
        // Without a card, a command that no call shows would stay invisible.
        self.show_card(id);
        self.end_card(id);
        self.agent_terminals.open.remove(id);
        self.terminals.release(id);
    }

    /// Ends all commands of the agent, once the agent is gone.
    pub(super) fn release_all_terminals(&mut self) {
        let ids: Vec<String> = self.agent_terminals.open.keys().cloned().collect();
        for id in ids {
            self.terminals.kill_now(&id);
            self.end_card(&id);
            self.terminals.release(&id);
        }
        self.agent_terminals.open.clear();
        self.agent_terminals.waiting.clear();
        self.grants.end_turn();
    }
}

fn has_valid_name(variable: &Value) -> bool {
    let name = text(variable, "name");
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_letter) && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// Reads a command, without its folder.
fn read_command(params: &Value) -> TerminalCommand {
    let strings = |key| items(params, key).iter().filter_map(Value::as_str);
    let env = items(params, "env").iter();
    TerminalCommand {
        command: text(params, "command"),
        args: strings("args").map(str::to_owned).collect(),
        env: env
            .map(|variable| (text(variable, "name"), text(variable, "value")))
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        cwd: PathBuf::new(),
        limit: params.get("outputByteLimit").and_then(Value::as_u64),
    }
}

/// Returns a command without its variables, as one shell line.
fn bare_line(command: &TerminalCommand) -> String {
    if command.args.is_empty() {
        return tool::unwrap_shell(&command.command).into_owned();
    }
    let argv: Vec<String> = argv(command).map(str::to_owned).collect();
    join_command(&argv)
}

fn argv(command: &TerminalCommand) -> impl Iterator<Item = &str> {
    let args = command.args.iter().map(String::as_str);
    std::iter::once(command.command.as_str()).chain(args)
}

/// Returns a command as one shell line. Variables can change which program runs,
/// so with them nothing of the line is simplified.
fn full_line(command: &TerminalCommand) -> String {
    if command.env.is_empty() {
        return bare_line(command);
    }
    let quoted = |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_owned(), Into::into);
    let variables = command.env.iter().map(|(name, value)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        format!("{name}={}", quoted(&value))
    });
    let mut line: Vec<String> = variables.collect();
    match &*command.args {
        [] => line.push(command.command.clone()),
        _ => line.extend(argv(command).map(quoted)),
    }
    line.join(" ")
}

fn exit_status(exit: &Exit) -> schema::TerminalExitStatus {
    let code = exit.code.and_then(|code| u32::try_from(code).ok());
    schema::TerminalExitStatus::new()
        .exit_code(code)
        .signal(exit.signal.map(signal_name))
}
