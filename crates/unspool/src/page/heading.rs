//! The title and the facts above a run.

use crate::doc::title;
use crate::event::{Body, Event, Session};
use crate::output::About;
use crate::session::{Entry, Item};
use crate::source::AgentName;
use crate::stats::Stats;

/// Maximum characters of a title that is a prompt.
const LONGEST_TITLE: usize = 120;

/// Collects the heading of a page from events.
#[derive(Default)]
pub(super) struct Heading {
    session: Session,
    /// The first line of the first prompt.
    prompt: String,
    agent: AgentName,
    /// The models in the heading.
    models: Vec<String>,
    /// The time of the first event.
    began: Option<String>,
    stats: Stats,
}

impl Heading {
    pub(super) fn event(&mut self, event: &Event) {
        self.stats.event(event);
        self.agent.event(event);
        if self.began.is_none() {
            self.began.clone_from(&event.time);
        }
        if let (Body::Session(session), None) = (&event.body, &event.agent) {
            merge(&mut self.session, session);
            if !session.title.is_empty() {
                self.session.title = title::plain(&session.title);
            }
        }
    }

    pub(super) fn entry(&mut self, entry: &Entry) {
        if let (true, None, Item::User(user)) = (self.prompt.is_empty(), &entry.agent, &entry.item)
        {
            self.prompt = first_line(&user.text.as_str());
        }
    }

    /// Returns true if the run has a title and a model. Many agents name the
    /// model in their first answer.
    pub(super) fn is_complete(&self) -> bool {
        let has_title = !self.prompt.is_empty() || !self.session.title.is_empty();
        has_title && !self.stats.models().is_empty()
    }

    /// Returns the figures below a run, with the models if the heading does not
    /// name all of them.
    pub(super) fn figures(&self) -> Vec<(String, String)> {
        let models = self.stats.models();
        let all = (models != self.models).then(|| ("Models".to_owned(), models.join(", ")));
        all.into_iter().chain(self.stats.figures()).collect()
    }

    /// Returns the heading; `fallback` is the title of a run without a name.
    pub(super) fn about(&mut self, fallback: &str) -> About {
        let session = &self.session;
        let agent = format!("{} {}", self.agent.as_str(), session.version);
        self.models = self.stats.models().to_vec();
        let facts = [
            ("Agent", agent.trim().to_owned()),
            ("Model", self.models.join(", ")),
            ("Folder", session.cwd.clone()),
            (
                "Began",
                self.began.as_deref().map(minute).unwrap_or_default(),
            ),
        ];
        let named = [session.title.as_str(), &self.prompt];
        let title = named.into_iter().find(|title| !title.is_empty());
        About {
            title: title.unwrap_or(fallback).to_owned(),
            facts: facts
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }
    }
}

/// Overwrites what is known of a session with what is new.
fn merge(known: &mut Session, new: &Session) {
    let fields = [
        (&mut known.provider, &new.provider),
        (&mut known.version, &new.version),
        (&mut known.id, &new.id),
        (&mut known.model, &new.model),
        (&mut known.cwd, &new.cwd),
        (&mut known.title, &new.title),
    ];
    for (known, new) in fields {
        if !new.is_empty() {
            known.clone_from(new);
        }
    }
}

fn first_line(text: &str) -> String {
    let line = title::first_line(text);
    let mut title: String = line.chars().take(LONGEST_TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

/// Formats a time to the minute.
fn minute(time: &str) -> String {
    let time: Result<jiff::Timestamp, _> = time.parse();
    time.map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(lines: &[&str]) -> About {
        let mut heading = Heading::default();
        for line in lines {
            let event = Event::from_json(line).unwrap();
            heading.event(&event);
            if let Body::User(user) = event.body {
                heading.entry(&Entry::new(Item::User(user)));
            }
        }
        heading.about("fallback")
    }

    #[test]
    fn a_title_is_plain_text() {
        let title = |line: &str| heading(&[line]).title;
        let user = r#"{"kind":"user","text":"\n## **Fix** `x`\nnow"}"#;
        assert_eq!(title(user), "Fix x");
        let named = r#"{"kind":"session","title":"**Sort** a_b"}"#;
        assert_eq!(title(named), "Sort a_b");
        assert_eq!(title(r#"{"kind":"session"}"#), "fallback");
    }

    #[test]
    fn the_models_of_a_run_are_named() {
        let model = |name: &str| format!(r#"{{"kind":"session","model":"{name}"}}"#);
        let text = r#"{"kind":"text","id":"a","text":"x"}"#;
        let user = r#"{"kind":"user","text":"do it"}"#;
        let mut heading = Heading::default();
        let mut take = |line: &str| {
            let event = Event::from_json(line).unwrap();
            heading.event(&event);
            if let Body::User(user) = event.body {
                heading.entry(&Entry::new(Item::User(user)));
            }
            heading.is_complete()
        };
        assert!(!take(r#"{"kind":"session","provider":"claude"}"#));
        assert!(!take(user), "the model is named in the answer");
        assert!(take(&model("one")));
        take(text);
        let about = heading.about("");
        let fact = |name: &str| {
            let facts = about.facts.iter();
            facts
                .filter(|(fact, _)| fact == name)
                .map(|(_, value)| value.as_str())
                .collect::<String>()
        };
        assert_eq!(
            (fact("Agent"), fact("Model")),
            ("Claude Code".to_owned(), "one".to_owned())
        );
        assert!(heading.figures().iter().all(|(name, _)| name != "Models"));
        for line in [&model("two"), text] {
            heading.event(&Event::from_json(line).unwrap());
        }
        let models = ("Models".to_owned(), "one, two".to_owned());
        assert_eq!(heading.figures().first(), Some(&models));
    }
}
