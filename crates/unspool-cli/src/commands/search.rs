//! `unspool sessions search` and `unspool sessions index`: full-text search in all sessions.

use std::io::{self, BufWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::json;
use unspool::doc::{Line, Role, Span, Style};
use unspool::layout::truncated;
use unspool_sessions::copies;
use unspool_sessions::error::Error;
use unspool_sessions::index::{Excerpt, Hit, Index, Query, excerpt, is_damaged};
use unspool_sessions::library::Library;
use unspool_sessions::row::Row;

use super::sessions::{self, Clock};
use crate::cli::Look;
use crate::cli::sessions::{Index as IndexArguments, Paint, Search};
use crate::columns::cell;
use crate::config;
use crate::library;
use crate::pager::Output;
use crate::progress::Bar;
use crate::settings::Settings;
use crate::status::Status;
use crate::terminal;

/// Exit status if nothing matches.
const NOTHING: Status = Status::Code(1);
/// Indentation of the lines of a match.
const INDENT: &str = "    ";

pub(crate) fn search(arguments: &Search) -> anyhow::Result<Status> {
    let query = Query::new(&arguments.words, &arguments.without)?;
    let library = library::of(&arguments.which)?;
    let rows = copies::once(arguments.which.selection().filtered(&library));
    let mut index = open()?;
    let mut found = answer(&index, &query, &rows, arguments);
    if found.as_ref().is_err_and(is_damaged) {
        index = index.rebuilt()?;
        found = answer(&index, &query, &rows, arguments);
    }
    let mut hits = found?;
    let is_cut = hits.len() > arguments.limit;
    hits.truncate(arguments.limit);
    if arguments.json {
        let mut out = BufWriter::new(io::stdout().lock());
        for hit in &hits {
            serde_json::to_writer(&mut out, &object(hit, &query)).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
    } else {
        print(&library, &hits, &query, &arguments.paint)?;
    }
    sessions::report_skipped(&library, arguments.verbose);
    if terminal::is_terminal()
        && !arguments.json
        && let Some(hit) = hits.first()
    {
        let _ = writeln!(io::stderr(), "\n{}", hint(hit, &query, &library));
    }
    if is_cut {
        let limit = arguments.limit;
        let _ = writeln!(
            io::stderr(),
            "unspool: there are more than {limit} matches: use --limit {}",
            limit.saturating_mul(10)
        );
    }
    if hits.is_empty() {
        let searched = match (rows.len(), index.indexed(&rows)?) {
            (0, _) => "there is no session to search".to_owned(),
            (_, 0) => {
                "nothing is indexed yet: search without --no-update, or run `unspool sessions index`"
                    .to_owned()
            }
            (many, indexed) if indexed < many => {
                let asked = asked(arguments);
                format!("none of the {indexed} indexed sessions (of {many}) contains {asked}")
            }
            (many, _) => format!("none of {many} sessions contains {}", asked(arguments)),
        };
        let _ = writeln!(io::stderr(), "unspool: {searched}");
        return Ok(NOTHING);
    }
    Ok(Status::Success)
}

/// Returns the command that opens the first match at its place.
fn hint(hit: &Hit<'_>, query: &Query, library: &Library) -> String {
    let ids = sessions::short_ids(library.rows());
    let id = sessions::short_id(hit.row, &ids);
    let found = excerpt(hit, query)
        .first()
        .map(Excerpt::found)
        .unwrap_or_default();
    let text = format!(
        "Open a match at its place: unspool view {id} --search {}",
        quoted(&found)
    );
    Span::clean(&text, Style::default()).text
}

/// Quotes a text for a shell.
fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| "TEXT".to_owned(), Into::into)
}

/// Opens the index, or a temporary one if it cannot be stored.
fn open() -> anyhow::Result<Index> {
    Index::open(config::cache_folder().as_deref()).or_else(|error| {
        let error = error.full_text();
        let index = Index::temporary().map_err(|_| anyhow::anyhow!("{error}"))?;
        let _ = writeln!(
            io::stderr(),
            "{error}: using a temporary index for this search"
        );
        Ok(index)
    })
}

/// Prints the matches, in the pager if they are long.
fn print(library: &Library, hits: &[Hit<'_>], query: &Query, paint: &Paint) -> anyhow::Result<()> {
    let settings = Settings::new(&Look::of_lists(paint))?;
    let room = terminal::room(paint.width).unwrap_or(usize::MAX);
    let ids = sessions::short_ids(library.rows());
    let clock = Clock::new(terminal::is_terminal());
    let mut out = Output::paged(settings.pager.as_deref());
    for (at, hit) in hits.iter().enumerate() {
        let mut lines = vec![heading(hit.row, &ids, &clock)];
        for excerpt in excerpt(hit, query) {
            lines.extend(block(&excerpt));
        }
        let lines: Vec<Line> = lines.iter().map(|line| truncated(line, room)).collect();
        let gap = if at > 0 { "\n" } else { "" };
        writeln!(out, "{gap}{}", settings.formatter().text(&lines))?;
        out.flush()?;
    }
    Ok(out.finish()?)
}

pub(crate) fn index(arguments: &IndexArguments) -> anyhow::Result<Status> {
    let library = library::of(&arguments.which)?;
    let rows = copies::once(arguments.which.selection().filtered(&library));
    let mut index = Index::open(config::cache_folder().as_deref())?;
    if arguments.rebuild {
        index = index.rebuilt()?;
    }
    let updated = update(&index, &rows);
    if updated.as_ref().is_err_and(is_damaged) {
        update(&index.rebuilt()?, &rows)?;
    } else {
        updated?;
    }
    if !arguments.quiet {
        let many = rows.len();
        let _ = writeln!(io::stderr(), "{many} sessions are indexed");
    }
    Ok(Status::Success)
}

/// Starts a background process that updates the index, if it is out of date.
pub(crate) fn index_in_background(library: &Library) {
    let rows = copies::once(library.rows().iter().collect());
    let index = Index::open(config::cache_folder().as_deref());
    let stale = index.is_ok_and(|index| index.stale(&rows).is_ok_and(|rows| !rows.is_empty()));
    if !stale {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut command = Command::new(program);
    command.args(["sessions", "index", "--quiet"]);
    for folder in library.folders() {
        command.arg("--in").arg(folder);
    }
    // In a separate process group, so that Ctrl-C does not reach it. If it fails,
    // the next search updates the index.
    let _ = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
}

fn answer<'a>(
    index: &Index,
    query: &Query,
    rows: &[&'a Row],
    arguments: &Search,
) -> Result<Vec<Hit<'a>>, Error> {
    if !arguments.no_update {
        update(index, rows)?;
    }
    index.search(query, rows, arguments.limit.saturating_add(1))
}

fn update(index: &Index, rows: &[&Row]) -> Result<(), Error> {
    let mut bar = Bar::new("Indexing sessions");
    index.update(rows, &mut |progress| {
        bar.set(progress.done, progress.total);
    })
}

fn asked(arguments: &Search) -> String {
    let words: Vec<String> = arguments
        .words
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect();
    let text = words.join(" and ");
    cell(&text, Role::Normal).text
}

fn heading(row: &Row, ids: &[(String, usize)], clock: &Clock) -> Line {
    let digest = &row.digest;
    let gap = || Span::role("  ", Role::Normal);
    let title = Span::clean(&digest.heading(), Style::default().bold());
    vec![
        cell(&sessions::short_id(row, ids), Role::Accent),
        gap(),
        cell(&digest.agent, Role::Colorful),
        gap(),
        cell(&clock.text(row.started()), Role::Normal),
        gap(),
        cell(&library::at_home(&digest.project), Role::Normal),
        gap(),
        title,
    ]
}

/// Returns the lines of one match.
fn block(excerpt: &Excerpt) -> Vec<Line> {
    let name = format!("{INDENT}{:8}", excerpt.column.name());
    let blank = " ".repeat(name.len());
    let around = |line: &Option<String>| {
        let line = line.as_deref()?;
        Some(vec![
            Span::role(blank.clone(), Role::Normal),
            cell(line.trim_end(), Role::Accent),
        ])
    };
    let mut found = vec![Span::role(name, Role::Accent)];
    for (text, matches) in &excerpt.line {
        let style = if *matches {
            Style::of(Role::Colorful).bold()
        } else {
            Style::default()
        };
        found.push(Span::clean(text, style));
    }
    let mut lines: Vec<Line> = around(&excerpt.before).into_iter().collect();
    lines.push(found);
    lines.extend(around(&excerpt.after));
    lines
}

fn object(hit: &Hit<'_>, query: &Query) -> serde_json::Value {
    let mut object = sessions::object(hit.row);
    let matches: Vec<serde_json::Value> = excerpt(hit, query)
        .iter()
        .map(|excerpt| {
            let line: String = excerpt.line.iter().map(|(text, _)| text.as_str()).collect();
            json!({
                "in": excerpt.column.name(),
                "before": excerpt.before,
                "line": line,
                "found": excerpt.found(),
                "after": excerpt.after,
            })
        })
        .collect();
    if let Some(fields) = object.as_object_mut() {
        fields.insert("matches".to_owned(), matches.into());
    }
    object
}
