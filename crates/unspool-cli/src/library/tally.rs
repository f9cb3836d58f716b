//! What sessions amount to, by agent, model, project, day and tool. Nothing is
//! counted twice, whatever sessions have in common: see `ledger`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::ledger::{Entry, Figures, Key, Ledger, What};
use super::{Library, Row};

/// Forks of forks that are followed.
const GENERATIONS: usize = 100;

/// Figures of a group of sessions, or of a part of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    pub(crate) sessions: u64,
    pub(crate) turns: u64,
    pub(crate) tools: u64,
    pub(crate) failed_tools: u64,
    pub(crate) errors: u64,
    /// What turns took; what calls took, in sums of a tool.
    pub(crate) ms: u64,
    pub(crate) figures: Figures,
}

impl Sums {
    fn add(&mut self, what: &What) {
        match what {
            What::Usage { figures, .. } => self.figures.add(figures),
            What::Calls { count, failed, .. } => {
                self.tools += count;
                self.failed_tools += failed;
            }
            What::Turns { count, ms } => {
                self.turns += count;
                self.ms = self.ms.saturating_add(*ms);
            }
            What::Errors { count } => self.errors += count,
        }
    }
}

/// What is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum By {
    Agent,
    Model,
    Project,
    Day,
    Tool,
}

/// The figures of a selection.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) total: Sums,
    groups: BTreeMap<(By, String), Sums>,
}

impl Tally {
    /// The groups of one sort: days in order, the others by what they used.
    pub(crate) fn by(&self, by: By) -> Vec<(&str, &Sums)> {
        let groups = self.groups.iter().filter(|((sort, _), _)| *sort == by);
        let mut groups: Vec<(&str, &Sums)> = groups
            .map(|((_, name), sums)| (name.as_str(), sums))
            .collect();
        if by != By::Day {
            // Stable: names decide between equals.
            groups.sort_by_key(|(_, sums)| {
                let used = sums.figures.tokens();
                std::cmp::Reverse((used, sums.tools, sums.sessions))
            });
        }
        groups
    }

    fn group(&mut self, by: By, name: &str) -> &mut Sums {
        self.groups.entry((by, name.to_owned())).or_default()
    }
}

/// Which times count, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) since: Option<i64>,
    pub(crate) until: Option<i64>,
}

impl Span {
    fn holds(&self, time: i64) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

/// Adds up what these sessions used and did within a span of time.
pub(crate) fn tally(library: &Library, rows: &[&Row], span: Span) -> Tally {
    let families = Families::new(library.rows());
    let mut counter = Counter {
        tally: Tally::default(),
        span,
        zone: TimeZone::system(),
        keys: HashSet::new(),
        sessions: HashSet::new(),
    };
    let lesser = lesser_records(library, rows);
    for row in originals_first(rows) {
        let mut ledger = library.ledger(row);
        if lesser.contains(&std::ptr::from_ref(row)) {
            ledger.entries.retain(|entry| !entry.by_place);
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

/// Of several records of one session, all but the one that tells most. What they
/// tell without a time may be in that one too.
fn lesser_records(library: &Library, rows: &[&Row]) -> HashSet<*const Row> {
    let mut records: HashMap<(&str, &str), Vec<&Row>> = HashMap::new();
    for row in rows {
        let name = (row.digest.agent.as_str(), row.digest.id.as_str());
        records.entry(name).or_default().push(row);
    }
    let mut lesser = HashSet::new();
    let several = records.into_values().filter(|records| records.len() > 1);
    several.for_each(|mut records| {
        records.sort_by_cached_key(|row| {
            let timed = library.ledger(row).timed_usage();
            (timed, row.digest.figures.tokens(), row.path.clone())
        });
        records.pop();
        lesser.extend(records.into_iter().map(std::ptr::from_ref));
    });
    lesser
}

struct Counter {
    tally: Tally,
    span: Span,
    zone: TimeZone,
    /// What was counted.
    keys: HashSet<u64>,
    sessions: HashSet<(String, String)>,
}

impl Counter {
    fn session(&mut self, row: &Row, ledger: &Ledger, family: &str) {
        let digest = &row.digest;
        let is_new = self
            .sessions
            .insert((digest.agent.clone(), digest.id.clone()));
        // The groups that the session is one of.
        let mut touched = BTreeSet::new();
        if self.span.holds(row.started()) {
            touched.insert((By::Day, self.day(row.started())));
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
            self.entry(row, ledger, entry, time, &mut touched);
        }
        let is_within = self.span.holds(row.started()) || !touched.is_empty();
        if !is_new || !is_within {
            return;
        }
        touched.insert((By::Agent, digest.agent.clone()));
        touched.insert((By::Project, digest.project.clone()));
        self.tally.total.sessions += 1;
        for (by, name) in touched {
            self.tally.group(by, &name).sessions += 1;
        }
    }

    fn entry(
        &mut self,
        row: &Row,
        ledger: &Ledger,
        entry: &Entry,
        time: i64,
        touched: &mut BTreeSet<(By, String)>,
    ) {
        let day = self.day(time);
        self.tally.total.add(&entry.what);
        for (by, name) in [
            (By::Agent, &row.digest.agent),
            (By::Project, &row.digest.project),
            (By::Day, &day),
        ] {
            self.tally.group(by, name).add(&entry.what);
        }
        touched.insert((By::Day, day));
        match &entry.what {
            What::Usage { model, .. } => {
                let name = ledger.models.get(*model).map_or("", String::as_str);
                self.tally.group(By::Model, name).add(&entry.what);
                touched.insert((By::Model, name.to_owned()));
            }
            What::Calls { tool, ms, .. } => {
                let name = ledger.tools.get(*tool).map_or("", String::as_str);
                let group = self.tally.group(By::Tool, name);
                group.add(&entry.what);
                group.ms = group.ms.saturating_add(*ms);
                touched.insert((By::Tool, name.to_owned()));
            }
            What::Turns { .. } | What::Errors { .. } => {}
        }
    }

    /// The day of a time, where the user is.
    fn day(&self, ms: i64) -> String {
        let time = Timestamp::from_millisecond(ms).unwrap_or_default();
        time.to_zoned(self.zone.clone()).date().to_string()
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
