//! Files that hold more than one session: databases, and text files in which each
//! session starts with a line of its own.
//!
//! A [`Container`] is opened once and hands out its sessions one by one, so that at
//! most one of them is in memory.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::agents::Agents;
use crate::error::{Context, Error, Result, cannot_read};
use crate::input::Input;

mod database;
mod sections;

use database::Database;
pub(crate) use database::is_database;
use sections::Section;
pub(crate) use sections::has_sections;

/// Bytes that are read to tell the form of a file.
const HEAD: u64 = 64;

/// An open file with several sessions.
pub(crate) struct Container {
    path: PathBuf,
    form: Form,
}

enum Form {
    Database(Box<Database>),
    Sections(Vec<Section>),
}

/// A session within a file.
pub(crate) struct Part {
    /// Its name in the file.
    pub(crate) id: String,
    /// Differs after the session changed.
    pub(crate) stamp: i64,
    /// The local time of its start as the file gives it; empty if it does not.
    pub(crate) started: String,
}

impl Container {
    /// Opens a file of several sessions; `None` for any other file.
    pub(crate) fn open(path: &Path, agents: Agents) -> Result<Option<Self>> {
        let name = path.display().to_string();
        let mut file = File::open(path).with_context(|| cannot_read(&name))?;
        let mut head = Vec::new();
        (&mut file)
            .take(HEAD)
            .read_to_end(&mut head)
            .with_context(|| cannot_read(&name))?;
        let form = if is_database(&head) {
            let database = Database::open(path, agents)
                .with_context(|| format!("cannot read the database {name}"))?;
            Form::Database(Box::new(database))
        } else if let Some(starts) = sections::starts(&head, agents) {
            file.rewind().with_context(|| cannot_read(&name))?;
            Form::Sections(sections::read(file, starts).with_context(|| cannot_read(&name))?)
        } else {
            return Ok(None);
        };
        Ok(Some(Self {
            path: path.to_owned(),
            form,
        }))
    }

    /// Returns the sessions, the oldest first.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match &self.form {
            Form::Database(database) => {
                let changes = database.changes();
                let part = |root: &database::Info| Part {
                    id: root.id.clone(),
                    stamp: database.stamp(root, &changes),
                    started: String::new(),
                };
                database.roots().map(part).collect()
            }
            Form::Sections(sections) => {
                let part = |(index, section): (usize, &Section)| Part {
                    id: (index + 1).to_string(),
                    stamp: i64::try_from(section.to).unwrap_or(i64::MAX),
                    started: section.started.clone(),
                };
                sections.iter().enumerate().map(part).collect()
            }
        }
    }

    /// Returns the id of the session in which the sub-agent with this prefix of an id
    /// worked.
    pub(crate) fn root_of(&self, prefix: &str) -> Option<String> {
        match &self.form {
            Form::Database(database) => Some(database.root_of(prefix)?.id.clone()),
            Form::Sections(_) => None,
        }
    }

    /// Opens one of the sessions.
    pub(crate) fn input(&self, id: &str) -> Result<Input> {
        let name = self.path.display().to_string();
        let gone = || Error::refused(format!("{name} has no session {id}"));
        match &self.form {
            Form::Database(database) => {
                let mut roots = database.roots();
                let root = roots.find(|root| root.id == id).ok_or_else(gone)?;
                let session = database.session(root)?;
                let input = Input::new(name, Cursor::new(session.root));
                let input = input.with_attachments(session.children);
                Ok(input.with_provider(&database.agent))
            }
            Form::Sections(sections) => {
                let number: usize = id.parse().map_err(|_| gone())?;
                let Some(section) = number.checked_sub(1).and_then(|at| sections.get(at)) else {
                    return Err(gone());
                };
                let mut file = File::open(&self.path).with_context(|| cannot_read(&name))?;
                file.seek(SeekFrom::Start(section.from))?;
                let length = section.to.saturating_sub(section.from);
                Ok(Input::new(name, file.take(length)))
            }
        }
    }
}
