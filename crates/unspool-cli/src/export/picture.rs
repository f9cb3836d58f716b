//! The terminal view as text and as a picture.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{Color, RgbColor};
use anstyle_svg::Term;
use unspool::doc::entry::{Detail, Reasoning};
use unspool::formatter::{Config, Formatter};
use unspool::session::Entry;
use unspool::theme::Rgb;
use unspool::transcript::{Spacing, Transcript};
use unspool_sessions::input::Input;

use super::events;
use crate::cli::{Export, Format, Lines, ReasoningShown, Scheme};
use crate::status::Status;
use crate::{filter, terminal};

/// Default maximum number of lines in a picture: what a page can show without becoming
/// one long strip. A line is 18 pixels high, and viewers fail at 32,767.
const MOST_LINES: usize = 500;

/// Default width of a picture in columns.
const COLUMNS: usize = 80;

const WHITE: Color = Color::Rgb(RgbColor(255, 255, 255));
const BLACK: Color = Color::Rgb(RgbColor(0, 0, 0));

/// Writes the text of a run. The outer error is about the output, the inner one
/// about the input.
pub(super) fn text(
    input: &mut Input,
    arguments: &Export,
    mut out: impl Write,
) -> anyhow::Result<io::Result<Status>> {
    let width = arguments.width.or_else(terminal::width).unwrap_or_default();
    let read = shown(input, arguments, width, true, &mut |text| {
        Ok(out.write_all(text.as_bytes())?)
    })?;
    out.flush()?;
    Ok(read)
}

/// Writes a picture of a run.
pub(super) fn svg(
    input: &mut Input,
    arguments: &Export,
    mut out: impl Write,
) -> anyhow::Result<io::Result<Status>> {
    let mut lines = 0;
    let mut all = String::new();
    let most = arguments.max_lines.unwrap_or(Lines(Some(MOST_LINES))).0;
    let most = most.unwrap_or(usize::MAX);
    let width = arguments.width.unwrap_or(COLUMNS);
    let read = shown(input, arguments, width, false, &mut |text| {
        let room = most.saturating_sub(lines);
        all.extend(text.split_inclusive('\n').take(room));
        lines += text.matches('\n').count();
        Ok(())
    })?;
    let left_out = lines.saturating_sub(most);
    if left_out > 0 {
        // Writing to a String cannot fail.
        let _ = match left_out {
            1 => writeln!(all, "… 1 more line"),
            _ => writeln!(all, "… {left_out} more lines"),
        };
        report_left_out(&input.name, most, lines);
    }
    let (foreground, background) = match arguments.theme {
        Some(Scheme::Light) => (BLACK, WHITE),
        Some(Scheme::Dark) | None => (WHITE, BLACK),
    };
    let term = Term::new().fg_color(foreground).bg_color(background);
    out.write_all(term.render_svg(&all).as_bytes())?;
    out.flush()?;
    Ok(read)
}

/// Reports that a picture does not show everything.
fn report_left_out(name: &str, most: usize, lines: usize) {
    let name = unspool::sanitize::line(name);
    // An error here cannot be reported anywhere.
    let _ = writeln!(
        io::stderr(),
        "unspool: {name}: the picture shows the first {most} of {lines} lines: --max-lines N \
         shows more, --lines N and filters make it shorter"
    );
}

/// Passes the text of each entry to `take`, with the empty line before it.
fn shown(
    input: &mut Input,
    arguments: &Export,
    width: usize,
    plain: bool,
    take: &mut dyn FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<io::Result<Status>> {
    let formatter = formatter(arguments, plain);
    let mut transcript = Transcript::new();
    let mut spacing = Spacing::new();
    let mut is_empty = true;
    let mut write = |entries: &[Entry]| -> anyhow::Result<()> {
        let entries = entries.iter();
        for entry in entries.filter(|entry| filter::shows(&arguments.filter, entry)) {
            let text = formatter.format_entry(entry, width);
            if !text.is_empty() {
                is_empty = false;
                let before = spacing.before(entry);
                let gap = if before.gap { "\n" } else { "" };
                let speaker = before.speaker.map(|agent| {
                    let lines = formatter.speaker(&agent, width);
                    formatter.text(&lines) + "\n"
                });
                take(&format!("{gap}{}{text}\n", speaker.unwrap_or_default()))?;
            }
        }
        Ok(())
    };
    let mut entries = Vec::new();
    let read = events(input, arguments, Format::Text, |event| {
        entries.clear();
        transcript.event(event, &mut |entry| entries.push(entry));
        write(&entries)
    })?;
    entries.clear();
    transcript.finish(&mut |entry| entries.push(entry));
    write(&entries)?;
    if is_empty {
        super::report_nothing_shown(arguments, &input.name);
    }
    Ok(read)
}

fn formatter(arguments: &Export, plain_text: bool) -> Formatter {
    let is_light = arguments.theme == Some(Scheme::Light);
    let (foreground, background) = if is_light {
        (Rgb::BLACK, Rgb::WHITE)
    } else {
        (Rgb::WHITE, Rgb::BLACK)
    };
    Formatter::new(
        Config::default()
            .with_plain_text(plain_text)
            .with_foreground(foreground)
            .with_background(background)
            .with_detail(
                Detail::default()
                    .with_lines(arguments.lines.0)
                    .with_failed(arguments.failed)
                    .with_relative_paths(true)
                    .with_everything(arguments.lines.0.is_none())
                    .with_reasoning(match arguments.reasoning {
                        ReasoningShown::Title => Reasoning::Title,
                        ReasoningShown::Full => Reasoning::Full,
                        ReasoningShown::Off => Reasoning::Off,
                    }),
            ),
    )
}
