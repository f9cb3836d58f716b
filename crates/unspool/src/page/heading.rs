//! The title and the facts above a run.

use crate::doc::title;
use crate::event::{Body, Event, Session};
use crate::output::About;
use crate::session::{Entry, Item};
use crate::source;
use crate::stats::Stats;

/// Maximum characters of a title that is a prompt.
const LONGEST_TITLE: usize = 120;

/// Collects the heading of a page from events.
#[derive(Default)]
pub(super) struct Heading {
    session: Session,
    /// The first line of the first prompt.
    prompt: String,
    /// The time of the first event.
    began: Option<String>,
    pub(super) stats: Stats,
}

impl Heading {
    pub(super) fn event(&mut self, event: &Event) {
        self.stats.event(event);
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

    /// Returns true if the session or a prompt names the run.
    pub(super) fn has_title(&self) -> bool {
        !self.prompt.is_empty() || !self.session.title.is_empty()
    }

    /// Returns the heading; `fallback` is the title of a run without a name.
    pub(super) fn about(&self, fallback: &str) -> About {
        let session = &self.session;
        let agent = format!("{} {}", self.agent(), session.version);
        let model = [&session.model, &self.stats.model];
        let model = model.into_iter().find(|model| !model.is_empty());
        let facts = [
            ("Agent", agent.trim().to_owned()),
            ("Model", model.cloned().unwrap_or_default()),
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

    /// Returns the name of the agent; empty if the input does not say it.
    fn agent(&self) -> &str {
        let name = self.session.provider.as_str();
        match source::provider(name) {
            Some(provider) if provider.name == source::unspool::PROVIDER.name => "",
            Some(provider) => provider.about.split(':').next().unwrap_or_default(),
            None => name,
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
}
