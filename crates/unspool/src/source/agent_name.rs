//! The name of the agent of a run, as people know it.

use super::{BUILTIN, acp, provider};
use crate::event::{Body, Event};
use crate::json::Json;
use crate::sanitize;

/// The name of the agent, from the events of its run.
///
/// It is the [`title`](super::Provider::title) of the provider. An agent over ACP
/// introduces itself; then it is the name that it gives.
///
/// ```
/// use unspool::Event;
/// use unspool::source::AgentName;
///
/// let mut name = AgentName::default();
/// name.event(&Event::from_json(r#"{"kind":"session","provider":"claude"}"#)?);
/// assert_eq!(name.as_str(), "Claude Code");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AgentName {
    name: String,
    /// True if the agent introduced itself.
    is_introduced: bool,
}

impl AgentName {
    /// Takes the next event.
    pub fn event(&mut self, event: &Event) {
        match &event.body {
            Body::Session(session) if event.agent.is_none() && !session.provider.is_empty() => {
                if session.provider != acp::PROVIDER.name {
                    self.is_introduced = false;
                }
                if !self.is_introduced {
                    self.name = title(&session.provider);
                }
            }
            Body::State(state) if state.name == "agent" => {
                let value = state
                    .value
                    .as_ref()
                    .map_or(Json::NULL, |value| value.json());
                if let Some(name) = introduced(value) {
                    self.name = name;
                    self.is_introduced = true;
                }
            }
            _ => {}
        }
    }

    /// Returns the name, escaped; empty if the input does not say it.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Returns the title of a provider, or the name of one that is not built in.
/// Formats that no agent writes have none.
fn title(name: &str) -> String {
    match provider(name) {
        Some(provider) if !provider.is_agent => String::new(),
        Some(provider) => provider.title.to_owned(),
        None => sanitize::line(name).into_owned(),
    }
}

/// Returns the name in the answer to `initialize`.
fn introduced(answer: Json<'_>) -> Option<String> {
    let info = [answer.get("agentInfo"), answer.get("info")];
    let info = info.into_iter().find(|info| info.is_object())?;
    let title = info.get("title").string();
    if !title.trim().is_empty() {
        return Some(sanitize::line(title.trim()).into_owned());
    }
    // The name of a package: `@scope/name`.
    let name = info.get("name").string();
    let name = name.trim().rsplit('/').next().unwrap_or_default();
    let folded = |text: &str| text.to_lowercase().replace(' ', "-");
    let known = BUILTIN.iter().filter(|provider| provider.is_agent);
    let mut known = known.filter(|provider| provider.name != acp::PROVIDER.name);
    let is_it = |known: &&super::Provider| {
        [known.name, known.title]
            .iter()
            .any(|known| folded(known) == folded(name))
    };
    let name = known.find(is_it).map_or(name, |provider| provider.title);
    (!name.is_empty()).then(|| sanitize::line(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(lines: &[&str]) -> String {
        let mut name = AgentName::default();
        for line in lines {
            name.event(&Event::from_json(line).unwrap());
        }
        name.as_str().to_owned()
    }

    #[test]
    fn agents_have_their_short_names() {
        for (provider, shown) in [
            ("aider", "aider"),
            ("claude", "Claude Code"),
            ("codalotl", "codalotl"),
            ("raw", ""),
            ("unspool", ""),
            ("my-agent", "my-agent"),
        ] {
            let session = format!(r#"{{"kind":"session","provider":"{provider}"}}"#);
            assert_eq!(name(&[&session]), shown);
        }
    }

    #[test]
    fn agents_over_acp_introduce_themselves() {
        let session = r#"{"kind":"session","provider":"acp"}"#;
        for (info, shown) in [
            (
                r#"{"name":"gemini-cli","title":"Gemini CLI"}"#,
                "Gemini CLI",
            ),
            (r#"{"name":"gemini-cli"}"#, "Gemini CLI"),
            (r#"{"name":"@scope/qwen-code","title":""}"#, "Qwen Code"),
            (r#"{"name":"opencode"}"#, "OpenCode"),
            (r#"{"name":"goose","version":"1"}"#, "goose"),
            (r#"{"name":"a\u001b[2Jb"}"#, r"a\x1B[2Jb"),
            ("{}", "Agent Client Protocol"),
        ] {
            let state = format!(
                r#"{{"kind":"state","name":"agent","value":{{"protocolVersion":1,"agentInfo":{info}}}}}"#
            );
            assert_eq!(name(&[session, &state, session]), shown);
        }
    }
}
