//! Reads a session once, for its digest and its ledger.
//!
//! A digest is what lists and statistics show of a session without reading it again.
//! `store` caches it.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use unspool::Event;
use unspool::doc::title;
use unspool::event::{Body, RawJson, State as EventState, TurnStatus};
use unspool::stats::Stats;

use crate::agents::Agents;
use crate::beside::is_database_name;
use crate::containers::{Container, Part};
use crate::error::Error;
use crate::input::{Batch, Input};
use crate::ledger::{Figures, Key, Ledger, LedgerBuilder};
use crate::open::open_among;
use crate::places::{Candidate, plain};
use crate::related::{RelatedCache, is_sub_agents};

/// Maximum number of characters of a prompt or a title.
const MAX_CHARACTERS: usize = 200;
/// Maximum number of models.
const MAX_MODELS: usize = 20;

/// A summary of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    /// The agent's name.
    pub agent: String,
    /// The agent's version.
    pub version: String,
    /// Its id, or one made of its place if it has none.
    pub id: String,
    /// The folder that the agent worked in.
    pub project: String,
    /// Its title, in one line.
    pub title: String,
    /// The first prompt of a person, in one line.
    pub prompt: String,
    /// The first time in it, in milliseconds.
    pub started: Option<i64>,
    /// The last time in it, in milliseconds.
    pub ended: Option<i64>,
    /// The duration of its turns.
    pub duration_ms: Option<u64>,
    /// The number of turns.
    pub turns: u64,
    /// The number of tool calls.
    pub tools: u64,
    /// The number of tool calls that failed.
    pub failed_tools: u64,
    /// The number of errors.
    pub errors: u64,
    /// Tokens and cost.
    pub figures: Figures,
    /// The number of usage entries with a time.
    pub timed_usage: u64,
    /// The models, in the order of their use.
    pub models: Vec<String>,
    /// The end of the last turn.
    pub end: End,
    /// The id of the session that it was forked from.
    pub forked_from: String,
}

/// The end of the last turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It was completed.
    #[default]
    Finished,
    /// It failed.
    Failed,
    /// A person stopped it.
    Stopped,
    /// It was cut off, according to the record.
    Cut,
    /// The record ends before the turn does.
    Open,
}

/// The current state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum State {
    /// The last turn was completed.
    #[serde(rename = "finished")]
    Finished,
    /// The last turn failed.
    #[serde(rename = "failed")]
    Failed,
    /// A person stopped the last turn.
    #[serde(rename = "stopped")]
    Stopped,
    /// The last turn was cut off.
    #[serde(rename = "cut off")]
    CutOff,
    /// The session is being written.
    #[serde(rename = "running")]
    Running,
}

impl State {
    /// Returns the name of the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::CutOff => "cut off",
            Self::Running => "running",
        }
    }
}

impl Digest {
    /// Returns the state of the session. `is_written` returns true if it is being
    /// written.
    pub fn state(&self, is_written: impl FnOnce() -> bool) -> State {
        match self.end {
            End::Finished => State::Finished,
            End::Failed => State::Failed,
            End::Stopped => State::Stopped,
            End::Open if is_written() => State::Running,
            End::Open | End::Cut => State::CutOff,
        }
    }

    /// Returns the title, or else the first prompt, as plain text: lists show no
    /// Markdown.
    pub fn heading(&self) -> String {
        title::plain(if self.title.is_empty() {
            &self.prompt
        } else {
            &self.title
        })
    }
}

/// The result of reading a file.
pub(crate) enum Outcome {
    Session(Box<Session>),
    /// Nothing to list, and no error: a sub-agent's record, a file without a
    /// conversation, a file of another kind.
    Nothing,
    Skipped(String),
}

/// A session that was read.
pub(crate) struct Session {
    pub(crate) part: String,
    /// Differs after the session changed, within a file of several.
    pub(crate) stamp: i64,
    pub(crate) digest: Digest,
    pub(crate) ledger: Ledger,
}

impl Session {
    /// Returns a number that differs after the session or its file changed.
    pub(crate) fn stamp_in(&self, file: &Candidate) -> i64 {
        if self.part.is_empty() {
            file.stamp_of_part(file.modified.wrapping_add(file.size.cast_signed()))
        } else {
            file.stamp_of_part(self.stamp)
        }
    }
}

/// Reads a file that holds one session. `own_place` is true for a file in the place of
/// an agent, which should be a session.
pub(crate) fn file(path: &Path, own_place: bool, cache: &RelatedCache) -> Outcome {
    if is_sub_agents(path, cache.agents) {
        return Outcome::Nothing;
    }
    // A file that is replaced while it is read is read once more.
    for _ in 0..2 {
        let before = fs::metadata(path).map(|file| file.len());
        let outcome = one(path, own_place, cache);
        let after = fs::metadata(path).map(|file| file.len());
        if let (Ok(before), Ok(after)) = (before, after)
            && after >= before
        {
            return outcome;
        }
    }
    Outcome::Skipped("changed while it was read".to_owned())
}

fn one(path: &Path, own_place: bool, cache: &RelatedCache) -> Outcome {
    let inputs = match open_among(path, None, cache.agents, Some(cache)) {
        Ok(inputs) => inputs,
        Err(error) => return Outcome::Skipped(reason(&error, path)),
    };
    let Some(mut input) = inputs.into_iter().next() else {
        return Outcome::Nothing;
    };
    match read(&mut input, &path.to_string_lossy(), None, cache.agents) {
        Ok(reading) => reading.outcome(path, "", 0, own_place),
        Err(error) => Outcome::Skipped(plain(&error)),
    }
}

/// Reads one session of a file with several.
pub(crate) fn part(container: &Container, path: &Path, part: &Part, agents: Agents) -> Outcome {
    let mut input = match container.input(&part.id) {
        Ok(input) => input,
        Err(error) => return Outcome::Skipped(reason(&error, path)),
    };
    let place = format!("{} {}", path.display(), part.id);
    match read(&mut input, &place, local_time(&part.started), agents) {
        Ok(reading) => reading.outcome(path, &part.id, part.stamp, true),
        Err(error) => Outcome::Skipped(plain(&error)),
    }
}

fn read(
    input: &mut Input,
    place: &str,
    started: Option<i64>,
    agents: Agents,
) -> io::Result<Reading> {
    let mut reading = Reading::new(place, agents);
    reading.digest.started = started;
    let read = input.events(agents.reader_options(), |batch| {
        if let Batch::Event(event) = batch {
            reading.event(&event);
        }
        Ok::<_, Infallible>(())
    });
    read.unwrap_or_else(|never| match never {})?;
    Ok(reading)
}

/// A session that is being read.
#[derive(Default)]
struct Reading {
    agents: Agents,
    digest: Digest,
    ledger: LedgerBuilder,
    stats: Stats,
    /// The number of events with content.
    content: u64,
    unknown: u64,
    /// A turn has started and not ended.
    is_open: bool,
    /// It is a conversation that unspool recorded.
    is_chat: bool,
    /// The prompt of a session without one of a person, such as a review.
    fallback_prompt: String,
}

impl Reading {
    fn new(place: &str, agents: Agents) -> Self {
        Self {
            agents,
            ledger: LedgerBuilder::new(place, agents),
            ..Self::default()
        }
    }

    fn event(&mut self, event: &Event) {
        self.stats.event(event);
        self.ledger.event(event);
        let is_root = event.agent.is_none();
        let time = event.time.as_deref();
        let time = time.and_then(|time| time.parse::<Timestamp>().ok());
        if let Some(time) = time.map(Timestamp::as_millisecond) {
            let digest = &mut self.digest;
            digest.started = Some(digest.started.map_or(time, |started| started.min(time)));
            digest.ended = Some(digest.ended.map_or(time, |ended| ended.max(time)));
        }
        match &event.body {
            Body::Session(session) if is_root => self.session(session),
            Body::State(state) if state.name == EventState::CONVERSATION => self.about(state),
            Body::Session(session) => self.model(&session.model),
            Body::User(user) => {
                self.content += 1;
                if is_root {
                    self.is_open |= !event.replayed;
                    if self.digest.prompt.is_empty() {
                        self.prompt(&user.text.to_string());
                    }
                } else if self.fallback_prompt.is_empty() {
                    self.fallback_prompt = cut(&user.text.to_string());
                }
            }
            Body::TurnEnd(end) if is_root => {
                self.content += u64::from(end.status != TurnStatus::Interrupted);
                self.is_open = false;
                self.digest.end = match end.status {
                    TurnStatus::Completed => End::Finished,
                    TurnStatus::Failed => End::Failed,
                    TurnStatus::Canceled => End::Stopped,
                    // The end that the reader adds to a record that just ends has no time.
                    TurnStatus::Interrupted if self.is_chat && time.is_some() => End::Cut,
                    _ => End::Open,
                };
            }
            Body::Unknown(_) => self.unknown += 1,
            Body::Notice(_) | Body::State(_) | Body::TurnEnd(_) => {}
            _ => self.content += 1,
        }
    }

    /// Takes the agent's name from a conversation that unspool recorded.
    fn about(&mut self, state: &EventState) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct About {
            agent: String,
        }
        self.is_chat = true;
        let value = state.value.as_ref().map_or("", RawJson::get);
        let about: About = serde_json::from_str(value).unwrap_or_default();
        if self.digest.agent.is_empty() {
            self.digest.agent = unspool::tool::label(&about.agent);
        }
    }

    fn session(&mut self, session: &unspool::event::Session) {
        let digest = &mut self.digest;
        for (kept, new) in [
            (&mut digest.agent, &session.provider),
            (&mut digest.version, &session.version),
            (&mut digest.id, &session.id),
            (&mut digest.project, &session.cwd),
            (&mut digest.forked_from, &session.forked_from),
        ] {
            if kept.is_empty() {
                kept.clone_from(new);
            }
        }
        if !session.title.is_empty() {
            digest.title = cut(&session.title);
        }
        self.model(&session.model);
    }

    fn model(&mut self, model: &str) {
        let models = &mut self.digest.models;
        if !model.is_empty()
            && models.len() < MAX_MODELS
            && !models.iter().any(|known| known == model)
        {
            models.push(model.to_owned());
        }
    }

    fn prompt(&mut self, text: &str) {
        let line = cut(text);
        if self.agents.is_machine_prompt(text) {
            if self.fallback_prompt.is_empty() {
                self.fallback_prompt = line;
            }
        } else {
            self.digest.prompt = line;
        }
    }

    fn outcome(mut self, path: &Path, part: &str, stamp: i64, own_place: bool) -> Outcome {
        if self.digest.agent.is_empty() {
            return unclaimed(path, own_place, self.agents);
        }
        if self.content == 0 && self.unknown > 0 {
            let version = match self.digest.version.as_str() {
                "" => String::new(),
                version => format!(" ({} {version})", self.digest.agent),
            };
            return Outcome::Skipped(format!(
                "nothing in it is known here: a new version?{version}"
            ));
        }
        if self.content == 0 {
            return Outcome::Nothing;
        }
        if self.is_open {
            self.digest.end = End::Open;
        }
        let ledger = self.ledger.finish();
        let mut digest = self.digest;
        if digest.prompt.is_empty() {
            digest.prompt = self.fallback_prompt;
        }
        if digest.id.is_empty() {
            let place = Key::new(&path.to_string_lossy()).0;
            let part = if part.is_empty() {
                String::new()
            } else {
                format!("-{part}")
            };
            digest.id = format!("{}-{:08x}{part}", digest.agent, place >> 32);
        }
        if digest.project.is_empty() {
            digest.project = self.agents.project(&digest.agent, path);
        }
        digest.turns = self.stats.turns;
        // A result may come without its call.
        digest.tools = self.stats.tools.max(self.stats.failed_tools);
        digest.failed_tools = self.stats.failed_tools;
        digest.errors = self.stats.errors;
        digest.duration_ms = self.stats.duration_ms();
        digest.figures = ledger.figures();
        digest.timed_usage = ledger.timed_usage();
        Outcome::Session(Box::new(Session {
            part: part.to_owned(),
            stamp,
            digest,
            ledger,
        }))
    }
}

/// Returns the outcome for a file that no agent recognises. Outside of an agent's place
/// only broken files are reported.
fn unclaimed(path: &Path, own_place: bool, agents: Agents) -> Outcome {
    let name = path.to_string_lossy();
    if is_database_name(path) {
        let agents = agents.with_databases();
        return Outcome::Skipped(format!("not a database of {agents}"));
    }
    let is_packed = name.ends_with(".zst") || name.ends_with(".gz");
    let is_whole = is_packed
        || fs::File::open(path).is_ok_and(|file| {
            let values = serde_json::Deserializer::from_reader(io::BufReader::new(file));
            let mut values = values.into_iter::<serde::de::IgnoredAny>();
            values.all(|value| value.is_ok())
        });
    if !is_whole {
        Outcome::Skipped("broken or half-written JSON".to_owned())
    } else if own_place && fs::metadata(path).is_ok_and(|file| file.len() > 0) {
        Outcome::Skipped("not a session that is known here".to_owned())
    } else {
        Outcome::Nothing
    }
}

/// Returns the text of an error without the path, which is printed before it.
pub(crate) fn reason(error: &Error, path: &Path) -> String {
    let path = path.display().to_string();
    let words: Vec<String> = error
        .chain()
        .map(|cause| {
            // The cause of an error is boxed.
            let boxed = cause.downcast_ref::<Box<Error>>().map(Box::as_ref);
            match boxed.or_else(|| cause.downcast_ref::<Error>()) {
                Some(Error::Io(error)) => plain(error),
                _ => cause.to_string(),
            }
        })
        .collect();
    let reasons: Vec<&str> = words
        .iter()
        // SQLite's error numbers do not help people.
        .filter(|words| !words.ends_with(&path) && !words.starts_with("Error code "))
        .map(|words| words.strip_prefix(&format!("{path} ")).unwrap_or(words))
        .collect();
    reasons.join(": ")
}

/// Returns the text as one line, truncated.
fn cut(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        for character in word.chars() {
            if length >= MAX_CHARACTERS {
                line.push('…');
                return line;
            }
            line.push(character);
            length += 1;
        }
    }
    line
}

/// Returns a local time in the zone of this machine, in milliseconds.
fn local_time(text: &str) -> Option<i64> {
    let time: jiff::civil::DateTime = text.parse().ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::system()).ok()?;
    Some(time.timestamp().as_millisecond())
}
