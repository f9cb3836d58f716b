//! Files that hold more than one session: OpenCode's database, and the history
//! of aider, which is one file for all chats of a project.
//!
//! A [`Container`] is opened once and hands out its sessions one by one, so that
//! never more than one of them is in memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, Result, cannot_read};
use crate::input::Input;

mod opencode_db;

use opencode_db::Database;
pub(crate) use opencode_db::{is_database, sessions};

/// How aider and its kin begin a chat in the history of a project.
const CHAT_STARTED: [&str; 2] = ["# aider chat started at ", "# cecli chat started at "];

/// An open file with several sessions.
pub(crate) struct Container {
    path: PathBuf,
    form: Form,
}

enum Form {
    Database(Box<Database>),
    History(Vec<Chat>),
}

/// A session within a file.
pub(crate) struct Part {
    /// What it is called there.
    pub(crate) id: String,
    /// Changes when the session does.
    pub(crate) stamp: i64,
    /// When it began, as the file says it, in local time; empty if it does not.
    pub(crate) started: String,
}

/// Where a chat stands in its file.
struct Chat {
    from: u64,
    to: u64,
    started: String,
}

impl Container {
    /// Opens the file if it may hold several sessions; `None` if it is one.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        let name = path.display().to_string();
        let mut file = File::open(path).with_context(|| cannot_read(&name))?;
        let mut head = Vec::new();
        (&mut file)
            .take(64)
            .read_to_end(&mut head)
            .with_context(|| cannot_read(&name))?;
        let form = if is_database(&head) {
            let database =
                Database::open(path).with_context(|| format!("cannot read the database {name}"))?;
            Form::Database(Box::new(database))
        } else if begins_a_chat(&String::from_utf8_lossy(&head)) {
            file.rewind().with_context(|| cannot_read(&name))?;
            Form::History(chats(file).with_context(|| cannot_read(&name))?)
        } else {
            return Ok(None);
        };
        Ok(Some(Self {
            path: path.to_owned(),
            form,
        }))
    }

    /// The sessions, the oldest first.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match &self.form {
            Form::Database(database) => {
                let written = database.written();
                let part = |root: &opencode_db::Info| Part {
                    id: root.id.clone(),
                    stamp: database.stamp(root, &written),
                    started: String::new(),
                };
                database.roots().map(part).collect()
            }
            Form::History(chats) => {
                let part = |(index, chat): (usize, &Chat)| Part {
                    id: (index + 1).to_string(),
                    stamp: i64::try_from(chat.to).unwrap_or(i64::MAX),
                    started: chat.started.clone(),
                };
                chats.iter().enumerate().map(part).collect()
            }
        }
    }

    /// The session in which a sub-agent worked whose id begins like this.
    pub(crate) fn root_of(&self, beginning: &str) -> Option<String> {
        match &self.form {
            Form::Database(database) => Some(database.root_of(beginning)?.id.clone()),
            Form::History(_) => None,
        }
    }

    /// One of the sessions.
    pub(crate) fn input(&self, id: &str) -> Result<Input> {
        let name = self.path.display().to_string();
        let gone = || Error::refused(format!("{name} has no session {id}"));
        match &self.form {
            Form::Database(database) => {
                let mut roots = database.roots();
                let root = roots.find(|root| root.id == id).ok_or_else(gone)?;
                let session = database.session(root)?;
                let input = Input::new(name, Cursor::new(session.root));
                Ok(input.with_attachments(session.children))
            }
            Form::History(chats) => {
                let number: usize = id.parse().map_err(|_| gone())?;
                let Some(chat) = number.checked_sub(1).and_then(|at| chats.get(at)) else {
                    return Err(gone());
                };
                let mut file = File::open(&self.path).with_context(|| cannot_read(&name))?;
                file.seek(SeekFrom::Start(chat.from))?;
                let length = chat.to.saturating_sub(chat.from);
                Ok(Input::new(name, file.take(length)))
            }
        }
    }
}

/// Whether the file is a history of aider or its kin. One that cannot be read is
/// none.
pub(crate) fn is_history(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    read.is_ok() && begins_a_chat(&String::from_utf8_lossy(&head))
}

fn begins_a_chat(text: &str) -> bool {
    let text = text.trim_start();
    CHAT_STARTED.iter().any(|words| text.starts_with(words))
}

/// Where the chats stand in a history.
fn chats(file: File) -> std::io::Result<Vec<Chat>> {
    let mut lines = BufReader::new(file);
    let mut chats: Vec<Chat> = Vec::new();
    let (mut at, mut line) = (0_u64, Vec::new());
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        let started = CHAT_STARTED
            .iter()
            .find_map(|words| line.strip_prefix(words.as_bytes()));
        if let Some(started) = started {
            chats.push(Chat {
                from: at,
                to: at,
                started: String::from_utf8_lossy(started).trim().to_owned(),
            });
        }
        at += length as u64;
        if let Some(chat) = chats.last_mut() {
            chat.to = at;
        }
    }
    Ok(chats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_read_chat_by_chat() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".aider.chat.history.md");
        let text = "\n# aider chat started at 2026-11-15 10:00:00\n\n#### one\n\n\
                    # aider chat started at 2026-11-16 11:00:00\n\n#### two\n";
        std::fs::write(&path, text).unwrap();
        let container = Container::open(&path).unwrap().unwrap();
        let parts = container.parts();
        let started: Vec<&str> = parts.iter().map(|part| part.started.as_str()).collect();
        assert_eq!(started, ["2026-11-15 10:00:00", "2026-11-16 11:00:00"]);
        let mut second = String::new();
        let mut input = container.input("2").unwrap();
        input.bytes.read_to_string(&mut second).unwrap();
        assert!(second.starts_with("# aider chat started at 2026-11-16"));
        assert!(second.ends_with("#### two\n"));
        assert!(container.input("3").is_err());
        assert!(container.input("0").is_err());
    }
}
