//! What the agent says about itself: the banner at the start and after every
//! change of mode, and the list of files above each prompt.

use serde_json::Value;

use super::edit::Chat;
use super::marker::{self, Family};
use crate::event::{RawJson, Session};
use crate::source::Emitter;

/// Who is speaking, and about what.
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
    announced: bool,
    /// Servers that tools may belong to; none where they are not known.
    servers: Vec<String>,
    /// Files in the chat; those that are only read come with a note.
    files: Vec<String>,
    /// What was said in the last `session` event.
    said: Option<Session>,
    /// Label and value of the banner's other lines, as they were last said.
    fields: Vec<(String, String)>,
    /// The same, not yet said.
    news: Vec<(String, String)>,
}

impl Identity {
    /// A banner begins.
    pub(super) fn banner(&mut self, family: Family, version: &str) {
        self.family = family;
        self.announced = true;
        version.clone_into(&mut self.version);
    }

    /// A prompt for input in this mode.
    pub(super) fn prompted(&mut self, mode: &str) {
        mode.clone_into(&mut self.mode);
        self.prompts = true;
        self.announced = false;
    }

    /// Whether the next prompt may show another mode.
    pub(super) fn may_change_mode(&self) -> bool {
        self.announced || !self.prompts
    }

    /// Another line of it.
    pub(super) fn field(&mut self, label: &str, value: &str) {
        match label {
            "Main model" | "Model" => {
                let (model, format) = value.split_once(" with ").unwrap_or((value, ""));
                model.clone_into(&mut self.model);
                let format = format.split_once(" edit format");
                format.map_or("", |f| f.0).clone_into(&mut self.format);
            }
            "Models" => {
                let main = value.split(" • ").find_map(|m| m.strip_suffix(" (main)"));
                main.unwrap_or(value).clone_into(&mut self.model);
            }
            "Settings" => {
                let format = value.split_once(" (edit format)");
                format.map_or("", |f| f.0).clone_into(&mut self.format);
            }
            "MCP servers configured" | "Servers" => {
                let names = value.split([',', '•', ' ']).filter(|name| !name.is_empty());
                self.servers = names.map(str::to_owned).collect();
            }
            _ => {}
        }
        if !matches!(label, "Main model" | "Model" | "Models") {
            self.news.push((label.to_owned(), value.to_owned()));
        }
    }

    /// The banner ended: what is new in it is said.
    pub(super) fn announce(&mut self, out: &mut Emitter) {
        let session = Session {
            provider: super::PROVIDER.name.to_owned(),
            version: self.version.clone(),
            model: self.model.clone(),
            ..Session::default()
        };
        if self.said.as_ref() != Some(&session) {
            self.said = Some(session.clone());
            out.session(session);
        }
        for (label, value) in std::mem::take(&mut self.news) {
            let known = self.fields.iter_mut().find(|(known, _)| *known == label);
            match known {
                Some((_, old)) if *old == value => continue,
                Some((_, old)) => old.clone_from(&value),
                None => self.fields.push((label.clone(), value.clone())),
            }
            state(&label, &value.into(), out);
        }
    }

    /// Says who speaks, before anything else is said.
    pub(super) fn ensure(&mut self, out: &mut Emitter) {
        if self.said.is_none() {
            self.announce(out);
        }
    }

    pub(super) fn is_announced(&self) -> bool {
        self.said.is_some()
    }

    /// Whether a tool may belong to this server.
    pub(super) fn knows_server(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|known| known == server)
    }

    /// The list of files above a prompt.
    pub(super) fn list_files(&mut self, lines: &[String], out: &mut Emitter) {
        let files: Vec<String> = lines.iter().flat_map(|line| file_names(line)).collect();
        if files != self.files {
            self.files = files;
            self.ensure(out);
            state("files", &self.files.clone().into(), out);
        }
    }

    /// A file was added, where no list of files is shown.
    pub(super) fn add_file(&mut self, note: &str) {
        let name = note.trim_end_matches('.').strip_prefix("Added ");
        if let Some(name) = name.and_then(|name| name.strip_suffix(" to the chat")) {
            self.files.push(name.to_owned());
        }
    }

    /// The agent was started with this command line: files that it names as
    /// such are in the chat.
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

    /// Whether files are in the chat, so that a prompt has a list above it.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// The edit format in use; empty where it is not known.
    pub(super) fn format(&self) -> &str {
        if self.mode.is_empty() || matches!(self.mode.as_str(), "agent" | "architect" | "code") {
            &self.format
        } else {
            &self.mode
        }
    }

    /// What edits depend on.
    pub(super) fn chat(&self) -> Chat<'_> {
        let format = match self.format() {
            // The other model that writes the edits has a format of its own.
            "architect" => "",
            format => format,
        };
        Chat {
            format,
            files: &self.files,
        }
    }

    /// Whether nothing is edited in this mode.
    pub(super) fn only_answers(&self) -> bool {
        matches!(self.format(), "ask" | "help" | "context")
    }
}

fn state(name: &str, value: &Value, out: &mut Emitter) {
    if let Some(value) = RawJson::of(value) {
        out.state(name, value.json());
    }
}

/// The files in one line of the list above a prompt: one, or, with colours
/// on, several in columns.
fn file_names(line: &str) -> Vec<String> {
    let line = line.trim();
    for note in [" (read only)", " (read only stub)"] {
        if line.ends_with(note) {
            return vec![line.to_owned()];
        }
    }
    let read_only = line.strip_prefix("Readonly:");
    let names = read_only.or_else(|| line.strip_prefix("Editable:"));
    let note = if read_only.is_some() {
        " (read only)"
    } else {
        ""
    };
    let names = names.unwrap_or(line).split_whitespace();
    names.map(|name| format!("{name}{note}")).collect()
}

/// Whether a line may be one of that list.
pub(super) fn is_file_line(line: &str) -> bool {
    let line = line.trim_end();
    if line.ends_with("(use /ls to list all files)") {
        return true;
    }
    let line = line
        .strip_suffix(" (read only)")
        .or_else(|| line.strip_suffix(" (read only stub)"))
        .unwrap_or(line);
    let line = line
        .strip_prefix("Readonly:")
        .or_else(|| line.strip_prefix("Editable:"))
        .unwrap_or(line);
    let plain = |c: char| c.is_alphanumeric() || "_-./+@~#=,[]()".contains(c);
    let mut words = line.split_whitespace().peekable();
    words.peek().is_some()
        && words.all(|word| word.chars().all(plain) && !word.ends_with(['.', ',']))
        && marker::note(line).is_none()
}
