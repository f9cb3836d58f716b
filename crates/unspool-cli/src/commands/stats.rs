//! `unspool stats`: what sessions used and did, as tables, JSON or CSV.

use std::env;
use std::io::{self, BufWriter, Write};

use serde_json::json;
use unspool::doc::{Line, Role, Span};

use super::sessions::{at_home, dollars, refresh, tell};
use crate::cli::Look;
use crate::cli::stats::Stats;
use crate::columns::{self, Column, bar, cell};
use crate::library::tally::{self, By, Sums, Tally, tally};
use crate::settings::Settings;
use crate::summary::{self, short};
use crate::{Status, terminal};

/// Projects that are shown when nobody asked for them.
const PROJECTS: usize = 10;
/// Days that are shown when nobody asked for them.
const DAYS: usize = 14;
/// Cells of the longest bar.
const LONGEST_BAR: usize = 30;

pub(crate) fn run(arguments: &Stats) -> anyhow::Result<Status> {
    let mut library = arguments.select.library()?;
    refresh(&mut library);
    let rows = arguments.select.rows(&library)?;
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
    let tally = tally(&library, &rows, span);
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.json {
        each(&tally, &arguments.by, |by, name, sums| {
            serde_json::to_writer(&mut out, &object(by, name, sums)).map_err(io::Error::from)?;
            out.write_all(b"\n")
        })?;
    } else if arguments.csv {
        write_csv(&tally, &arguments.by, &mut out)?;
    } else {
        let settings = Settings::new(&Look::of_lists(&arguments.paint))?;
        let room = match arguments.paint.width {
            Some(width) => Some(width).filter(|width| *width > 0),
            None => terminal::is_terminal().then(terminal::width),
        };
        let lines = page(&tally, &arguments.by, room);
        writeln!(out, "{}", settings.formatter().text(&lines))?;
    }
    out.flush()?;
    tell(&library, arguments.verbose);
    let nothing_read = library.rows().is_empty() && !library.skipped().is_empty();
    Ok(if nothing_read {
        Status::Unreadable
    } else {
        Status::Success
    })
}

/// All tables, with an empty line between two of them.
fn page(tally: &Tally, by: &[By], room: Option<usize>) -> Vec<Line> {
    let mut tables = Vec::new();
    if by.is_empty() {
        tables.push(table(By::Agent, &[("all", &tally.total)], "TOTAL", room));
        for by in [By::Agent, By::Model, By::Project, By::Day] {
            tables.push(group(tally, by, true, room));
        }
    }
    for by in by {
        tables.push(group(tally, *by, false, room));
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

fn group(tally: &Tally, by: By, is_cut: bool, room: Option<usize>) -> Vec<Line> {
    let mut groups = tally.by(by);
    let all = groups.len();
    match by {
        By::Project if is_cut => groups.truncate(PROJECTS),
        By::Day if is_cut => groups = groups.split_off(all.saturating_sub(DAYS)),
        _ => {}
    }
    if groups.is_empty() {
        return Vec::new();
    }
    let heading = heading(by);
    let mut lines = table(by, &groups, heading, room);
    if groups.len() < all {
        let more = format!("and {} more: --by {}", all - groups.len(), name(by));
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

fn name(by: By) -> &'static str {
    match by {
        By::Agent => "agent",
        By::Model => "model",
        By::Project => "project",
        By::Day => "day",
        By::Tool => "tool",
    }
}

fn table(
    by: By,
    groups: &[(&str, &Sums)],
    heading: &'static str,
    room: Option<usize>,
) -> Vec<Line> {
    let is_tools = by == By::Tool;
    let measure = |sums: &Sums| {
        if is_tools {
            sums.tools
        } else {
            sums.figures.tokens()
        }
    };
    let most = groups.iter().map(|(_, sums)| measure(sums)).max();
    let most = most.unwrap_or_default();
    let columns = columns_of(by, heading);
    let rows: Vec<Vec<Span>> = groups
        .iter()
        .map(|(name, sums)| {
            // One alone is as long as the longest, which says nothing.
            let cells_of_bar = if groups.len() > 1 { LONGEST_BAR } else { 0 };
            let bar = bar(measure(sums), most, cells_of_bar, shows_blocks());
            cells(by, name, sums, &bar)
        })
        .collect();
    columns::lines(&columns, &rows, room)
}

fn columns_of(by: By, heading: &'static str) -> Vec<Column> {
    let mut columns = vec![Column::left(heading, 0), Column::right("SESSIONS", 5)];
    match by {
        By::Tool => columns.extend([
            Column::right("CALLS", 0),
            Column::right("FAILED", 1),
            Column::right("TIME", 2),
        ]),
        By::Model => columns.extend(tokens()),
        By::Agent | By::Project | By::Day => {
            columns.extend([
                Column::right("TURNS", 6),
                Column::right("TOOLS", 4),
                Column::right("ERRORS", 7),
                Column::right("TIME", 3),
            ]);
            columns.extend(tokens());
        }
    }
    columns.push(Column::left("", 10));
    columns
}

fn tokens() -> [Column; 5] {
    [
        Column::right("INPUT", 0),
        Column::right("CACHED", 8),
        Column::right("OUTPUT", 0),
        Column::right("REASONING", 9),
        Column::right("COST", 1),
    ]
}

fn cells(by: By, name: &str, sums: &Sums, bar: &str) -> Vec<Span> {
    let name = match (by, name) {
        (_, "") => "(not told)".to_owned(),
        (By::Project, name) => at_home(name),
        (_, name) => name.to_owned(),
    };
    let counted = |count: u64| match count {
        0 => String::new(),
        count => short(count),
    };
    let took = match sums.ms {
        0 => String::new(),
        ms => summary::duration(ms),
    };
    let figures = &sums.figures;
    let used = [
        counted(figures.input),
        counted(figures.cached),
        counted(figures.output),
        counted(figures.reasoning),
        figures.cost.map(dollars).unwrap_or_default(),
    ];
    let mut cells = vec![
        cell(&name, Role::Normal),
        cell(&sums.sessions.to_string(), Role::Normal),
    ];
    let failed = |count: u64| cell(&counted(count), Role::Red);
    match by {
        By::Tool => cells.extend([
            cell(&counted(sums.tools), Role::Normal),
            failed(sums.failed_tools),
            cell(&took, Role::Normal),
        ]),
        By::Model => cells.extend(used.iter().map(|text| cell(text, Role::Normal))),
        By::Agent | By::Project | By::Day => {
            cells.extend([
                cell(&counted(sums.turns), Role::Normal),
                cell(&counted(sums.tools), Role::Normal),
                failed(sums.errors),
                cell(&took, Role::Normal),
            ]);
            cells.extend(used.iter().map(|text| cell(text, Role::Normal)));
        }
    }
    cells.push(cell(bar, Role::Colorful));
    cells
}

/// Whether the terminal is likely to have the characters of bars.
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

/// Hands out the total and all groups that are asked for.
fn each(
    tally: &Tally,
    by: &[By],
    mut take: impl FnMut(&str, &str, &Sums) -> io::Result<()>,
) -> io::Result<()> {
    let all = [By::Agent, By::Model, By::Project, By::Day, By::Tool];
    let by = if by.is_empty() {
        take("total", "", &tally.total)?;
        &all
    } else {
        by
    };
    for by in by {
        for (group, sums) in tally.by(*by) {
            take(name(*by), group, sums)?;
        }
    }
    Ok(())
}

/// What a group is to programs; docs/stats.md is the contract.
fn object(by: &str, name: &str, sums: &Sums) -> serde_json::Value {
    let figures = &sums.figures;
    json!({
        "by": by,
        "name": name,
        "sessions": sums.sessions,
        "turns": sums.turns,
        "tools": sums.tools,
        "failed_tools": sums.failed_tools,
        "errors": sums.errors,
        "time_ms": sums.ms,
        "input_tokens": figures.input,
        "output_tokens": figures.output,
        "cached_tokens": figures.cached,
        "reasoning_tokens": figures.reasoning,
        "cost_usd": figures.cost,
    })
}

fn write_csv(tally: &Tally, by: &[By], out: &mut impl Write) -> io::Result<()> {
    let keys = object("", "", &Sums::default());
    let keys: Vec<&str> = keys.as_object().map_or_else(Vec::new, |fields| {
        fields.keys().map(String::as_str).collect()
    });
    writeln!(out, "{}", keys.join(","))?;
    each(tally, by, |by, name, sums| {
        let object = object(by, name, sums);
        let fields = keys.iter().map(|key| match object.get(key) {
            Some(serde_json::Value::String(text)) => quoted(text),
            Some(serde_json::Value::Null) | None => String::new(),
            Some(number) => number.to_string(),
        });
        writeln!(out, "{}", fields.collect::<Vec<_>>().join(","))
    })
}

/// A name in a field of its own. One that a spreadsheet would take for a
/// formula is marked as text.
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
