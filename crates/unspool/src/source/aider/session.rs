//! The agent's description of itself: the banner at the start and after every
//! change of mode, and the list of files above each prompt.

use std::collections::HashMap;

use serde_json::Value;

use super::edit::Chat;
use super::line::Family;
use super::marks;
use crate::event::{RawJson, Session};
use crate::source::Emitter;

/// The agent, its settings and the files in the chat.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    pub(super) family: Family,
    version: String,
    model: String,
    /// The edit format of the banner.
    format: String,
    /// The mode of the last prompt; empty for the model's default format.
    pub(super) mode: String,
    /// A prompt was seen: the run is interactive.
    pub(super) prompts: bool,
    /// A banner was seen since the last prompt.
    has_banner: bool,
    /// Servers that tools may belong to; empty if unknown.
    servers: Vec<String>,
    /// Files in the chat; read-only ones carry a note.
    files: Vec<String>,
    /// The last `session` event.
    session: Option<Session>,
    /// The banner's other lines by label, as last emitted.
    fields: HashMap<String, String>,
}

impl Identity {
    /// Starts a banner.
    pub(super) fn banner(&mut self, family: Family, version: &str) {
        self.family = family;
        self.has_banner = true;
        version.clone_into(&mut self.version);
    }

    /// Records a prompt for input in this mode.
    pub(super) fn prompted(&mut self, mode: &str) {
        mode.clone_into(&mut self.mode);
        self.prompts = true;
        self.has_banner = false;
    }

    /// Returns true if the next prompt may be in this mode. Without a banner the
    /// mode does not return to the default.
    pub(super) fn allows_mode(&self, mode: &str) -> bool {
        const MODES: &str = "ask agent architect code context help diff diff-fenced udiff \
            udiff-simple whole patch hashline editor-diff editor-diff-fenced editor-whole";
        let may_change = self.has_banner || !self.prompts;
        (may_change && mode.is_empty())
            || MODES.split(' ').any(|known| known == mode)
            || (self.prompts && mode == self.mode)
    }

    /// Takes the fields of a banner and emits those that changed.
    pub(super) fn announce(&mut self, fields: &[(&str, &str)], out: &mut Emitter) {
        for (label, value) in fields {
            self.field(label, value);
        }
        let session = Session {
            provider: super::PROVIDER.name.to_owned(),
            version: self.version.clone(),
            model: self.model.clone(),
            ..Session::default()
        };
        if self.session.as_ref() != Some(&session) {
            self.session = Some(session.clone());
            out.session(session);
        }
        let is_model = |label: &str| matches!(label, "Main model" | "Model" | "Models");
        for (label, value) in fields.iter().filter(|(label, _)| !is_model(label)) {
            let old = self.fields.insert((*label).to_owned(), (*value).to_owned());
            if old.as_deref() != Some(value) {
                state(label, &(*value).into(), out);
            }
        }
    }

    fn field(&mut self, label: &str, value: &str) {
        match label {
            "Main model" | "Model" => {
                let (model, format) = value.split_once(" with ").unwrap_or((value, ""));
                model.clone_into(&mut self.model);
                self.format = before(format, " edit format");
            }
            "Models" => {
                let main = value.split(" • ").find_map(|m| m.strip_suffix(" (main)"));
                main.unwrap_or(value).clone_into(&mut self.model);
            }
            "Settings" => self.format = before(value, " (edit format)"),
            "MCP servers configured" | "Servers" => {
                let names = value.split([',', '•', ' ']).filter(|name| !name.is_empty());
                self.servers = names.map(str::to_owned).collect();
            }
            _ => {}
        }
    }

    /// Emits the session if no event did.
    pub(super) fn ensure(&mut self, out: &mut Emitter) {
        if self.session.is_none() {
            self.announce(&[], out);
        }
    }

    pub(super) fn is_announced(&self) -> bool {
        self.session.is_some()
    }

    /// Returns true if a tool may belong to this server.
    pub(super) fn knows_server(&self, server: &str) -> bool {
        self.servers.is_empty() || self.lists_server(server)
    }

    /// Returns true if the banner names this server.
    pub(super) fn lists_server(&self, server: &str) -> bool {
        self.servers.iter().any(|known| known == server)
    }

    /// Returns true once a banner was read.
    pub(super) fn has_version(&self) -> bool {
        !self.version.is_empty()
    }

    /// Takes the list of files above a prompt.
    pub(super) fn list_files(&mut self, lines: &[String], out: &mut Emitter) {
        let files: Vec<String> = lines.iter().flat_map(|line| file_names(line)).collect();
        if files != self.files {
            self.files = files;
            self.ensure(out);
            state("files", &self.files.clone().into(), out);
        }
    }

    /// Takes a file from a note, where no list of files is shown.
    pub(super) fn add_file(&mut self, note: &str) {
        let name = note.trim_end_matches('.').strip_prefix("Added ");
        let name = name.and_then(|name| name.strip_suffix(" to the chat"));
        self.files.extend(name.map(str::to_owned));
    }

    /// Takes the files that the agent's command line adds to the chat.
    pub(super) fn started_as(&mut self, command: &str) {
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            let file = match word {
                "--file" => words.next(),
                _ => word.strip_prefix("--file="),
            };
            self.files.extend(file.map(str::to_owned));
        }
    }

    /// Returns true if a prompt has a list of files above it.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// The edit format in use; empty if unknown.
    pub(super) fn format(&self) -> &str {
        match self.mode.as_str() {
            "" | "agent" | "architect" | "code" => &self.format,
            mode => mode,
        }
    }

    /// The context that edits depend on.
    pub(super) fn chat(&self) -> Chat<'_> {
        let format = match self.format() {
            // A second model writes the edits, in a format of its own.
            "architect" => "",
            format => format,
        };
        Chat {
            format,
            files: &self.files,
        }
    }
}

fn before(text: &str, end: &str) -> String {
    text.split_once(end)
        .map_or("", |(before, _)| before)
        .to_owned()
}

fn state(name: &str, value: &Value, out: &mut Emitter) {
    if let Some(value) = RawJson::of(value) {
        out.state(name, value.json());
    }
}

/// Splits a line of a banner after its first into label and value.
pub(super) fn banner_field(line: &str) -> Option<(&str, &str)> {
    const LABELS: &str = "Main model|Model|Weak model|Editor model|Agent model|Git repo|Repo-map|\
        MCP servers configured";
    let line = line.trim_end();
    if let Some((label, value)) = line.split_once(": ")
        && LABELS.split('|').any(|known| known == label)
    {
        return Some((label, value));
    }
    let branch = line.trim_start();
    let branch = branch.strip_prefix("├─ ").or(branch.strip_prefix("└─ "));
    let (label, value) = branch.unwrap_or(line).split_once("  ")?;
    let known = branch.is_some() || matches!(label, "Models" | "Settings" | "Environment");
    known.then(|| (label, value.trim_start()))
}

const READ_ONLY: &[&str] = &[" (read only)", " (read only stub)"];

/// Returns the files in a line of the list above a prompt: one, or several in
/// columns in colour mode.
fn file_names(line: &str) -> Vec<String> {
    let line = line.trim();
    if READ_ONLY.iter().any(|note| line.ends_with(note)) {
        return vec![line.to_owned()];
    }
    let (names, note) = match line.strip_prefix("Readonly:") {
        Some(names) => (names, " (read only)"),
        None => (line.strip_prefix("Editable:").unwrap_or(line), ""),
    };
    let names = names.split_whitespace();
    names.map(|name| format!("{name}{note}")).collect()
}

/// Returns true if a line may belong to that list.
pub(super) fn is_file_line(line: &str) -> bool {
    let line = line.trim_end();
    if line.ends_with("(use /ls to list all files)") {
        return true;
    }
    let note = READ_ONLY.iter().find_map(|note| line.strip_suffix(note));
    let line = note.unwrap_or(line);
    let label = ["Readonly:", "Editable:"]
        .iter()
        .find_map(|label| line.strip_prefix(label));
    let plain = |c: char| c.is_alphanumeric() || "_-./+@~#=,[]()".contains(c);
    let mut words = label.unwrap_or(line).split_whitespace().peekable();
    words.peek().is_some()
        && words.all(|word| word.chars().all(plain) && !word.ends_with(['.', ',']))
        && marks::note(line).is_none()
}
