//! `unspool stats`: totals of sessions as tables, JSON or CSV.

use std::env;
use std::io::{self, BufWriter, Write};

use serde_json::Map;
use unspool::doc::{Line, Role, Span};
use unspool::stats::{format_count, format_duration};
use unspool_sessions::tally::{self, By, Counted, Group, Grouping, Sums, Tally, tally};

use super::sessions::{self, dollars, report_skipped};
use crate::cli::Look;
use crate::cli::stats::Stats;
use crate::columns::{self, Column, bar, cell};
use crate::library::{self, at_home};
use crate::pager::Output;
use crate::settings::Settings;
use crate::status::Status;
use crate::terminal;

/// Maximum number of projects in the default view.
const PROJECTS: usize = 10;
/// Maximum number of days in the default view.
const DAYS: usize = 14;
/// Maximum width of a bar in cells.
const LONGEST_BAR: usize = 30;
/// Minimum width of the longest bar; below it, other columns are dropped.
const LEAST_BAR: usize = 8;
/// Minimum width of a name; below it, columns of numbers are dropped.
const LEAST_NAME: usize = 8;

pub(crate) fn run(arguments: &Stats) -> anyhow::Result<Status> {
    let library = library::with_files(&arguments.select)?;
    let rows = arguments.select.selection().rows(&library)?;
    let span = tally::Span {
        since: arguments
            .select
            .which
            .since
            .map(jiff::Timestamp::as_millisecond),
        until: arguments
            .select
            .which
            .until
            .map(jiff::Timestamp::as_millisecond),
    };
    let is_for_programs = arguments.json || arguments.csv;
    let groupings = groupings(&arguments.by, is_for_programs);
    let tally = tally(&library, &rows, span, &groupings);
    let by = Report {
        groupings: &groupings,
        is_all: arguments.by.is_empty(),
    };
    if rows.is_empty() && !is_for_programs {
        sessions::report_none(&library);
    } else if is_for_programs {
        let mut out = BufWriter::new(io::stdout().lock());
        if arguments.json {
            by.each(&tally, |object| {
                serde_json::to_writer(&mut out, &object).map_err(io::Error::from)?;
                out.write_all(b"\n")
            })?;
        } else {
            by.csv(&tally, &mut out)?;
        }
        out.flush()?;
    } else {
        let settings = Settings::new(&Look::of_lists(&arguments.paint))?;
        let lines = by.page(&tally, terminal::room(arguments.paint.width));
        let mut out = Output::paged(settings.pager.as_deref());
        writeln!(out, "{}", settings.formatter().text(&lines))?;
        out.finish()?;
    }
    report_skipped(&library, arguments.verbose);
    let nothing_read = library.rows().is_empty() && !library.skipped().is_empty();
    Ok(if nothing_read {
        Status::Unreadable
    } else {
        Status::Success
    })
}

/// Returns the requested groupings, or the default ones.
fn groupings(by: &[Grouping], is_for_programs: bool) -> Vec<Grouping> {
    if !by.is_empty() {
        return by.to_vec();
    }
    let mut all = vec![By::Agent, By::Model, By::Project, By::Day];
    if is_for_programs {
        all.push(By::Tool);
    }
    all.into_iter().map(Grouping::from).collect()
}

/// The groupings to print.
struct Report<'a> {
    groupings: &'a [Grouping],
    /// True for the default view, which includes the total.
    is_all: bool,
}

impl Report<'_> {
    /// Returns all tables, separated by empty lines.
    fn page(&self, tally: &Tally, room: Option<usize>) -> Vec<Line> {
        let mut tables = Vec::new();
        if self.is_all {
            let all = ["all".to_owned()];
            let total = [(all.as_slice(), &tally.total)];
            tables.push(table(&By::Agent.into(), &total, "TOTAL".to_owned(), room));
        }
        for (at, grouping) in self.groupings.iter().enumerate() {
            tables.push(group(
                grouping,
                tally.groups(at, grouping),
                self.is_all,
                room,
            ));
        }
        let mut lines = Vec::new();
        for table in tables.into_iter().filter(|table| !table.is_empty()) {
            if !lines.is_empty() {
                lines.push(Line::new());
            }
            lines.extend(table);
        }
        lines
    }

    /// Passes the innermost groups to `take`, after the total in the default view.
    fn each(
        &self,
        tally: &Tally,
        mut take: impl FnMut(serde_json::Value) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.is_all {
            take(object("total", &[], &[], &tally.total, Counted::All))?;
        }
        for (at, grouping) in self.groupings.iter().enumerate() {
            let keys = grouping.keys();
            let by: Vec<&str> = keys.iter().map(|key| key.name()).collect();
            for (names, sums) in tally.groups(at, grouping) {
                if names.len() == keys.len() {
                    take(object(&by.join(","), &by, names, sums, grouping.counted()))?;
                }
            }
        }
        Ok(())
    }

    fn csv(&self, tally: &Tally, out: &mut impl Write) -> io::Result<()> {
        let mut columns = vec!["by".to_owned(), "name".to_owned()];
        let several = self.groupings.iter().filter(|one| one.keys().len() > 1);
        for key in several.flat_map(Grouping::keys) {
            if !columns.iter().any(|known| known == key.name()) {
                columns.push(key.name().to_owned());
            }
        }
        let figures = object("", &[], &[], &Sums::default(), Counted::All);
        let figures = figures.as_object().into_iter().flat_map(Map::keys);
        columns.extend(figures.skip(2).cloned());
        writeln!(out, "{}", columns.join(","))?;
        self.each(tally, |object| {
            let fields = columns.iter().map(|key| match object.get(key) {
                Some(serde_json::Value::String(text)) => quoted(text),
                Some(serde_json::Value::Null) | None => String::new(),
                Some(number) => number.to_string(),
            });
            writeln!(out, "{}", fields.collect::<Vec<_>>().join(","))
        })
    }
}

fn group(
    grouping: &Grouping,
    mut groups: Vec<Group<'_>>,
    is_cut: bool,
    room: Option<usize>,
) -> Vec<Line> {
    let all = groups.len();
    let key = grouping.keys().first().copied();
    match key {
        Some(By::Project) if is_cut => groups.truncate(PROJECTS),
        Some(By::Day) if is_cut => groups = groups.split_off(all.saturating_sub(DAYS)),
        _ => {}
    }
    if groups.is_empty() {
        return Vec::new();
    }
    let headings: Vec<&str> = grouping.keys().iter().map(|key| heading(*key)).collect();
    let mut lines = table(grouping, &groups, headings.join(" / "), room);
    if let Some(key) = key.filter(|_| groups.len() < all) {
        let more = format!("and {} more: --by {}", all - groups.len(), key.name());
        lines.push(vec![cell(&more, Role::Accent)]);
    }
    lines
}

fn heading(by: By) -> &'static str {
    match by {
        By::Agent => "AGENT",
        By::Model => "MODEL",
        By::Project => "PROJECT",
        By::Day => "DAY",
        By::Tool => "TOOL",
    }
}

fn table(
    grouping: &Grouping,
    groups: &[Group<'_>],
    heading: String,
    room: Option<usize>,
) -> Vec<Line> {
    let counted = grouping.counted();
    let measure = |sums: &Sums| match counted {
        Counted::Calls => sums.tools,
        Counted::All => sums.figures.tokens(),
    };
    // Bars of outer groups would dwarf those of inner groups.
    let deepest = grouping.keys().len();
    let bars = groups.iter().filter(|(names, _)| names.len() == deepest);
    let most = bars.map(|(_, sums)| measure(sums)).max();
    let most = most.unwrap_or_default();
    // A single bar would always have full length.
    let has_bars = groups.len() > 1;
    let columns = columns_of(counted, heading, has_bars);
    let row = |(names, sums): &Group<'_>, longest: usize| {
        let cells_of_bar = if has_bars && names.len() == deepest {
            longest
        } else {
            0
        };
        let bar = bar(measure(sums), most, cells_of_bar, shows_blocks());
        let depth = names.len().saturating_sub(1);
        let key = grouping.keys().get(depth);
        let name = names.last().map_or("", String::as_str);
        let name = format!("{}{}", "  ".repeat(depth), called(key, name));
        cells(counted, &name, sums, &bar)
    };
    let rows = |longest: usize| -> Vec<Vec<Span>> {
        groups.iter().map(|group| row(group, longest)).collect()
    };
    // Bars use the room that the other columns leave.
    let longest = room.map_or(LONGEST_BAR, |room| {
        LEAST_BAR + columns::spare(&columns, &rows(LEAST_BAR), room)
    });
    let rows = rows(longest.min(LONGEST_BAR));
    let mut lines = columns::lines(&columns, &rows, room);
    let missing = columns::left_out(&columns, &rows, room);
    lines.extend(columns::note(&missing, room));
    lines
}

fn columns_of(counted: Counted, heading: String, has_bars: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::left(heading, 0).at_least(LEAST_NAME),
        Column::right("SESSIONS", 6),
    ];
    match counted {
        Counted::Calls => columns.extend([
            Column::right("CALLS", 0),
            Column::right("FAILED", 1),
            Column::right("TIME", 3),
        ]),
        Counted::All => {
            columns.extend([
                Column::right("TURNS", 7),
                Column::right("TOOLS", 5),
                Column::right("ERRORS", 8),
                Column::right("TIME", 3),
            ]);
            columns.extend(tokens());
        }
    }
    if has_bars {
        columns.push(Column::left("", 2));
    }
    columns
}

fn tokens() -> [Column; 5] {
    [
        Column::right("INPUT", 0),
        Column::right("CACHED", 9),
        Column::right("OUTPUT", 0),
        Column::right("REASONING", 10),
        Column::right("COST", 1),
    ]
}

/// Returns the display name of a group.
fn called(key: Option<&By>, name: &str) -> String {
    match (key, name) {
        (_, "") => "unknown".to_owned(),
        (Some(By::Project), name) => at_home(name),
        (_, name) => name.to_owned(),
    }
}

fn cells(counted: Counted, name: &str, sums: &Sums, bar: &str) -> Vec<Span> {
    let number = |count: u64| match count {
        0 => String::new(),
        count => format_count(count),
    };
    let took = match sums.ms {
        0 => String::new(),
        ms => format_duration(ms),
    };
    let figures = &sums.figures;
    let used = [
        number(figures.input),
        number(figures.cached),
        number(figures.output),
        number(figures.reasoning),
        figures.cost.map(dollars).unwrap_or_default(),
    ];
    let mut cells = vec![
        cell(name, Role::Normal),
        cell(&sums.sessions.to_string(), Role::Normal),
    ];
    let failed = |count: u64| cell(&number(count), Role::Red);
    match counted {
        Counted::Calls => cells.extend([
            cell(&number(sums.tools), Role::Normal),
            failed(sums.failed_tools),
            cell(&took, Role::Normal),
        ]),
        Counted::All => {
            cells.extend([
                cell(&number(sums.turns), Role::Normal),
                cell(&number(sums.tools), Role::Normal),
                failed(sums.errors),
                cell(&took, Role::Normal),
            ]);
            cells.extend(used.iter().map(|text| cell(text, Role::Normal)));
        }
    }
    cells.push(cell(bar, Role::Colorful));
    cells
}

/// Returns true if the terminal can probably show block characters.
fn shows_blocks() -> bool {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let is_dumb = env::var("TERM").is_ok_and(|term| term == "dumb");
    !is_dumb
        && locale.is_none_or(|locale| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
}

/// Returns a group as JSON, documented in docs/stats.md.
fn object(
    by: &str,
    keys: &[&str],
    names: &[String],
    sums: &Sums,
    counted: Counted,
) -> serde_json::Value {
    let figures = &sums.figures;
    let of = |is_counted: bool, count: u64| is_counted.then_some(count);
    let all = counted == Counted::All;
    let mut object = Map::new();
    let mut put = |name: &str, value: serde_json::Value| object.insert(name.to_owned(), value);
    put("by", by.into());
    put("name", names.join(", ").into());
    if keys.len() > 1 {
        for (key, name) in keys.iter().zip(names) {
            put(key, name.as_str().into());
        }
    }
    for (name, value) in [
        ("sessions", Some(sums.sessions)),
        ("turns", of(all, sums.turns)),
        ("tools", Some(sums.tools)),
        ("failed_tools", Some(sums.failed_tools)),
        ("errors", of(all, sums.errors)),
        ("time_ms", Some(sums.ms)),
        ("input_tokens", of(all, figures.input)),
        ("output_tokens", of(all, figures.output)),
        ("cached_tokens", of(all, figures.cached)),
        ("reasoning_tokens", of(all, figures.reasoning)),
    ] {
        put(name, value.into());
    }
    // Rounds away floating-point errors of the sum.
    let cost = figures.cost.map(|cost| (cost * 1e8).round() / 1e8);
    put("cost_usd", cost.into());
    serde_json::Value::Object(object)
}

/// Quotes a name for CSV. A name that a spreadsheet would evaluate as a formula is
/// marked as text.
fn quoted(text: &str) -> String {
    let text = cell(text, Role::Normal).text;
    let mark = if text.starts_with(['=', '+', '-', '@']) {
        "'"
    } else {
        ""
    };
    if mark.is_empty() && !text.contains([',', '"']) {
        return text;
    }
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}
