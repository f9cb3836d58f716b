//! What sessions amount to, by agent, model, project, day and tool. Nothing is
//! counted twice, whatever sessions have in common: see `ledger`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::copies;
use crate::ledger::{Entry, Figures, Key, Ledger, What};
use crate::library::Library;
use crate::row::Row;

/// Forks of forks that are followed.
const GENERATIONS: usize = 100;
/// How much later a live stream may tell something than what is saved, or the
/// other way round, in milliseconds.
const LATE: i64 = 30_000;

/// Figures of a group of sessions, or of a part of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    pub sessions: u64,
    pub turns: u64,
    pub tools: u64,
    pub failed_tools: u64,
    pub errors: u64,
    /// What turns took; what calls took, in sums of a tool.
    pub ms: u64,
    pub figures: Figures,
}

impl Sums {
    fn add(&mut self, what: &What) {
        match what {
            What::Usage { figures, .. } => self.figures.add(figures),
            What::Calls { count, failed, .. } => {
                self.tools += count;
                self.failed_tools += failed;
            }
            What::Turns { count, ms, .. } => {
                self.turns += count;
                self.ms = self.ms.saturating_add(*ms);
            }
            What::Errors { count, .. } => self.errors += count,
        }
    }
}

/// What is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    Agent,
    Model,
    Project,
    Day,
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

/// Which figures can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    All,
    /// Calls: those of a tool.
    Calls,
}

impl Told {
    fn holds(self, what: &What) -> bool {
        match self {
            Self::All => true,
            Self::Calls => matches!(what, What::Calls { .. }),
        }
    }
}

/// Groups within groups: by day, and each day by model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouping(Vec<By>);

impl Grouping {
    pub fn new(mut keys: Vec<By>) -> Self {
        let mut seen = BTreeSet::new();
        keys.retain(|key| seen.insert(*key));
        Self(keys)
    }

    pub fn keys(&self) -> &[By] {
        &self.0
    }

    pub fn told(&self) -> Told {
        if self.0.contains(&By::Tool) {
            Told::Calls
        } else {
            Told::All
        }
    }
}

impl From<By> for Grouping {
    fn from(key: By) -> Self {
        Self(vec![key])
    }
}

/// A group: its names, the outermost first, and its figures.
pub type Group<'a> = (&'a [String], &'a Sums);

/// The figures of a selection.
#[derive(Debug, Default)]
pub struct Tally {
    pub total: Sums,
    /// For each grouping, in the order in which they were asked for.
    groups: Vec<BTreeMap<Vec<String>, Sums>>,
}

impl Tally {
    /// The groups of a grouping and those within them, each before its own: days
    /// in order, the others by what they used.
    pub fn groups(&self, at: usize, grouping: &Grouping) -> Vec<Group<'_>> {
        let mut found = Vec::new();
        if let Some(groups) = self.groups.get(at) {
            within(groups, grouping.keys(), &[], &mut found);
        }
        found
    }
}

/// Puts the groups below `above` into `found`.
fn within<'a>(
    groups: &'a BTreeMap<Vec<String>, Sums>,
    keys: &[By],
    above: &[String],
    found: &mut Vec<Group<'a>>,
) {
    let Some(key) = keys.get(above.len()) else {
        return;
    };
    // What begins alike stands side by side.
    let below = groups.range(above.to_vec()..);
    let below = below.take_while(|(names, _)| names.starts_with(above));
    let mut level: Vec<Group<'a>> = below
        .filter(|(names, _)| names.len() == above.len() + 1)
        .map(|(names, sums)| (names.as_slice(), sums))
        .collect();
    if *key != By::Day {
        // Stable: names decide between equals.
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

/// Which times count, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    pub since: Option<i64>,
    pub until: Option<i64>,
}

impl Span {
    fn holds(&self, time: i64) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

/// Adds up what these sessions used and did within a span of time.
pub fn tally(library: &Library, rows: &[&Row], span: Span, groupings: &[Grouping]) -> Tally {
    let families = Families::new(library.rows());
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
    let lesser = lesser_records(library, rows);
    for row in originals_first(rows) {
        let mut ledger = library.ledger(row);
        if let Some(lesser) = lesser.get(&std::ptr::from_ref(row)) {
            ledger.entries.retain(|entry| lesser.is_own(entry));
            if ledger.entries.is_empty() {
                continue;
            }
        }
        counter.session(row, &ledger, families.root(row));
    }
    counter.tally
}

/// The sessions, origins before forks.
fn originals_first<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut rows: Vec<&Row> = rows.to_vec();
    rows.sort_by_key(|row| {
        let is_fork = !row.digest.forked_from.is_empty();
        (is_fork, row.started(), row.ended(), &row.path)
    });
    rows
}

/// What of a record is told by others of the same session that tell more.
struct Lesser {
    /// Times that those cover, in milliseconds.
    covered: Vec<RangeInclusive<i64>>,
}

impl Lesser {
    /// Whether an entry is told by no other. What has no time may be in any.
    fn is_own(&self, entry: &Entry) -> bool {
        let is_covered = |time: &i64| self.covered.iter().any(|span| span.contains(time));
        !entry.by_place && entry.time.is_some_and(|time| !is_covered(&time))
    }
}

/// Of several records of one session, all but the one that tells most.
fn lesser_records(library: &Library, rows: &[&Row]) -> HashMap<*const Row, Lesser> {
    let mut sessions: HashMap<copies::Name, Vec<&Row>> = HashMap::new();
    for row in rows {
        sessions.entry(copies::name(row)).or_default().push(row);
    }
    let mut lesser = HashMap::new();
    for mut records in sessions.into_values().filter(|records| records.len() > 1) {
        records.sort_by_cached_key(|row| std::cmp::Reverse(copies::worth(row)));
        let mut greater: Vec<Notation<'_>> = Vec::new();
        for row in records {
            let record = Notation::new(row, &library.ledger(row));
            if !greater.is_empty() {
                let others = greater.iter().filter(|other| !other.is_like(&record));
                let covered = others.map(|other| other.covers(&record)).collect();
                lesser.insert(std::ptr::from_ref(row), Lesser { covered });
            }
            greater.push(record);
        }
    }
    lesser
}

/// How a record tells of its session. Those that an agent copied have the same
/// keys; a live stream has other times than what is saved, and the same is told
/// with other keys.
struct Notation<'a> {
    row: &'a Row,
    /// Keys of what has a time, in order: usage, or all if there is none.
    keys: Vec<u64>,
}

impl<'a> Notation<'a> {
    fn new(row: &'a Row, ledger: &Ledger) -> Self {
        let has_usage = ledger.timed_usage() > 0;
        let entries = ledger.entries.iter().filter(|entry| !entry.by_place);
        let entries = entries.filter(|entry| !has_usage || entry.what.is_usage());
        let keys = entries.map(|entry| entry.key).collect();
        Self { row, keys }
    }

    /// Whether one of the two begins in the other.
    fn is_like(&self, other: &Self) -> bool {
        let begins_in = |one: &Self, other: &Self| {
            let first = one.keys.first();
            first.is_some_and(|first| other.keys.contains(first))
        };
        begins_in(self, other) || begins_in(other, self)
    }

    /// The times that this one tells of, as the other would have them.
    fn covers(&self, other: &Self) -> RangeInclusive<i64> {
        if self.keys.is_empty() {
            return i64::MIN..=i64::MAX;
        }
        let (began, ended) = (self.row.started(), self.row.ended());
        let is_at_once = other.row.started() <= ended && other.row.ended() >= began;
        let late = if is_at_once { LATE } else { 0 };
        began.saturating_sub(late)..=ended.saturating_add(late)
    }
}

struct Counter<'a> {
    tally: Tally,
    groupings: &'a [Grouping],
    span: Span,
    zone: TimeZone,
    /// What was counted.
    keys: HashSet<u64>,
    sessions: HashSet<(String, String)>,
}

/// For each grouping, the groups that a session is one of.
type Touched = Vec<BTreeSet<Vec<String>>>;

impl Counter<'_> {
    fn session(&mut self, row: &Row, ledger: &Ledger, family: &str) {
        let digest = &row.digest;
        let is_new = self
            .sessions
            .insert((digest.agent.clone(), digest.id.clone()));
        let mut touched: Touched = vec![BTreeSet::new(); self.groupings.len()];
        let mut is_within = self.span.holds(row.started());
        if is_within {
            let names = Names::new(row, self.day(row.started()));
            self.touch(&names, None, &mut touched);
        }
        for entry in &ledger.entries {
            let key = Key::new(&digest.agent);
            let key = if ledger.within_family {
                key.text(family).number(entry.key)
            } else {
                key.number(entry.key)
            };
            let time = entry.time.unwrap_or_else(|| row.started());
            if !self.span.holds(time) || !self.keys.insert(key.0) {
                continue;
            }
            is_within = true;
            let names = Names::new(row, self.day(time)).with(ledger, &entry.what);
            self.tally.total.add(&entry.what);
            self.touch(&names, Some(&entry.what), &mut touched);
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

    /// Adds an entry, or just the session, to the groups of these names and to
    /// those that they are within.
    fn touch(&mut self, names: &Names<'_>, what: Option<&What>, touched: &mut Touched) {
        let groups = self.tally.groups.iter_mut().zip(touched);
        for (grouping, (groups, touched)) in self.groupings.iter().zip(groups) {
            let told = grouping.told();
            if !what.map_or(told == Told::All, |what| told.holds(what)) {
                continue;
            }
            let mut path = Vec::new();
            for key in grouping.keys() {
                path.push(names.of(*key).to_owned());
                if !touched.contains(&path) {
                    touched.insert(path.clone());
                    groups.entry(path.clone()).or_default();
                }
                if let (Some(sums), Some(what)) = (groups.get_mut(&path), what) {
                    sums.add(what);
                    if let (Told::Calls, What::Calls { ms, .. }) = (told, what) {
                        sums.ms = sums.ms.saturating_add(*ms);
                    }
                }
            }
        }
    }

    /// The day of a time, where the user is.
    fn day(&self, ms: i64) -> String {
        let time = Timestamp::from_millisecond(ms).unwrap_or_default();
        time.to_zoned(self.zone.clone()).date().to_string()
    }
}

/// What an entry is called in each sort of group.
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

    fn with(mut self, ledger: &'a Ledger, what: &What) -> Self {
        let name = |names: &'a [String], at: usize| names.get(at).map_or("", String::as_str);
        self.model = name(&ledger.models, what.model());
        if let What::Calls { tool, .. } = what {
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

/// Who was forked from whom.
struct Families<'a>(HashMap<(&'a str, &'a str), &'a str>);

impl<'a> Families<'a> {
    fn new(rows: &'a [Row]) -> Self {
        let origin = |row: &'a Row| {
            let digest = &row.digest;
            let name = (digest.agent.as_str(), digest.id.as_str());
            (name, digest.forked_from.as_str())
        };
        Self(rows.iter().map(origin).collect())
    }

    /// The id of the session that all of a family come from, as far as is known.
    fn root(&self, row: &'a Row) -> &'a str {
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
