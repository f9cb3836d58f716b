//! What an agent may ask its client to do: files and terminals.
//!
//! Files are read and written inside the root alone (`files.rs`). Agents ask
//! for permission themselves before they come here, so that nobody is asked
//! twice for the same change or command; rules hold all the same. A rule that says `deny` is obeyed, one that
//! says `ask` is asked for what was not allowed in this turn, and so is writing
//! below `.git`, from where programs are run.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_client_protocol_schema::v1 as schema;
use serde_json::Value;
use unspool::event::Level;
use unspool::{patch, tool};

use super::asks::{Held, unreadable};
use super::calls::of_words;
use super::changes::{self, ProposedChange};
use super::shell::{Shell, whole};
use super::{Client, ToolCall, Update};
use crate::files::{FileError, Files};
use crate::permission::{Action, Operation, Verdict};
use crate::terminals::{TerminalCommand, TerminalEvent, Terminals, signal_name};
use crate::wire::{Message, items, text};

/// Terminals that may be open at once.
const TERMINALS: usize = 64;
/// Bytes of one terminal's output that are shown as they come.
const SHOWN: usize = 1 << 20;
/// How long an agent may take to put a terminal into a call of its own.
const GRACE: Duration = Duration::from_millis(60);
/// The same while it has a call that may be about to show it.
pub(super) const LONG_GRACE: Duration = Duration::from_secs(2);
/// The same once the command has ended.
const AFTERWARDS: Duration = Duration::from_secs(1);
/// Answers that may wait for the end of commands.
const WAITING: usize = 256;

pub(super) struct Services {
    pub(super) files: Files,
    pub(super) terminals: Terminals,
    /// The agent's terminals.
    owned: BTreeMap<String, Owned>,
    /// The person's.
    pub(super) shells: BTreeMap<String, Shell>,
    /// Terminals that calls of our own showed to their ends, the last of them.
    told: VecDeque<String>,
    /// Requests that wait for the end of a terminal's command.
    waiting: Vec<(Value, String)>,
    pub(super) last: u64,
    granted_paths: Vec<String>,
    /// By where they lead.
    granted_changes: Vec<(String, ProposedChange)>,
    granted_commands: Vec<String>,
    /// What the person allowed until they leave: files to be written, commands
    /// to be run.
    writes_freely: bool,
    runs_freely: bool,
}

struct Owned {
    session: String,
    command: String,
    since: Instant,
    /// Bytes that were shown.
    shown: usize,
    /// A call of the agent shows it.
    is_embedded: bool,
    /// A call of our own shows it, since no call of the agent did.
    card: Card,
    /// The agent's call that its output is shown in, if that is [`Card::Lent`].
    lent_to: String,
    /// The beginning of a character whose rest has not come yet.
    cut: Vec<u8>,
}

/// What our own call shows of a terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Card {
    No,
    Runs,
    Ended,
    /// A call of the agent took its place.
    Taken,
    /// There is none: the agent has a call for the same command, which shows the
    /// output though the agent did not say so.
    Lent,
}

impl Services {
    pub(super) fn new(files: Files, terminals: Terminals) -> Self {
        Self {
            files,
            terminals,
            owned: BTreeMap::new(),
            shells: BTreeMap::new(),
            told: VecDeque::new(),
            waiting: Vec::new(),
            last: 0,
            granted_paths: Vec::new(),
            granted_changes: Vec::new(),
            granted_commands: Vec::new(),
            writes_freely: false,
            runs_freely: false,
        }
    }

    /// Where paths lead, below the root; `None` for those outside.
    pub(super) fn places(&self, paths: &[PathBuf]) -> Vec<Option<String>> {
        paths.iter().map(|path| self.place(path)).collect()
    }

    fn place(&self, path: &Path) -> Option<String> {
        let place = self.files.resolve(path).ok()?;
        Some(place.to_string_lossy().into_owned())
    }

    /// A rule allowed a call: what it says to be, and nothing beside that.
    pub(super) fn grant_by_rule(&mut self, call: &ToolCall) {
        let is = |kind: &str| call.kind == kind;
        self.grant(&ToolCall {
            changes: call
                .changes
                .clone()
                .into_iter()
                .filter(|_| is("edit"))
                .collect(),
            command: call.command.clone().filter(|_| is("execute")),
            ..call.clone()
        });
    }

    /// The person allowed a call, as it was shown.
    pub(super) fn grant(&mut self, call: &ToolCall) {
        let places = self.places(&call.paths);
        self.granted_paths.extend(places.into_iter().flatten());
        for change in &call.changes {
            let place = self.place(&change.path);
            let granted = place.map(|place| (place, change.clone()));
            self.granted_changes.extend(granted);
        }
        self.granted_commands.extend(call.command.clone());
    }

    /// Whether the person allowed to run this in the root, once.
    fn is_command_granted(&mut self, run: &TerminalCommand, line: &str) -> bool {
        let granted = self.granted_commands.iter().position(|it| it == line);
        let granted = granted.filter(|_| run.cwd == self.files.root());
        granted.map(|at| self.granted_commands.remove(at)).is_some()
    }

    /// Whether the person allowed to write this into a file.
    fn is_change_granted(&self, path: &Path, place: &str, content: &str) -> bool {
        let granted = self.granted_changes.iter();
        let granted = granted.filter(|(granted, _)| granted == place);
        let granted: Vec<&ProposedChange> = granted.map(|(_, change)| change).collect();
        let now = self.files.read(path, None, None).ok();
        let now = now.map(|now| now.text);
        changes::make(&granted, now.as_deref(), content)
    }

    /// The person allowed more than this once.
    pub(super) fn grant_always(&mut self, kind: &str) {
        self.writes_freely |= kind == "edit";
        self.runs_freely |= kind == "execute";
    }

    /// What was allowed in a turn is not allowed in the next one.
    pub(super) fn forget_grants(&mut self) {
        self.granted_paths.clear();
        self.granted_changes.clear();
        self.granted_commands.clear();
    }

    /// The agent does not wait for a command's end any more; `false` if it
    /// did not.
    pub(super) fn stop_waiting(&mut self, request: &Value) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|(waiting, _)| waiting != request);
        self.waiting.len() < before
    }

    /// Whether a command of the agent runs that no call of its own shows.
    pub(super) fn runs_card(&self) -> bool {
        self.owned.values().any(|owned| owned.card == Card::Runs)
    }

    pub(super) fn agent_ended(&mut self) {
        for id in std::mem::take(&mut self.owned).into_keys() {
            self.terminals.release(&id);
        }
        self.waiting.clear();
        self.forget_grants();
    }
}

impl Client {
    pub(super) fn file_request(&mut self, request: &Value, method: &str, params: &Value) {
        let path = PathBuf::from(text(params, "path"));
        let is_write = method == "fs/write_text_file";
        if path.as_os_str().is_empty() {
            self.refuse(request, &unreadable("path is missing"));
            return;
        }
        if is_write && !params.get("content").is_some_and(Value::is_string) {
            self.refuse(request, &unreadable("content is missing"));
            return;
        }
        // A shell's home and addresses would be taken for names in the project.
        let given = path.to_string_lossy();
        if given.starts_with('~') || given.contains("://") {
            self.refuse(request, &unreadable("path has to be absolute"));
            return;
        }
        let place = match self.services.files.resolve(&path) {
            Ok(place) => place.to_string_lossy().into_owned(),
            Err(error) => {
                self.refuse_file(request, &path, &error);
                return;
            }
        };
        let verdict = self.config.rules.judge(&Operation {
            tool: method.to_owned(),
            kind: (if is_write { "edit" } else { "read" }).to_owned(),
            paths: vec![Some(place.clone())],
            ..Operation::default()
        });
        let title = format!("{method} {place}");
        if self.is_denied(request, &verdict, &title) {
            return;
        }
        let held = Held {
            method: method.to_owned(),
            params: params.clone(),
        };
        if is_write && let (Action::Allow, Some(rule)) = (verdict.action, verdict.rule) {
            self.automatic(title.clone(), Action::Allow, rule);
        }
        let is_granted = if is_write {
            let is_free = self.services.writes_freely && !is_below_git(&place);
            let content = text(params, "content");
            is_free || self.services.is_change_granted(&path, &place, &content)
        } else {
            self.services.granted_paths.contains(&place)
        };
        // What is inside the project may be read; nothing else goes without
        // saying.
        let is_asked = match (verdict.action, verdict.rule) {
            (Action::Allow, _) => false,
            (_, Some(_)) => true,
            (_, None) => is_write,
        };
        if is_asked && !is_granted {
            // Nobody is asked for what cannot be done.
            if let Err(error) = self.services.files.check(&path, is_write) {
                self.refuse_file(request, &path, &error);
                return;
            }
            let call = self.file_call(&path, &place, params, is_write);
            self.ask_first(request, held, call);
            return;
        }
        self.perform(request, &held);
    }

    /// Says no where a rule does.
    fn is_denied(&mut self, request: &Value, verdict: &Verdict, title: &str) -> bool {
        let Some(rule) = verdict.rule.filter(|_| verdict.action == Action::Deny) else {
            return false;
        };
        let error = schema::Error::new(-32603, "a rule of the person does not allow it");
        self.refuse(request, &error);
        self.automatic(title.to_owned(), Action::Deny, rule);
        true
    }

    fn file_call(&self, path: &Path, place: &str, params: &Value, is_write: bool) -> ToolCall {
        let old = self.services.files.read(path, None, None).ok();
        let old = old.map(|old| old.text);
        let new = text(params, "content");
        let edit = is_write.then(|| patch::from_texts(place, old.as_deref(), &new, true));
        let change = is_write.then(|| ProposedChange {
            path: path.to_owned(),
            old,
            new,
        });
        let verb = if is_write { "Write" } else { "Read" };
        ToolCall {
            name: (if is_write {
                "fs/write_text_file"
            } else {
                "fs/read_text_file"
            })
            .to_owned(),
            kind: (if is_write { "edit" } else { "read" }).to_owned(),
            title: format!("{verb} {place}"),
            paths: vec![place.into()],
            edits: edit.into_iter().collect(),
            changes: change.into_iter().collect(),
            ..ToolCall::default()
        }
    }

    /// Does what was asked for, once nothing speaks against it.
    pub(super) fn perform(&mut self, request: &Value, held: &Held) {
        let params = &held.params;
        let path = PathBuf::from(text(params, "path"));
        match &*held.method {
            "fs/read_text_file" => {
                let number = |key| params.get(key).and_then(Value::as_u64);
                let read = self
                    .services
                    .files
                    .read(&path, number("line"), number("limit"));
                match read {
                    Ok(read) => {
                        // Written back, replacement characters would destroy it.
                        if read.is_lossy {
                            let text = format!("{}: it is not UTF-8 text", path.display());
                            self.refuse(request, &schema::Error::new(-32603, text));
                        } else {
                            self.reply(request, &schema::ReadTextFileResponse::new(read.text));
                        }
                    }
                    Err(error) => self.refuse_file(request, &path, &error),
                }
            }
            "fs/write_text_file" => {
                match self.services.files.write(&path, &text(params, "content")) {
                    Ok(wrote) => {
                        self.reply(request, &schema::WriteTextFileResponse::new());
                        self.updates.push(Update::FileWritten(wrote));
                    }
                    Err(error) => self.refuse_file(request, &path, &error),
                }
            }
            _ => self.create_terminal(request, params),
        }
    }

    fn refuse_file(&mut self, request: &Value, path: &Path, error: &FileError) {
        let path = path.display();
        let error = match error {
            FileError::NotFound => {
                schema::Error::resource_not_found(Some(format!("file://{path}")))
            }
            FileError::Outside => {
                let text = format!("The agent was refused {path}: {error}.");
                self.notice(Level::Warning, text);
                unreadable(&format!("{path}: {error}"))
            }
            error => schema::Error::new(-32603, format!("{path}: {error}")),
        };
        self.refuse(request, &error);
    }

    pub(super) fn terminal_request(&mut self, request: &Value, method: &str, params: &Value) {
        if method == "terminal/create" {
            self.wants_terminal(request, params);
            return;
        }
        let id = text(params, "terminalId");
        if !self.services.owned.contains_key(&id) {
            let error = schema::Error::resource_not_found(Some(id));
            self.refuse(request, &error);
            return;
        }
        match method {
            "terminal/output" => {
                let output = self.services.terminals.output(&id).unwrap_or_default();
                let status = output.exit.as_ref().map(exit_status);
                let response =
                    schema::TerminalOutputResponse::new(output.text, output.is_truncated)
                        .exit_status(status);
                self.reply(request, &response);
            }
            "terminal/wait_for_exit" => {
                if self.services.waiting.len() >= WAITING {
                    self.refuse(request, &schema::Error::internal_error());
                    return;
                }
                self.services.waiting.push((request.clone(), id.clone()));
                self.answer_waiting(&id);
            }
            "terminal/kill" => {
                self.services.terminals.kill(&id);
                self.reply(request, &schema::KillTerminalResponse::new());
            }
            "terminal/release" => {
                self.release(&id);
                self.reply(request, &schema::ReleaseTerminalResponse::new());
            }
            _ => self.refuse(request, &schema::Error::method_not_found()),
        }
    }

    fn wants_terminal(&mut self, request: &Value, params: &Value) {
        let mut run = run(params);
        if run.command.is_empty() {
            self.refuse(request, &unreadable("command is missing"));
            return;
        }
        // A name that is none would read as a part of the command.
        if !items(params, "env").iter().all(is_variable) {
            self.refuse(request, &unreadable("env has a name that is none"));
            return;
        }
        // Nobody is asked for what cannot be done.
        if !self.finds_folder(request, params, &mut run) {
            return;
        }
        let line = line(&run);
        let judge = |line: String| {
            self.config.rules.judge(&Operation {
                tool: "terminal/create".to_owned(),
                kind: "execute".to_owned(),
                command: Some(line),
                ..Operation::default()
            })
        };
        // No variable makes right what is denied without it.
        let verdict = match judge(bare_line(&run)) {
            denied if denied.action == Action::Deny => denied,
            _ => judge(line.clone()),
        };
        if self.is_denied(request, &verdict, &line) {
            return;
        }
        if let (Action::Allow, Some(rule)) = (verdict.action, verdict.rule) {
            self.automatic(line.clone(), Action::Allow, rule);
        }
        let is_asked = verdict.action == Action::Ask && !self.services.runs_freely;
        if is_asked && !self.services.is_command_granted(&run, &line) {
            let call = ToolCall {
                name: "terminal/create".to_owned(),
                kind: "execute".to_owned(),
                title: line.clone(),
                command: Some(line),
                is_command_given: true,
                remarks: self.elsewhere(&run),
                ..ToolCall::default()
            };
            let held = Held {
                method: "terminal/create".to_owned(),
                params: params.clone(),
            };
            self.ask_first(request, held, call);
            return;
        }
        self.create_terminal(request, params);
    }

    /// Where a command runs; `false`, and the agent knows it, if that cannot be.
    fn finds_folder(&mut self, request: &Value, params: &Value, run: &mut TerminalCommand) -> bool {
        let cwd = text(params, "cwd");
        let folder = if cwd.is_empty() {
            Ok(self.services.files.root().to_owned())
        } else {
            self.services.files.folder(Path::new(&cwd))
        };
        match folder {
            Ok(folder) => run.cwd = folder,
            Err(error) => {
                self.refuse_file(request, Path::new(&cwd), &error);
                return false;
            }
        }
        true
    }

    /// What is to be known of where a command runs, if that is not the project's root.
    fn elsewhere(&self, run: &TerminalCommand) -> Vec<String> {
        if run.cwd == self.services.files.root() {
            return Vec::new();
        }
        vec![format!("cwd: {}", run.cwd.display())]
    }

    fn create_terminal(&mut self, request: &Value, params: &Value) {
        let mut run = run(params);
        if !self.finds_folder(request, params, &mut run) {
            return;
        }
        if self.services.owned.len() >= TERMINALS {
            let error = schema::Error::new(-32603, "too many terminals are open");
            self.refuse(request, &error);
            return;
        }
        self.services.last += 1;
        let id = format!("terminal-{}", self.services.last);
        let owned = Owned {
            session: text(params, "sessionId"),
            command: line(&run),
            since: Instant::now(),
            shown: 0,
            is_embedded: false,
            card: Card::No,
            lent_to: String::new(),
            cut: Vec::new(),
        };
        match self.services.terminals.start(&id, &run) {
            Ok(()) => {
                self.services.owned.insert(id.clone(), owned);
                self.reply(request, &schema::CreateTerminalResponse::new(id));
            }
            Err(error) => {
                let error = schema::Error::new(-32603, format!("{}: {error}", run.command));
                self.refuse(request, &error);
            }
        }
    }

    pub(super) fn terminal_news(&mut self, news: TerminalEvent) {
        match news {
            TerminalEvent::Output(id) if self.services.owned.contains_key(&id) => {
                self.show_output(&id)
            }
            TerminalEvent::Exited(id) if self.services.owned.contains_key(&id) => {
                self.show_output(&id);
                let code = self
                    .services
                    .terminals
                    .exit(&id)
                    .and_then(|(exit, _)| exit.code);
                if let Some(owned) = self.services.owned.get(&id) {
                    self.journal.terminal_exited(&owned.session, &id, code);
                }
                self.answer_waiting(&id);
            }
            TerminalEvent::Output(id) => self.shell_said(&id),
            TerminalEvent::Exited(id) => self.shell_ended(&id),
        }
    }

    fn show_output(&mut self, id: &str) {
        let bytes = self.services.terminals.take_new(id);
        let is_embedded = self.calls.shows(id);
        let Some(owned) = self.services.owned.get_mut(id) else {
            return;
        };
        owned.is_embedded |= is_embedded;
        if bytes.is_empty() || owned.shown >= SHOWN {
            return;
        }
        owned.shown += bytes.len();
        self.journal.terminal_grew(&owned.session, id, &bytes);
        if matches!(owned.card, Card::Runs | Card::Lent) {
            let text = whole(&mut owned.cut, bytes);
            let call = if owned.card == Card::Lent {
                owned.lent_to.clone()
            } else {
                id.to_owned()
            };
            self.show_command_output(&call, text);
        } else if owned.since.elapsed() >= GRACE && self.is_card_due(id) {
            self.show_card(id);
        }
    }

    /// Shows the terminals that no call of the agent shows, and their ends.
    pub(super) fn show_cards(&mut self) {
        let ids: Vec<String> = self.services.owned.keys().cloned().collect();
        for id in ids {
            if self.is_card_due(&id) {
                self.show_card(&id);
            }
            if self
                .ended_since(&id)
                .is_some_and(|since| since >= AFTERWARDS)
            {
                self.end_card(&id);
            }
        }
    }

    /// Whether a terminal or its end is still to be shown once a while has passed.
    pub fn has_unshown_terminal(&self) -> bool {
        self.services.owned.iter().any(|(id, owned)| {
            let has_ended = self.services.terminals.exit(id).is_some();
            let is_hidden = owned.card == Card::No && !owned.is_embedded;
            is_hidden || owned.card == Card::Runs && has_ended
        })
    }

    /// Whether the agent had its time to show a terminal by itself.
    fn is_card_due(&self, id: &str) -> bool {
        let Some(owned) = self.services.owned.get(id) else {
            return false;
        };
        if self.calls.await_terminal(&owned.session) && owned.since.elapsed() < LONG_GRACE {
            return false;
        }
        let ended = self.ended_since(id);
        ended.is_none_or(|ended| ended >= AFTERWARDS)
    }

    /// How long ago a terminal's command ended.
    fn ended_since(&self, id: &str) -> Option<Duration> {
        let owned = self.services.owned.get(id)?;
        let (_, ran) = self.services.terminals.exit(id)?;
        Some(owned.since.elapsed().saturating_sub(ran))
    }

    /// A call that shows a terminal of a call of ours takes the place of that.
    pub(super) fn take_up(&mut self, message: &Message) {
        let Message::Notification { method, params } = message else {
            return;
        };
        let update = params.get("update").unwrap_or(&Value::Null);
        let kind = text(update, "sessionUpdate");
        if method != "session/update" || !matches!(&*kind, "tool_call" | "tool_call_update") {
            return;
        }
        let call = text(update, "toolCallId");
        let content = items(update, "content");
        for item in content {
            let id = text(item, "terminalId");
            if content.len() == 1 && self.services.told.contains(&id) {
                self.journal.leave_out(&call, &id);
            }
            let Some(owned) = self.services.owned.get_mut(&id) else {
                continue;
            };
            let is_taken = match owned.card {
                Card::Runs => self.journal.take_place(&call, &id, owned.shown),
                Card::Lent => {
                    if call == owned.lent_to {
                        self.journal.was_told(&call, owned.shown);
                    }
                    true
                }
                Card::No | Card::Ended | Card::Taken => false,
            };
            if is_taken {
                owned.card = Card::Taken;
                owned.is_embedded = true;
            }
        }
    }

    /// Shows a terminal in a call of our own, unless a call shows it.
    fn show_card(&mut self, id: &str) {
        let is_embedded = self.calls.shows(id);
        let Some(owned) = self.services.owned.get_mut(id) else {
            return;
        };
        owned.is_embedded |= is_embedded;
        if owned.is_embedded || owned.card != Card::No {
            return;
        }
        let awaiting = self.calls.awaiting(&owned.session, &owned.command);
        if let Some(call) = awaiting.filter(|call| self.journal.is_open(call)) {
            owned.card = Card::Lent;
            owned.lent_to.clone_from(&call);
            let output = self.services.terminals.output(id).unwrap_or_default();
            self.show_command_output(&call, output.text);
            return;
        }
        owned.card = Card::Runs;
        let command = owned.command.clone();
        self.show_command(id, "terminal", &command);
        let output = self.services.terminals.output(id).unwrap_or_default();
        self.show_command_output(id, output.text);
        if output.exit.is_some() {
            self.end_card(id);
        }
    }

    /// The command ended that a call of our own shows.
    fn end_card(&mut self, id: &str) {
        let Some(owned) = self.services.owned.get_mut(id) else {
            return;
        };
        if owned.card != Card::Runs {
            return;
        }
        owned.card = Card::Ended;
        if self.services.told.len() >= TERMINALS {
            self.services.told.pop_front();
        }
        self.services.told.push_back(id.to_owned());
        let output = self.services.terminals.output(id).unwrap_or_default();
        let ran = self.services.terminals.exit(id).map(|(_, ran)| ran);
        let duration = ran.and_then(|ran| u64::try_from(ran.as_millis()).ok());
        self.show_command_end(id, "terminal", output, duration);
    }

    fn answer_waiting(&mut self, id: &str) {
        let Some((exit, _)) = self.services.terminals.exit(id) else {
            return;
        };
        let waiting = std::mem::take(&mut self.services.waiting);
        let (ready, others) = waiting
            .into_iter()
            .partition(|(_, terminal)| terminal == id);
        self.services.waiting = others;
        let ready: Vec<(Value, String)> = ready;
        for (request, _) in ready {
            let response = schema::WaitForTerminalExitResponse::new(exit_status(&exit));
            self.reply(&request, &response);
        }
    }

    fn release(&mut self, id: &str) {
        self.show_output(id);
        self.services.terminals.kill_now(id);
        self.answer_waiting(id);
        // One that no call shows would not be seen at all.
        self.show_card(id);
        self.end_card(id);
        self.services.owned.remove(id);
        self.services.terminals.release(id);
    }

    /// The agent is gone, and its commands with it.
    pub(super) fn release_all(&mut self) {
        let ids: Vec<String> = self.services.owned.keys().cloned().collect();
        for id in ids {
            self.services.terminals.kill_now(&id);
            self.end_card(&id);
        }
        self.services.agent_ended();
    }
}

fn is_below_git(place: &str) -> bool {
    let mut parts = place.split('/');
    parts.any(|part| part.eq_ignore_ascii_case(".git"))
}

fn is_variable(variable: &Value) -> bool {
    let name = text(variable, "name");
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_letter) && name.starts_with(|c: char| !c.is_ascii_digit())
}

fn run(params: &Value) -> TerminalCommand {
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

/// A command without its variables, as one line for a shell.
fn bare_line(run: &TerminalCommand) -> String {
    if run.args.is_empty() {
        return tool::unwrap_shell(&run.command).into_owned();
    }
    let words: Vec<String> = words(run).map(str::to_owned).collect();
    of_words(&words)
}

fn words(run: &TerminalCommand) -> impl Iterator<Item = &str> {
    let args = run.args.iter().map(String::as_str);
    std::iter::once(run.command.as_str()).chain(args)
}

/// The whole of a command as one line for a shell. Variables may make another program
/// of it, so they stand before it, and nothing is taken off then.
fn line(run: &TerminalCommand) -> String {
    if run.env.is_empty() {
        return bare_line(run);
    }
    let quoted = |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_owned(), Into::into);
    let variables = run.env.iter().map(|(name, value)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        format!("{name}={}", quoted(&value))
    });
    let mut line: Vec<String> = variables.collect();
    match &*run.args {
        [] => line.push(run.command.clone()),
        _ => line.extend(words(run).map(quoted)),
    }
    line.join(" ")
}

fn exit_status(exit: &crate::Exit) -> schema::TerminalExitStatus {
    let code = exit.code.and_then(|code| u32::try_from(code).ok());
    schema::TerminalExitStatus::new()
        .exit_code(code)
        .signal(exit.signal.map(signal_name))
}
