//! The agents that are known, by their descriptors: where each keeps sessions, and
//! which file belongs to which.

use std::fs;
use std::path::{Path, PathBuf};

use unspool::ReaderOptions;
use unspool::source::{Folder, Forks, Place, Provider, Saved, SavedFile};

use crate::error::{Result, bail};

/// All agents that are known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agents(&'static [Provider]);

impl Agents {
    /// The agents with these descriptors, in the order in which they are asked to
    /// recognise a file.
    pub const fn new(providers: &'static [Provider]) -> Self {
        Self(providers)
    }

    /// Returns the descriptors.
    pub fn providers(self) -> &'static [Provider] {
        self.0
    }

    /// Returns the agent with this name.
    pub fn get(self, name: &str) -> Option<Provider> {
        self.0.iter().find(|agent| agent.name == name).copied()
    }

    /// Returns options for a reader that recognises these agents.
    pub fn reader_options(self) -> ReaderOptions {
        let mut options = ReaderOptions::default();
        options.providers = self.0.to_vec();
        options
    }

    /// Returns the agents that keep sessions.
    pub fn with_sessions(self) -> impl Iterator<Item = Provider> {
        self.0.iter().copied().filter(|agent| agent.saved.is_some())
    }

    /// Returns the names of the agents that keep sessions, for messages.
    pub fn names(self) -> String {
        let mut names: Vec<&str> = self.with_sessions().map(|agent| agent.name).collect();
        names.sort_unstable();
        names.join(", ")
    }

    /// Returns those of the named agents that keep sessions; all of them if none is
    /// named. Sessions of the others are found only in folders that a person names.
    pub fn named(self, names: &[String]) -> Result<Vec<Provider>> {
        if names.is_empty() {
            return Ok(self.with_sessions().collect());
        }
        let mut agents = Vec::new();
        for name in names {
            match self.get(name) {
                Some(agent) if agent.saved.is_some() => agents.push(agent),
                Some(_) => {}
                None => bail!("{name} is not known here: name one of {}", self.names()),
            }
        }
        Ok(agents)
    }

    pub(crate) fn saved(self) -> impl Iterator<Item = Saved> {
        self.0.iter().filter_map(|agent| agent.saved)
    }

    /// Returns the id of the session that a sub-agent's file belongs to, empty if the
    /// file does not name it; `None` for the file of a session.
    pub(crate) fn parent(self, file: &SavedFile) -> Option<String> {
        self.saved().find_map(|saved| (saved.parent)(file))
    }

    /// Returns the id in the path of a file that may be a sub-agent's.
    pub(crate) fn record_id(self, path: &Path) -> Option<&str> {
        self.saved().find_map(|saved| (saved.record_id)(path))
    }

    /// Returns the project of a session that does not name it; empty if it cannot be
    /// found out.
    pub(crate) fn project(self, agent: &str, session: &Path) -> String {
        let saved = self.get(agent).and_then(|agent| agent.saved);
        let read = |path: &Path| fs::read_to_string(path).ok();
        let project = saved.and_then(|saved| (saved.project)(session, &read));
        project.unwrap_or_default()
    }

    /// Returns the parts of an agent's sessions that a fork copies.
    pub(crate) fn forks(self, agent: &str) -> Forks {
        let saved = self.get(agent).and_then(|agent| agent.saved);
        saved.map(|saved| saved.forks).unwrap_or_default()
    }

    /// Returns true for a user message that no person wrote.
    pub(crate) fn is_machine_prompt(self, text: &str) -> bool {
        let mut starts = self.saved().flat_map(|saved| saved.machine_prompts);
        starts.any(|start| text.starts_with(start))
    }

    /// Returns the name of an agent that people use.
    pub(crate) fn title(self, agent: &str) -> &str {
        self.get(agent).map_or(agent, |agent| agent.title)
    }

    /// Returns the agents with databases, for messages: `OpenCode or goose`.
    pub(crate) fn with_databases(self) -> String {
        let has_database = |agent: &&Provider| agent.saved.is_some_and(|s| s.database.is_some());
        let titles: Vec<&str> = (self.0.iter().filter(has_database))
            .map(|agent| agent.title)
            .collect();
        titles.join(" or ")
    }
}

/// The environment that decides where sessions are.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The home directory.
    pub home: PathBuf,
    /// The current directory.
    pub current: PathBuf,
    /// Returns the value of a variable; `None` for one that is empty or not set.
    pub variable: fn(&str) -> Option<PathBuf>,
}

impl Environment {
    /// Returns the folders of a place. Projects other than the current one are not
    /// among them.
    pub(crate) fn folders(&self, place: &Place) -> Vec<PathBuf> {
        self.resolve(&place.folder)
    }

    fn resolve(&self, folder: &Folder) -> Vec<PathBuf> {
        match folder {
            Folder::Home {
                variable,
                default,
                below,
            } => {
                let named = (self.variable)(variable).filter(|_| !variable.is_empty());
                vec![named.unwrap_or_else(|| self.home.join(default)).join(below)]
            }
            Folder::Named {
                variable,
                relative_to,
            } => {
                let Some(path) = (self.variable)(variable) else {
                    return Vec::new();
                };
                let folders = self.resolve(relative_to).into_iter();
                folders.map(|folder| folder.join(&path)).collect()
            }
            Folder::Current => vec![self.current.clone()],
            Folder::Projects => {
                let above = self.current.ancestors().map(Path::to_owned);
                above.chain([self.home.clone()]).collect()
            }
            _ => Vec::new(),
        }
    }
}
