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

/// Returns the agents in the order of lists: by title, formats without an agent last.
pub(crate) fn sorted() -> Vec<Provider> {
    let mut agents = known().providers().to_vec();
    agents.sort_by_key(|agent| (!agent.is_agent, agent.title.to_lowercase()));
    agents
}

/// Returns the agents that can be started with a prompt.
pub(crate) fn headless() -> impl Iterator<Item = (&'static str, Headless)> {
    let agents = sorted().into_iter();
    agents.filter_map(|agent| Some((agent.name, agent.headless?)))
}

/// Returns the agents that can be talked to.
pub(crate) fn chats() -> impl Iterator<Item = (&'static str, Chat)> {
    let agents = sorted().into_iter();
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
    let others = sorted();
    let others: Vec<&str> = (others.iter().filter(is_other))
        .map(|agent| agent.name)
        .collect();
    format!(
        "Only sessions of these agents: {}; in folders also {}",
        known.names(),
        others.join(", ")
    )
}

/// Returns the variables that move the agents' places, each once.
pub(crate) fn variables() -> Vec<&'static str> {
    let saved = sorted().into_iter().filter_map(|agent| agent.saved);
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

/// Returns the paths of an agent's sessions as people write them.
pub(crate) fn session_patterns(agent: &Provider) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for place in agent.saved.map_or(&[][..], |saved| saved.places) {
        let folder = match place.folder {
            Folder::Home { default, below, .. } => join(&["~", default, below]),
            Folder::Named { variable, .. } => format!("${variable}"),
            _ => String::new(),
        };
        if place.patterns.is_empty() {
            shown.push(folder.clone());
        }
        let patterns = place.patterns.iter();
        shown.extend(patterns.map(|pattern| join(&[&folder, pattern])));
    }
    shown
}

/// Joins the parts of a path that are not empty.
fn join(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("/")
}
