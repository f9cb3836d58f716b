//! The agents that this program knows: the library's own, or those that a program
//! built on this crate passed to [`crate::main`].

use std::sync::OnceLock;

use unspool::source::{BUILTIN, CHAT_ONLY, Chat, Folder, Headless, Provider};
use unspool_sessions::agents::Agents;

static KNOWN: OnceLock<Agents> = OnceLock::new();

/// Sets the agents that are known. Only the first call counts.
pub(crate) fn set(providers: &'static [Provider]) {
    let _ = KNOWN.set(Agents::new(providers));
}

/// Returns the agents that are known.
pub(crate) fn known() -> Agents {
    *KNOWN.get_or_init(|| Agents::new(BUILTIN))
}

/// Returns the agents that can be started with a prompt.
pub(crate) fn headless() -> impl Iterator<Item = (&'static str, Headless)> {
    let agents = known().providers().iter();
    agents.filter_map(|agent| Some((agent.name, agent.headless?)))
}

/// Returns the agents that can be talked to.
pub(crate) fn chats() -> impl Iterator<Item = (&'static str, Chat)> {
    let agents = known().providers().iter();
    let agents = agents.filter_map(|agent| Some((agent.name, agent.chat?)));
    agents.chain(CHAT_ONLY.iter().copied())
}

/// Returns the names of the agents that can be started with a prompt.
pub(crate) fn headless_names() -> String {
    let names: Vec<&str> = headless().map(|(name, _)| name).collect();
    names.join(", ")
}

/// Returns the names for the help of `--agent`: those with places of their own, then
/// those whose sessions are only found in folders.
pub(crate) fn session_names() -> String {
    let known = known();
    let is_other = |agent: &&Provider| agent.is_agent && agent.saved.is_none();
    let others = known.providers().iter().filter(is_other);
    let others: Vec<&str> = others.map(|agent| agent.name).collect();
    format!(
        "Only sessions of these agents: {}; in folders also {}",
        known.names(),
        others.join(", ")
    )
}

/// Returns the variables that move the agents' places, each once.
pub(crate) fn variables() -> Vec<&'static str> {
    let saved = known().with_sessions().filter_map(|agent| agent.saved);
    let mut variables: Vec<&str> = Vec::new();
    for place in saved.flat_map(|saved| saved.places) {
        let variable = match place.folder {
            Folder::Home { variable, .. } | Folder::Named { variable, .. } => variable,
            _ => "",
        };
        if !variable.is_empty() && !variables.contains(&variable) {
            variables.push(variable);
        }
    }
    variables
}
