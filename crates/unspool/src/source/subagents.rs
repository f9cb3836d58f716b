//! Files of sub-agents that lie beside a saved session: one `.jsonl` each, and
//! for some agents a `.meta.json` about it.

use std::sync::Arc;

use crate::json::Json;

/// Files that were attached and not replayed yet.
#[derive(Clone)]
pub(super) struct SubagentFiles<T = ()>(Vec<SubagentFile<T>>);

/// The record of one sub-agent.
#[derive(Clone, Default)]
pub(super) struct SubagentFile<T = ()> {
    /// The file's name without its endings.
    pub(super) stem: String,
    /// Shared, because a reader may be copied at any time.
    pub(super) text: Arc<str>,
    /// The call that started the agent; empty if unknown.
    pub(super) call: String,
    /// The agent's name; empty if unknown.
    pub(super) name: String,
    pub(super) depth: Option<u32>,
    /// Facts by which a provider assigns the file to a call.
    pub(super) details: T,
}

impl<T> Default for SubagentFiles<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> SubagentFiles<T> {
    /// Adds a record or the data about one. `details` reads the text of a
    /// record.
    pub(super) fn attach(&mut self, name: &str, bytes: &[u8], details: impl FnOnce(&str) -> T) {
        let name = name.rsplit('/').next().unwrap_or(name);
        let text = String::from_utf8_lossy(bytes);
        if let Some(stem) = name.strip_suffix(".meta.json") {
            let meta = Json::parse(&text).unwrap_or_default().object();
            let depth = meta.get("spawnDepth").u64();
            let file = self.file(stem);
            file.call = meta.get("toolUseId").string();
            file.name = meta.get("agentType").string();
            file.depth = depth.and_then(|depth| u32::try_from(depth).ok());
        } else {
            let file = self.file(name.strip_suffix(".jsonl").unwrap_or(name));
            file.details = details(&text);
            file.text = text.into();
        }
    }

    /// Removes the first file that matches.
    pub(super) fn take(
        &mut self,
        is_it: impl FnMut(&SubagentFile<T>) -> bool,
    ) -> Option<SubagentFile<T>> {
        let index = self.0.iter().position(is_it)?;
        Some(self.0.remove(index))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &SubagentFile<T>> {
        self.0.iter()
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&SubagentFile<T>) -> bool) {
        self.0.retain(keep);
    }

    /// Returns the last file, made to be the one with this stem.
    fn file(&mut self, stem: &str) -> &mut SubagentFile<T> {
        let known = self.take(|file| file.stem == stem);
        let index = self.0.len();
        self.0.push(known.unwrap_or_default());
        let file = &mut self.0[index];
        stem.clone_into(&mut file.stem);
        file
    }
}
