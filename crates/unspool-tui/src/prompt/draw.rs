//! Paints the prompt and the completion list.
//!
//! Only visible rows are painted; the cursor is always among them.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unspool::doc::{Line, Role, Span, Style, append};
use unspool::layout::width;
use unspool::theme::Theme;

use super::pasted::is_sign;
use super::popup::{Item, Popup, ROWS, Source};
use super::{Mode, Prompt, mention};
use crate::convert;
use crate::paint::{clear, keys, put, rule};
use crate::picker::fitted;

/// Width of the prompt sign and a space.
pub(super) const MARGIN: usize = 2;

/// Returns the width for text; the cursor needs a cell after it.
pub(super) fn room(wide: u16) -> usize {
    usize::from(wide).saturating_sub(MARGIN + 1).max(1)
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, prompt: &mut Prompt, theme: &Theme) {
    let area = area.intersection(frame.area());
    prompt.area = area;
    if area.is_empty() {
        return;
    }
    clear(frame.buffer_mut(), area);
    let (row, column) = prompt.rows().place(prompt.editor.cursor());
    let height = usize::from(area.height);
    let lowest = (row + 1).saturating_sub(height);
    let last = prompt.rows().all.len().saturating_sub(height);
    prompt.top = prompt.top.clamp(lowest, row.max(lowest)).min(last);
    text(frame.buffer_mut(), area, prompt, theme);
    let right = area.right().saturating_sub(1);
    let column = u16::try_from(MARGIN + column).unwrap_or(u16::MAX);
    let below = u16::try_from(row - prompt.top).unwrap_or(u16::MAX);
    if prompt.is_focused {
        frame.set_cursor_position((area.x.saturating_add(column).min(right), area.y + below));
    }
    if let Some(popup) = &prompt.popup {
        list(frame.buffer_mut(), area, popup, theme);
    }
}

fn text(buffer: &mut Buffer, area: Rect, prompt: &Prompt, theme: &Theme) {
    let mark = match prompt.mode {
        Mode::Message => Span::new("❯ ", Style::of(Role::Colorful).bold()),
        Mode::Shell => Span::new("! ", Style::of(Role::Red).bold()),
    };
    if prompt.is_empty() {
        let words = match prompt.mode {
            Mode::Message => prompt.placeholder.clone(),
            Mode::Shell => "shell command".to_owned(),
        };
        put(
            buffer,
            area,
            &[mark, Span::role(words, Role::Accent)],
            theme,
        );
        return;
    }
    let rows = prompt.rows();
    let styles = Styles::of(prompt);
    for (place, row) in area.rows().enumerate() {
        let number = prompt.top + place;
        if number >= rows.all.len() {
            break;
        }
        let first = if number == 0 {
            mark.clone()
        } else {
            Span::role("  ", Role::Normal)
        };
        let mut line: Line = vec![first];
        for (at, cluster) in rows.clusters(number) {
            append(&mut line, Span::new(cluster, styles.at(at)));
        }
        if number + 1 == rows.all.len()
            && let Some(hint) = prompt.hint()
        {
            line.push(Span::role(hint, Role::Accent));
        }
        put(buffer, row, &line, theme);
    }
}

/// Styles of the parts of the text.
struct Styles<'a> {
    text: &'a str,
    mentions: Vec<super::Mention>,
    /// End of the command's name.
    command: usize,
}

impl<'a> Styles<'a> {
    fn of(prompt: &'a Prompt) -> Self {
        let text = prompt.editor.text();
        let name = text.split(char::is_whitespace).next().unwrap_or_default();
        let is_known = |name: &str| prompt.commands.iter().any(|it| it.name == name);
        let is_command = name.strip_prefix('/').is_some_and(is_known);
        let is_message = prompt.mode == Mode::Message;
        Self {
            text,
            mentions: if is_message {
                mention::mentions(text)
            } else {
                Vec::new()
            },
            command: if is_message && is_command {
                name.len()
            } else {
                0
            },
        }
    }

    fn at(&self, at: usize) -> Style {
        let letter = self.text.get(at..).and_then(|rest| rest.chars().next());
        if letter.is_some_and(is_sign) {
            return Style::of(Role::Accent);
        }
        let next = self.mentions.partition_point(|it| it.range.end <= at);
        let is_mention = self
            .mentions
            .get(next)
            .is_some_and(|it| it.range.contains(&at));
        if is_mention || at < self.command {
            return Style::of(Role::Colorful);
        }
        Style::default()
    }
}

/// Paints the list: a rule, the rows and the key hints.
fn list(buffer: &mut Buffer, prompt: Rect, popup: &Popup, theme: &Theme) {
    let screen = buffer.area;
    let rows = popup.items.len().clamp(1, ROWS);
    let wanted = u16::try_from(rows).unwrap_or(1) + 2;
    let above = prompt.y.saturating_sub(screen.y);
    let below = screen.bottom().saturating_sub(prompt.bottom());
    let is_above = above >= below || above >= wanted;
    let height = wanted.min(if is_above { above } else { below });
    let y = if is_above {
        prompt.y - height
    } else {
        prompt.bottom()
    };
    let area = Rect::new(prompt.x, y, prompt.width, height);
    clear(buffer, area);
    let words = match popup.source {
        Source::Command => "commands",
        Source::File => "files",
    };
    let mut lines = area.rows();
    if height >= 3 {
        let heading = Span::role(words, Role::Accent);
        rule(buffer, lines.next().unwrap_or_default(), &[heading], theme);
        let footer = lines.next_back().unwrap_or_default();
        let remark = format!("{} {}", place(popup), popup.note);
        let known = [("Tab", "take"), ("Esc", "close"), ("↑↓", "move")];
        put(
            buffer,
            footer,
            &keys(&known, remark.trim(), usize::from(footer.width)),
            theme,
        );
    }
    items(buffer, lines.collect(), popup, theme);
}

/// Returns the position in a long list, such as `3/12`.
fn place(popup: &Popup) -> String {
    if popup.items.len() <= ROWS {
        return String::new();
    }
    format!("{}/{}", popup.marked + 1, popup.items.len())
}

fn items(buffer: &mut Buffer, rows: Vec<Rect>, popup: &Popup, theme: &Theme) {
    // The screen may have fewer rows than the list was scrolled for.
    let lowest = (popup.marked + 1).saturating_sub(rows.len());
    let top = popup.top.max(lowest);
    let seen = popup.items.iter().enumerate().skip(top).take(rows.len());
    let names = seen.clone().map(|(_, item)| width(&item.text)).max();
    for ((number, item), row) in seen.zip(rows) {
        let is_marked = number == popup.marked;
        let sign = if is_marked { "▌ " } else { "  " };
        let mut line = vec![Span::new(sign, Style::of(Role::Colorful).bold())];
        line.extend(spans(
            item,
            popup.source,
            names.unwrap_or(0),
            usize::from(row.width),
        ));
        put(buffer, row, &line, theme);
        if is_marked {
            buffer.set_style(row, convert::selection(theme));
        }
    }
}

fn spans(item: &Item, source: Source, names: usize, wide: usize) -> Line {
    let room = wide.saturating_sub(MARGIN);
    let cell = Span::role(item.text.as_str(), Role::Normal);
    match source {
        Source::File => fitted(&cell, &item.marks, room, true),
        Source::Command => {
            let names = names.min(room * 2 / 5).max(room.min(8));
            let mut line = vec![Span::role("/", Role::Accent)];
            line.extend(fitted(&cell, &item.marks, names, false));
            line.push(Span::role(format!("  {}", item.description), Role::Accent));
            line
        }
    }
}
