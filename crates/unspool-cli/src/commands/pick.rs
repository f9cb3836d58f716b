//! `unspool sessions` on a terminal: a picker with search.
//!
//! A picked session is shown as by `unspool show` or `unspool view`. The picker then
//! returns in its previous state.

use std::io::{self, Write};

use unspool::doc::{Line, Role, Span, title};
use unspool::stats::{format_count, format_duration};
use unspool_sessions::digest::State;
use unspool_sessions::row::Row;
use unspool_tui::browse::End;
use unspool_tui::picker::{self, Column, Detail, Outcome, Picker};
use unspool_tui::screen::Screen;

use super::sessions::{Clock, dollars};
use super::{show, view};
use crate::cli::Look;
use crate::cli::sessions::Paint;
use crate::columns::cell;
use crate::library::at_home;
use crate::settings::Settings;
use crate::status::{Status, complain, is_broken_pipe};

const COLUMNS: [Column; 5] = [
    Column::new("STARTED").unmatched().dispensable(1),
    Column::new("AGENT"),
    Column::new("STATE").unmatched().dispensable(3),
    Column::new("PROJECT").dispensable(2).keeping_end(20),
    Column::new("TITLE"),
];

/// Runs the picker until the user quits.
pub(crate) fn run(rows: &[&Row], paint: &Paint) -> anyhow::Result<Status> {
    let theme = Settings::new(&Look::of_lists(paint))?.formatter().theme();
    let clock = Clock::new(true);
    let lines = rows.iter().map(|row| line(row, &clock)).collect();
    let mut picker = Picker::new(&COLUMNS, lines);
    let mut screen = Screen::new()?;
    let told = |at: usize| rows.get(at).map(|row| detail(row)).unwrap_or_default();
    loop {
        let signal = match picker.pick(&mut screen, &theme, &told)? {
            Outcome::Left => return Ok(Status::Success),
            Outcome::Signal(signal) => Some(signal),
            Outcome::Opened(at) => match rows.get(at) {
                Some(row) => browse(row, paint, &mut screen)?,
                None => None,
            },
            Outcome::Chosen(at) => match rows.get(at) {
                Some(row) => show_one(row, paint, &mut screen)?,
                None => None,
            },
        };
        if let Some(signal) = signal {
            return Ok(Status::of_signal(signal));
        }
    }
}

/// Browses a session. Returns a signal that arrived meanwhile.
fn browse(row: &Row, paint: &Paint, screen: &mut Screen) -> anyhow::Result<Option<i32>> {
    let look = Look::of_views(paint.color, paint.theme.clone());
    match view::session(row, &look, screen) {
        Ok(End::Signal(signal)) => Ok(Some(signal)),
        Ok(End::Left | End::Nothing) => Ok(None),
        Err(error) => {
            complain(&error);
            Ok(screen.wait_for_key("Press a key to go back to the list.")?)
        }
    }
}

/// Shows a session until the user is done. Returns a signal that arrived meanwhile.
fn show_one(row: &Row, paint: &Paint, screen: &mut Screen) -> anyhow::Result<Option<i32>> {
    // The terminal may have been resized.
    let settings = Settings::new(&Look::of_shown(paint))?;
    if settings.pager.is_some() {
        screen.yield_interrupts();
    }
    let was_read = show::session(row, &settings).unwrap_or_else(|error| {
        // Quitting the pager early is not an error.
        let is_left = is_broken_pipe(&error);
        if !is_left {
            complain(&error);
        }
        is_left
    });
    if was_read {
        return Ok(None);
    }
    writeln!(io::stdout())?;
    Ok(screen.wait_for_key("Press a key to go back to the list.")?)
}

fn line(row: &Row, clock: &Clock) -> picker::Row {
    let digest = &row.digest;
    let mut hidden = vec![digest.id.clone()];
    if !digest.title.is_empty() {
        hidden.push(digest.prompt.clone());
    }
    picker::Row {
        cells: vec![
            cell(&clock.text(row.started()), Role::Accent),
            cell(&digest.agent, Role::Colorful),
            state(row),
            cell(&at_home(&digest.project), Role::Accent),
            cell(&digest.heading(), Role::Normal),
        ],
        hidden,
    }
}

fn state(row: &Row) -> Span {
    let state = row.state();
    let role = match state {
        State::Finished => Role::Accent,
        State::Stopped => Role::Normal,
        State::Running => Role::Colorful,
        State::Failed | State::CutOff => Role::Red,
    };
    cell(state.name(), role)
}

/// Returns the details of a session that are known without reading it again.
fn detail(row: &Row) -> Detail {
    let digest = &row.digest;
    let mut facts: Vec<(&'static str, Line)> = Vec::new();
    let mut add = |name, text: &str| {
        if !text.is_empty() {
            facts.push((name, vec![cell(text, Role::Normal)]));
        }
    };
    let version = format!("{} {}", row.agent_title(), digest.version);
    add("agent", version.trim_end());
    add("project", &at_home(&digest.project));
    add("started", &Clock::new(false).text(row.started()));
    add("took", &effort(row));
    add("tokens", &tokens(row));
    add(
        "cost",
        &digest.figures.cost.map(dollars).unwrap_or_default(),
    );
    add("models", &digest.models.join(", "));
    add("id", &digest.id);
    add("file", &at_home(&row.path.to_string_lossy()));
    facts.insert(1, ("state", vec![state(row)]));
    let prompt = if digest.title.is_empty() {
        String::new()
    } else {
        title::plain(&digest.prompt)
    };
    let text = cell(&prompt, Role::Normal);
    Detail {
        heading: cell(&digest.heading(), Role::Normal),
        text: Some(text)
            .filter(|span| !span.text.is_empty())
            .into_iter()
            .collect(),
        facts,
    }
}

/// Returns duration and counts: `3m 5s, 5 turns, 12 calls, 1 failed`.
fn effort(row: &Row) -> String {
    let digest = &row.digest;
    let counted = |count: u64, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {more}")),
    };
    let took = digest.duration_ms.filter(|ms| *ms > 0);
    let parts = [
        took.map(format_duration),
        counted(digest.turns, "turn", "turns"),
        counted(digest.tools, "call", "calls"),
        counted(digest.failed_tools, "failed", "failed"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

fn tokens(row: &Row) -> String {
    let figures = &row.digest.figures;
    if figures.tokens() == 0 {
        return String::new();
    }
    let (input, output) = (format_count(figures.input), format_count(figures.output));
    format!("{input} in, {output} out")
}
