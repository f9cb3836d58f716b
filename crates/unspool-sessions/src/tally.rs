//! Sums over sessions, by agent, model, project, day and tool. Nothing is counted
//! twice, whatever sessions have in common: see `ledger`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::copies;
use crate::ledger::{Activity, Entry, Figures, Key, Ledger};
use crate::library::Library;
use crate::row::Row;

/// Longest chain of forks that is followed.
const GENERATIONS: usize = 100;
/// Largest difference between the times of a live stream and those of the saved
/// session, in milliseconds.
const CLOCK_SKEW: i64 = 30_000;

/// Sums over a group of sessions, or over a part of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Tool calls.
    pub tools: u64,
    /// Tool calls that failed.
    pub failed_tools: u64,
    /// Errors.
    pub errors: u64,
    /// Duration of the turns, or of the calls in the sums of a tool.
    pub ms: u64,
    /// Tokens and cost.
    pub figures: Figures,
}

impl Sums {
    fn add(&mut self, activity: &Activity) {
        match activity {
            Activity::Usage { figures, .. } => self.figures.add(figures),
            Activity::Calls { count, failed, .. } => {
                self.tools += count;
                self.failed_tools += failed;
            }
            Activity::Turns { count, ms, .. } => {
                self.turns += count;
                self.ms = self.ms.saturating_add(*ms);
            }
            Activity::Errors { count, .. } => self.errors += count,
        }
    }
}

/// A key by which sums are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The agent.
    Agent,
    /// The model.
    Model,
    /// The project folder.
    Project,
    /// The day, in the time zone of this machine.
    Day,
    /// The tool that was called.
    Tool,
}

impl By {
    /// Every key.
    pub const ALL: [Self; 5] = [
        Self::Agent,
        Self::Model,
        Self::Project,
        Self::Day,
        Self::Tool,
    ];

    /// Returns the name of the key, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Project => "project",
            Self::Day => "day",
            Self::Tool => "tool",
        }
    }
}

/// The entries that a grouping counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Everything.
    All,
    /// Tool calls only: nothing else can be attributed to a tool.
    Calls,
}

impl Counted {
    fn includes(self, activity: &Activity) -> bool {
        match self {
            Self::All => true,
            Self::Calls => matches!(activity, Activity::Calls { .. }),
        }
    }
}

/// Nested groups, such as by day, and each day by model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouping(Vec<By>);

impl Grouping {
    /// Makes a grouping by these keys, the outermost first. Repeated keys are
    /// dropped.
    pub fn new(mut keys: Vec<By>) -> Self {
        let mut seen = BTreeSet::new();
        keys.retain(|key| seen.insert(*key));
        Self(keys)
    }

    /// Returns the keys, the outermost first.
    pub fn keys(&self) -> &[By] {
        &self.0
    }

    /// Returns the entries that the grouping counts.
    pub fn counted(&self) -> Counted {
        if self.0.contains(&By::Tool) {
            Counted::Calls
        } else {
            Counted::All
        }
    }
}

impl From<By> for Grouping {
    fn from(key: By) -> Self {
        Self(vec![key])
    }
}

/// A group: its names, the outermost first, and its sums.
pub type Group<'a> = (&'a [String], &'a Sums);

/// The sums of a selection.
#[derive(Debug, Default)]
pub struct Tally {
    /// The sum of everything.
    pub total: Sums,
    /// The groups of each grouping, in the order of the request.
    groups: Vec<BTreeMap<Vec<String>, Sums>>,
}

impl Tally {
    /// Returns the groups of a grouping, each followed by its subgroups: days in
    /// order, the others by usage.
    pub fn groups(&self, at: usize, grouping: &Grouping) -> Vec<Group<'_>> {
        let mut found = Vec::new();
        if let Some(groups) = self.groups.get(at) {
            within(groups, grouping.keys(), &[], &mut found);
        }
        found
    }
}

/// Appends the subgroups of `above` to `found`.
fn within<'a>(
    groups: &'a BTreeMap<Vec<String>, Sums>,
    keys: &[By],
    above: &[String],
    found: &mut Vec<Group<'a>>,
) {
    let Some(key) = keys.get(above.len()) else {
        return;
    };
    // Groups with the same prefix are adjacent.
    let below = groups.range(above.to_vec()..);
    let below = below.take_while(|(names, _)| names.starts_with(above));
    let mut level: Vec<Group<'a>> = below
        .filter(|(names, _)| names.len() == above.len() + 1)
        .map(|(names, sums)| (names.as_slice(), sums))
        .collect();
    if *key != By::Day {
        // A stable sort: equal groups stay in the order of their names.
        level.sort_by_key(|(_, sums)| {
            let used = sums.figures.tokens();
            std::cmp::Reverse((used, sums.tools, sums.sessions))
        });
    }
    for (names, sums) in level {
        found.push((names, sums));
        within(groups, keys, names, found);
    }
}

/// A range of times, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// The first time in the range.
    pub since: Option<i64>,
    /// The first time after the range.
    pub until: Option<i64>,
}

impl Span {
    fn contains(&self, time: i64) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

/// Sums up the usage and the activity of these sessions within a range of times.
pub fn tally(library: &Library, rows: &[&Row], span: Span, groupings: &[Grouping]) -> Tally {
    let origins = Origins::new(library.rows());
    let mut counter = Counter {
        tally: Tally {
            total: Sums::default(),
            groups: vec![BTreeMap::new(); groupings.len()],
        },
        groupings,
        span,
        zone: TimeZone::system(),
        keys: HashSet::new(),
        sessions: HashSet::new(),
    };
    let covered = covered_records(library, rows);
    for row in originals_first(rows) {
        let mut ledger = library.ledger(row);
        if let Some(covered) = covered.get(&std::ptr::from_ref(row)) {
            ledger.entries.retain(|entry| covered.lacks(entry));
            if ledger.entries.is_empty() {
                continue;
            }
        }
        counter.session(row, &ledger, origins.first(row));
    }
    counter.tally
}

/// Returns the sessions, origins before forks.
fn originals_first<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut rows: Vec<&Row> = rows.to_vec();
    rows.sort_by_key(|row| {
        let is_fork = !row.digest.forked_from.is_empty();
        (is_fork, row.started(), row.ended(), &row.path)
    });
    rows
}

/// The times of a record that more complete records of the same session cover.
struct Covered {
    /// In milliseconds.
    times: Vec<RangeInclusive<i64>>,
}

impl Covered {
    /// Returns true if no other record can have the entry. One without a time may be
    /// in any of them.
    fn lacks(&self, entry: &Entry) -> bool {
        let is_covered = |time: &i64| self.times.iter().any(|span| span.contains(time));
        !entry.is_positional && entry.time.is_some_and(|time| !is_covered(&time))
    }
}

/// Returns, of several records of one session, all but the most complete one.
fn covered_records(library: &Library, rows: &[&Row]) -> HashMap<*const Row, Covered> {
    let mut sessions: HashMap<copies::SessionKey, Vec<&Row>> = HashMap::new();
    for row in rows {
        sessions.entry(copies::key(row)).or_default().push(row);
    }
    let mut covered = HashMap::new();
    for mut records in sessions.into_values().filter(|records| records.len() > 1) {
        records.sort_by_cached_key(|row| std::cmp::Reverse(copies::completeness(row)));
        let mut better: Vec<RecordKeys<'_>> = Vec::new();
        for row in records {
            let record = RecordKeys::new(row, &library.ledger(row));
            if !better.is_empty() {
                let others = better.iter().filter(|other| !other.shares_start(&record));
                let times = others.map(|other| other.covers(&record)).collect();
                covered.insert(std::ptr::from_ref(row), Covered { times });
            }
            better.push(record);
        }
    }
    covered
}

/// The keys of a record's entries. Records that an agent copied have the same keys. A
/// live stream has other times than the saved session, and so other keys.
struct RecordKeys<'a> {
    row: &'a Row,
    /// The keys of entries with a time, in order: of usage, or of all if there is none.
    keys: Vec<u64>,
}

impl<'a> RecordKeys<'a> {
    fn new(row: &'a Row, ledger: &Ledger) -> Self {
        let has_usage = ledger.timed_usage() > 0;
        let entries = ledger.entries.iter().filter(|entry| !entry.is_positional);
        let entries = entries.filter(|entry| !has_usage || entry.activity.is_usage());
        let keys = entries.map(|entry| entry.key).collect();
        Self { row, keys }
    }

    /// Returns true if one of the two has the first entry of the other.
    fn shares_start(&self, other: &Self) -> bool {
        let starts_in = |one: &Self, other: &Self| {
            let first = one.keys.first();
            first.is_some_and(|first| other.keys.contains(first))
        };
        starts_in(self, other) || starts_in(other, self)
    }

    /// Returns the times that this record covers, as the other one has them.
    fn covers(&self, other: &Self) -> RangeInclusive<i64> {
        if self.keys.is_empty() {
            return i64::MIN..=i64::MAX;
        }
        let (began, ended) = (self.row.started(), self.row.ended());
        let overlaps = other.row.started() <= ended && other.row.ended() >= began;
        let skew = if overlaps { CLOCK_SKEW } else { 0 };
        began.saturating_sub(skew)..=ended.saturating_add(skew)
    }
}

struct Counter<'a> {
    tally: Tally,
    groupings: &'a [Grouping],
    span: Span,
    zone: TimeZone,
    /// The keys that were counted.
    keys: HashSet<u64>,
    sessions: HashSet<(String, String)>,
}

/// The groups that a session belongs to, for each grouping.
type Touched = Vec<BTreeSet<Vec<String>>>;

impl Counter<'_> {
    fn session(&mut self, row: &Row, ledger: &Ledger, origin: &str) {
        let digest = &row.digest;
        let is_new = self
            .sessions
            .insert((digest.agent.clone(), digest.id.clone()));
        let mut touched: Touched = vec![BTreeSet::new(); self.groupings.len()];
        let mut is_within = self.span.contains(row.started());
        if is_within {
            let names = Names::new(row, self.day(row.started()));
            self.touch(&names, None, &mut touched);
        }
        for entry in &ledger.entries {
            let key = Key::new(&digest.agent);
            let key = if ledger.is_keyed_by_origin {
                key.text(origin).number(entry.key)
            } else {
                key.number(entry.key)
            };
            let time = entry.time.unwrap_or_else(|| row.started());
            if !self.span.contains(time) || !self.keys.insert(key.0) {
                continue;
            }
            is_within = true;
            let names = Names::new(row, self.day(time)).with(ledger, &entry.activity);
            self.tally.total.add(&entry.activity);
            self.touch(&names, Some(&entry.activity), &mut touched);
        }
        if !is_new || !is_within {
            return;
        }
        self.tally.total.sessions += 1;
        for (groups, touched) in self.tally.groups.iter_mut().zip(touched) {
            for names in touched {
                groups.entry(names).or_default().sessions += 1;
            }
        }
    }

    /// Adds an entry, or just the session, to the groups of these names and to the
    /// groups around them.
    fn touch(&mut self, names: &Names<'_>, activity: Option<&Activity>, touched: &mut Touched) {
        let groups = self.tally.groups.iter_mut().zip(touched);
        for (grouping, (groups, touched)) in self.groupings.iter().zip(groups) {
            let counted = grouping.counted();
            if !activity.map_or(counted == Counted::All, |activity| {
                counted.includes(activity)
            }) {
                continue;
            }
            let mut path = Vec::new();
            for key in grouping.keys() {
                path.push(names.of(*key).to_owned());
                if !touched.contains(&path) {
                    touched.insert(path.clone());
                    groups.entry(path.clone()).or_default();
                }
                if let (Some(sums), Some(activity)) = (groups.get_mut(&path), activity) {
                    sums.add(activity);
                    if let (Counted::Calls, Activity::Calls { ms, .. }) = (counted, activity) {
                        sums.ms = sums.ms.saturating_add(*ms);
                    }
                }
            }
        }
    }

    /// Returns the day of a time, in the time zone of this machine.
    fn day(&self, ms: i64) -> String {
        let time = Timestamp::from_millisecond(ms).unwrap_or_default();
        time.to_zoned(self.zone.clone()).date().to_string()
    }
}

/// The names of the groups of an entry, by key.
struct Names<'a> {
    agent: &'a str,
    project: &'a str,
    day: String,
    model: &'a str,
    tool: &'a str,
}

impl<'a> Names<'a> {
    fn new(row: &'a Row, day: String) -> Self {
        Self {
            agent: &row.digest.agent,
            project: &row.digest.project,
            day,
            model: row.digest.models.first().map_or("", String::as_str),
            tool: "",
        }
    }

    fn with(mut self, ledger: &'a Ledger, activity: &Activity) -> Self {
        let name = |names: &'a [String], at: usize| names.get(at).map_or("", String::as_str);
        self.model = name(&ledger.models, activity.model());
        if let Activity::Calls { tool, .. } = activity {
            self.tool = name(&ledger.tools, *tool);
        }
        self
    }

    fn of(&self, key: By) -> &str {
        match key {
            By::Agent => self.agent,
            By::Project => self.project,
            By::Day => &self.day,
            By::Model => self.model,
            By::Tool => self.tool,
        }
    }
}

/// The origins of forks, by agent and id.
struct Origins<'a>(HashMap<(&'a str, &'a str), &'a str>);

impl<'a> Origins<'a> {
    fn new(rows: &'a [Row]) -> Self {
        let origin = |row: &'a Row| {
            let digest = &row.digest;
            let name = (digest.agent.as_str(), digest.id.as_str());
            (name, digest.forked_from.as_str())
        };
        Self(rows.iter().map(origin).collect())
    }

    /// Returns the id of the session that a chain of forks started with, as far as it
    /// is known.
    fn first(&self, row: &'a Row) -> &'a str {
        let agent = row.digest.agent.as_str();
        let mut id = row.digest.id.as_str();
        for _ in 0..GENERATIONS {
            match self.0.get(&(agent, id)) {
                Some(origin) if !origin.is_empty() && *origin != id => id = origin,
                _ => break,
            }
        }
        id
    }
}
