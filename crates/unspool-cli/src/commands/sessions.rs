//! `unspool sessions`: lists the saved sessions of all agents, or opens the picker
//! on a terminal.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::{anyhow, bail};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::json;
use unspool::doc::{Line, Role, Span};
use unspool::stats::{format_count, format_duration};
use unspool_sessions::copies;
use unspool_sessions::digest::State;
use unspool_sessions::error::Error;
use unspool_sessions::library::Library;
use unspool_sessions::places::Skipped;
use unspool_sessions::row::Row;

use super::{pick, search, welcome};
use crate::cli::sessions::{Index, Paint, Search, Sessions, SessionsCommand};
use crate::cli::{Look, similar_subcommand};
use crate::columns::{self, Column, cell};
use crate::library::{self, at_home};
use crate::pager::Output;
use crate::settings::Settings;
use crate::status::Status;
use crate::terminal;

/// Index of the state column.
const STATE: usize = 3;
/// Minimum length of an ID prefix.
const SHORTEST_ID: usize = 8;

pub(crate) fn run(arguments: &Sessions) -> anyhow::Result<Status> {
    if let Some(command) = &arguments.command {
        return below(command, arguments);
    }
    let library = library::with_files(&arguments.select)?;
    let rows = arguments.select.selection().rows(&library);
    let rows = rows.map_err(|error| with_hint(error, &arguments.select.names))?;
    let rows = copies::once(rows);
    if !rows.is_empty() && is_picked_from(arguments) {
        search::index_in_background(&library);
        let status = pick::run(&rows, &arguments.paint)?;
        report_skipped(&library, arguments.verbose);
        return Ok(status);
    }
    if arguments.welcomes && library.rows().is_empty() && library.skipped().is_empty() {
        return welcome::run(&library, &arguments.paint);
    }
    if arguments.json {
        let mut out = BufWriter::new(io::stdout().lock());
        for row in &rows {
            serde_json::to_writer(&mut out, &object(row)).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
    } else if !rows.is_empty() {
        print(&library, &rows, &arguments.paint)?;
    }
    report_skipped(&library, arguments.verbose);
    if terminal::is_terminal() {
        search::index_in_background(&library);
    }
    if rows.is_empty() && !arguments.json {
        report_none(&library);
    }
    let nothing_read = library.rows().is_empty() && !library.skipped().is_empty();
    Ok(if nothing_read {
        Status::Unreadable
    } else {
        Status::Success
    })
}

/// Reports that there are no sessions, or that none matches.
pub(super) fn report_none(library: &Library) {
    let words = match library.rows().len() {
        0 => format!(
            "found no session. It looked in:\n{}",
            library::looked_in(library)
        ),
        1 => "the only session does not match".to_owned(),
        count => format!("none of the {count} sessions matches"),
    };
    let _ = writeln!(io::stderr(), "unspool: {words}");
}

/// Runs a subcommand with the options given before it.
fn below(command: &SessionsCommand, before: &Sessions) -> anyhow::Result<Status> {
    if let Some(name) = before.select.names.first() {
        bail!("give sessions or a subcommand, not both: {name}");
    }
    let which = &before.select.which;
    match command {
        SessionsCommand::Search(search) => search::search(&Search {
            words: search.words.clone(),
            without: search.without.clone(),
            json: search.json || before.json,
            verbose: search.verbose || before.verbose,
            which: search.which.with(which),
            paint: search.paint.with(&before.paint),
            ..*search
        }),
        SessionsCommand::Index(index) => search::index(&Index {
            which: index.which.with(which),
            ..*index
        }),
    }
}

/// Adds a hint to the error for an unknown session: it may be a mistyped subcommand.
fn with_hint(error: Error, names: &[String]) -> anyhow::Error {
    let word = names.first().filter(|word| !Path::new(word).exists());
    let is_missing = matches!(error, Error::NoSuchSession(_) | Error::Io(_));
    let word = word.filter(|_| is_missing);
    match word.and_then(|word| similar_subcommand(word, Some("sessions"))) {
        Some(name) => anyhow!("{error}; did you mean `unspool sessions {name}`?"),
        None => error.into(),
    }
}

/// Prints the list, in the pager if it is long.
fn print(library: &Library, rows: &[&Row], paint: &Paint) -> anyhow::Result<()> {
    let settings = Settings::new(&Look::of_lists(paint))?;
    let ids = short_ids(library.rows());
    let clock = Clock::new(terminal::is_terminal());
    let cells: Vec<Vec<Span>> = rows.iter().map(|row| cells(row, &ids, &clock)).collect();
    let lines = listed(&cells, terminal::room(paint.width));
    let mut out = Output::paged(settings.pager.as_deref());
    writeln!(out, "{}", settings.formatter().text(&lines))?;
    Ok(out.finish()?)
}

/// Lays out the list. If there is no room for IDs, titles go on a second line.
fn listed(cells: &[Vec<Span>], room: Option<usize>) -> Vec<Line> {
    let columns = columns();
    let mut missing = columns::left_out(&columns, cells, room);
    let narrow = room.filter(|_| missing.contains(&"ID"));
    let mut lines = match narrow {
        Some(room) => {
            let heads = columns.split_last().map_or(&[] as &[_], |(_, heads)| heads);
            missing = columns::left_out(heads, cells, Some(room));
            if missing.contains(&"STATE") {
                missing.retain(|heading| *heading != "STATE");
                let cells: Vec<Vec<Span>> = cells.iter().map(|row| with_state(row)).collect();
                columns::folded(&columns, &cells, room)
            } else {
                columns::folded(&columns, cells, room)
            }
        }
        None => columns::lines(&columns, cells, room),
    };
    lines.extend(columns::note(&missing, room));
    lines
}

/// Prepends the state to the title of a row, unless it is the usual state.
fn with_state(row: &[Span]) -> Vec<Span> {
    let mut row = row.to_vec();
    let state = row.get(STATE).map(|state| state.text.clone());
    if let (Some(state), Some(title)) = (state, row.last_mut())
        && state != State::Finished.name()
    {
        title.text = format!("{state}: {}", title.text);
    }
    row
}

/// Returns true if the picker should be opened.
fn is_picked_from(arguments: &Sessions) -> bool {
    let is_wanted = !arguments.list && !arguments.json && arguments.paint.width.is_none();
    is_wanted && io::stdin().is_terminal() && terminal::can_repaint()
}

/// Reports on standard error which files were skipped, and why. Files reported by an
/// earlier command are only counted.
pub(crate) fn report_skipped(library: &Library, verbose: bool) {
    let mut err = io::stderr();
    let is_told = |skipped: &&Skipped| verbose || !skipped.is_known;
    let (told, known): (Vec<_>, Vec<_>) = library.skipped().iter().partition(is_told);
    if !known.is_empty() {
        let many = known.len();
        let _ = writeln!(err, "skipped {many} as before: --verbose lists them");
    }
    for skipped in told {
        let line = format!("skipped {}: {}", skipped.path.display(), skipped.reason);
        let line = cell(&line, Role::Normal).text;
        let _ = writeln!(err, "{line}");
    }
    if verbose {
        let (found, read) = (library.found, library.read);
        let _ = writeln!(err, "{found} files found, {read} of them read");
        if let Some(reason) = &library.without_store {
            let _ = writeln!(err, "the cache cannot be written: {reason}");
        }
    }
}

fn columns() -> [Column; 11] {
    [
        Column::left("STARTED", 0),
        Column::left("AGENT", 0),
        Column::left("ID", 1),
        Column::left("STATE", 2),
        Column::left("PROJECT", 3),
        Column::right("TIME", 6),
        Column::right("TURNS", 8),
        Column::right("TOOLS", 7),
        Column::right("TOKENS", 4),
        Column::right("COST", 5),
        Column::left("TITLE", 0).at_least(24),
    ]
}

fn cells(row: &Row, ids: &[(String, usize)], clock: &Clock) -> Vec<Span> {
    let digest = &row.digest;
    let state = row.state();
    let role = match state {
        State::Finished => Role::Accent,
        State::Stopped => Role::Normal,
        State::Running => Role::Colorful,
        State::Failed | State::CutOff => Role::Red,
    };
    let counted = |count: u64| match count {
        0 => String::new(),
        count => count.to_string(),
    };
    let tools = match digest.failed_tools {
        0 => counted(digest.tools),
        failed => format!("{} ({failed} failed)", digest.tools),
    };
    let tokens = match digest.figures.tokens() {
        0 => String::new(),
        tokens => format_count(tokens),
    };
    let took = digest.duration_ms.filter(|ms| *ms > 0);
    let id = short_id(row, ids);
    vec![
        cell(&clock.text(row.started()), Role::Normal),
        cell(&digest.agent, Role::Colorful),
        cell(&id, Role::Accent),
        cell(state.name(), role),
        cell(&at_home(&digest.project), Role::Normal),
        cell(&took.map(format_duration).unwrap_or_default(), Role::Normal),
        cell(&counted(digest.turns), Role::Normal),
        cell(&tools, Role::Normal),
        cell(&tokens, Role::Normal),
        cell(
            &digest.figures.cost.map(dollars).unwrap_or_default(),
            Role::Normal,
        ),
        cell(&digest.heading(), Role::Normal),
    ]
}

/// Returns a session as JSON, documented in docs/sessions.md.
pub(crate) fn object(row: &Row) -> serde_json::Value {
    let digest = &row.digest;
    let figures = &digest.figures;
    let time = |ms: Option<i64>| {
        let time = ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
        time.map(|time| time.to_string())
    };
    json!({
        "agent": digest.agent,
        "version": digest.version,
        "id": digest.id,
        "project": digest.project,
        "title": digest.title,
        "prompt": digest.prompt,
        "started": time(Some(row.started())),
        "ended": time(digest.ended),
        "duration_ms": digest.duration_ms,
        "turns": digest.turns,
        "tools": digest.tools,
        "failed_tools": digest.failed_tools,
        "errors": digest.errors,
        "input_tokens": figures.input,
        "output_tokens": figures.output,
        "cached_tokens": figures.cached,
        "reasoning_tokens": figures.reasoning,
        "cost_usd": figures.cost,
        "models": digest.models,
        "state": row.state(),
        "forked_from": digest.forked_from,
        "path": row.path.to_string_lossy(),
        "part": row.part,
    })
}

/// Returns each ID, in order, with the length of its shortest unique prefix.
pub(crate) fn short_ids(rows: &[Row]) -> Vec<(String, usize)> {
    let mut ids: Vec<&str> = rows.iter().map(|row| row.digest.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let common = |a: Option<&&str>, b: &str| {
        let pairs = a.copied().unwrap_or_default().chars().zip(b.chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let length = |(at, id): (usize, &&str)| {
        let before = at.checked_sub(1).and_then(|at| ids.get(at));
        let shared = common(before, id).max(common(ids.get(at + 1), id));
        ((*id).to_owned(), (shared + 1).max(SHORTEST_ID))
    };
    ids.iter().enumerate().map(length).collect()
}

/// Returns the shortest unique prefix of an ID.
pub(crate) fn short_id(row: &Row, ids: &[(String, usize)]) -> String {
    let id = &row.digest.id;
    let at = ids.binary_search_by(|(known, _)| known.cmp(id));
    let length = at.ok().and_then(|at| ids.get(at));
    let length = length.map_or(usize::MAX, |(_, length)| *length);
    id.chars().take(length).collect()
}

/// Formats times.
pub(crate) struct Clock {
    now: Zoned,
    /// True for relative times such as `2 h ago`.
    is_relative: bool,
}

impl Clock {
    pub(crate) fn new(is_relative: bool) -> Self {
        Self {
            now: Zoned::now(),
            is_relative,
        }
    }

    pub(crate) fn text(&self, ms: i64) -> String {
        let Ok(time) = Timestamp::from_millisecond(ms) else {
            return String::new();
        };
        let ago = self.now.timestamp().duration_since(time).as_secs();
        let time = time.to_zoned(TimeZone::system());
        if !self.is_relative {
            return time.strftime("%Y-%m-%d %H:%M").to_string();
        }
        match ago {
            0..60 => "now".to_owned(),
            60..3600 => format!("{} min ago", ago / 60),
            3600..86_400 => format!("{} h ago", ago / 3600),
            86_400..604_800 => format!("{} d ago", ago / 86_400),
            _ => time.strftime("%Y-%m-%d").to_string(),
        }
    }
}

/// Formats a cost: `$0.0123`, `$1.50`.
pub(crate) fn dollars(cost: f64) -> String {
    if cost >= 1.0 || cost == 0.0 {
        format!("${cost:.2}")
    } else {
        format!("${cost:.4}")
    }
}
