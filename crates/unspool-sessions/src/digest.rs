//! One pass over a session: what is to be told of it in a list, and its ledger.
//!
//! A digest is what the list, the picker and the statistics show of a session
//! without reading it again; `store` keeps it.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use unspool::Event;
use unspool::event::{Body, RawJson, State as EventState, TurnStatus};
use unspool::stats::Stats;

use crate::agents::Agents;
use crate::beside::is_database_name;
use crate::containers::{Container, Part};
use crate::error::Error;
use crate::input::{Batch, Input};
use crate::ledger::{Clerk, Figures, Key, Ledger};
use crate::open::open_among;
use crate::places::{Candidate, plain};
use crate::related::{RelatedCache, is_sub_agents};

/// Characters that are kept of a prompt or a title.
const LONGEST: usize = 200;
/// Models that are named.
const MODELS: usize = 20;
/// What is known of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    pub agent: String,
    pub version: String,
    /// Its own id; one made of its place where it has none.
    pub id: String,
    /// The folder that it worked in.
    pub project: String,
    pub title: String,
    /// The first thing that a person asked, in one line.
    pub prompt: String,
    /// In milliseconds, as all times.
    pub started: Option<i64>,
    pub ended: Option<i64>,
    pub duration_ms: Option<u64>,
    pub turns: u64,
    pub tools: u64,
    pub failed_tools: u64,
    pub errors: u64,
    pub figures: Figures,
    /// How many times usage was told in a way that tells when.
    pub timed_usage: u64,
    pub models: Vec<String>,
    pub end: End,
    pub forked_from: String,
}

/// How the last turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    #[default]
    Finished,
    Failed,
    /// Somebody stopped it.
    Stopped,
    /// It was cut off, and the record says so.
    Cut,
    /// What was written ends before the turn does.
    Open,
}

/// How a session is at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum State {
    #[serde(rename = "finished")]
    Finished,
    #[serde(rename = "failed")]
    Failed,
    #[serde(rename = "stopped")]
    Stopped,
    #[serde(rename = "cut off")]
    CutOff,
    #[serde(rename = "running")]
    Running,
}

impl State {
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
    /// How the session is, where it is known whether somebody writes it.
    pub fn state(&self, is_written: impl FnOnce() -> bool) -> State {
        match self.end {
            End::Finished => State::Finished,
            End::Failed => State::Failed,
            End::Stopped => State::Stopped,
            End::Open if is_written() => State::Running,
            End::Open | End::Cut => State::CutOff,
        }
    }

    /// What a person knows it by.
    pub fn heading(&self) -> &str {
        if self.title.is_empty() {
            &self.prompt
        } else {
            &self.title
        }
    }
}

/// What a look into a file gave.
pub(crate) enum Outcome {
    Session(Box<Session>),
    /// Nothing to list, and nothing wrong: a sub-agent's record, a file without
    /// a conversation, something else altogether.
    Nothing,
    Skipped(String),
}

/// A session that was read.
pub(crate) struct Session {
    pub(crate) part: String,
    /// Changes when the session does, within a file of several.
    pub(crate) stamp: i64,
    pub(crate) digest: Digest,
    pub(crate) ledger: Ledger,
}

impl Session {
    /// What changes when the session does: it may be all of the file.
    pub(crate) fn stamp_in(&self, file: &Candidate) -> i64 {
        if self.part.is_empty() {
            file.stamp_of_part(file.modified.wrapping_add(file.size.cast_signed()))
        } else {
            file.stamp_of_part(self.stamp)
        }
    }
}

/// Reads a file that holds one session. `own_place` says that it lies where an
/// agent keeps its sessions, and should be one.
pub(crate) fn file(path: &Path, own_place: bool, cache: &RelatedCache) -> Outcome {
    if is_sub_agents(path, cache.agents) {
        return Outcome::Nothing;
    }
    // What is replaced while it is read is read once more.
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

/// What was seen of a session so far.
#[derive(Default)]
struct Reading {
    agents: Agents,
    digest: Digest,
    clerk: Clerk,
    stats: Stats,
    /// Things that were said or done.
    told: u64,
    unknown: u64,
    /// Whether a turn was begun that did not end.
    is_open: bool,
    /// Whether it is a conversation of ours.
    is_chat: bool,
    /// What stands for a prompt where a person wrote none, as for a review.
    second_choice: String,
}

impl Reading {
    fn new(place: &str, agents: Agents) -> Self {
        Self {
            agents,
            clerk: Clerk::new(place, agents),
            ..Self::default()
        }
    }

    fn event(&mut self, event: &Event) {
        self.stats.event(event);
        self.clerk.event(event);
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
                self.told += 1;
                if is_root {
                    self.is_open = true;
                    if self.digest.prompt.is_empty() {
                        self.prompt(&user.text.to_string());
                    }
                } else if self.second_choice.is_empty() {
                    self.second_choice = cut(&user.text.to_string());
                }
            }
            Body::TurnEnd(end) if is_root => {
                self.told += u64::from(end.status != TurnStatus::Interrupted);
                self.is_open = false;
                self.digest.end = match end.status {
                    TurnStatus::Completed => End::Finished,
                    TurnStatus::Failed => End::Failed,
                    TurnStatus::Canceled => End::Stopped,
                    // The reader's own word for a record that just ends has no time.
                    TurnStatus::Interrupted if self.is_chat && time.is_some() => End::Cut,
                    _ => End::Open,
                };
            }
            Body::Unknown(_) => self.unknown += 1,
            Body::Notice(_) | Body::State(_) | Body::TurnEnd(_) => {}
            _ => self.told += 1,
        }
    }

    /// A conversation of ours tells whom it was held with.
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
        if !model.is_empty() && models.len() < MODELS && !models.iter().any(|known| known == model)
        {
            models.push(model.to_owned());
        }
    }

    fn prompt(&mut self, text: &str) {
        let line = cut(text);
        if self.agents.is_machine_prompt(text) {
            if self.second_choice.is_empty() {
                self.second_choice = line;
            }
        } else {
            self.digest.prompt = line;
        }
    }

    fn outcome(mut self, path: &Path, part: &str, stamp: i64, own_place: bool) -> Outcome {
        if self.digest.agent.is_empty() {
            return unclaimed(path, own_place, self.agents);
        }
        if self.told == 0 && self.unknown > 0 {
            let version = match self.digest.version.as_str() {
                "" => String::new(),
                version => format!(" ({} {version})", self.digest.agent),
            };
            return Outcome::Skipped(format!(
                "nothing in it is known here: a new version?{version}"
            ));
        }
        if self.told == 0 {
            return Outcome::Nothing;
        }
        if self.is_open {
            self.digest.end = End::Open;
        }
        let ledger = self.clerk.finish();
        let mut digest = self.digest;
        if digest.prompt.is_empty() {
            digest.prompt = self.second_choice;
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

/// What is to be said of a file that no agent claims. Where anything may lie,
/// only what is broken is worth a word.
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

/// Why something failed, without the path that stands before it anyway.
pub(crate) fn reason(error: &Error, path: &Path) -> String {
    let path = path.display().to_string();
    let words: Vec<String> = error
        .chain()
        .map(|cause| match cause.downcast_ref::<Error>() {
            Some(Error::Io(error)) => plain(error),
            _ => cause.to_string(),
        })
        .collect();
    let telling: Vec<&str> = words
        .iter()
        // The numbers of the database's own errors say nothing to people.
        .filter(|words| !words.ends_with(&path) && !words.starts_with("Error code "))
        .map(|words| words.strip_prefix(&format!("{path} ")).unwrap_or(words))
        .collect();
    telling.join(": ")
}

/// One line, cut.
fn cut(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        for character in word.chars() {
            if length >= LONGEST {
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
