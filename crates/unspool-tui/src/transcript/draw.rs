//! Paints a transcript: rows between a rail and a scrollbar, and the plan beside
//! them.

use std::time::Instant;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style as Painted};
use unspool::doc::{Line, Role, Span, Style};
use unspool::event::{PlanStatus, ToolStatus};
use unspool::layout::{self, width};
use unspool::sanitize;
use unspool::session::{Entry, Item};
use unspool::theme::Theme;

use super::place::Place;
use super::rows::{Level, Spot};
use super::{Pane, entry_text};
use crate::convert;
use crate::paint::put;
use crate::spinner;

/// Width of the rail before the rows, and of the scrollbar after them.
const RAIL: u16 = 2;
const BAR: u16 = 1;
/// Width of the plan.
const PLAN: u16 = 38;
/// Minimum width at which the plan is shown by default.
pub(super) const ROOM_FOR_PLAN: u16 = 120;

impl Pane {
    /// Paints the pane.
    pub fn draw(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let theme = self.look.formatter.theme();
        let mut area = area;
        if self.is_plan_shown(area.width) && area.width > 2 * PLAN {
            let plan = Rect {
                x: area.right() - PLAN,
                width: PLAN,
                ..area
            };
            area.width -= PLAN;
            self.draw_plan(frame.buffer_mut(), plan, &theme);
        }
        self.cache.tick();
        self.measure(area);
        self.is_changed = false;
        self.has_spinner = false;
        self.seen.clear();
        if area.is_empty() {
            return;
        }
        let buffer = frame.buffer_mut();
        if self.next_slot(0).is_none() {
            let words = match (self.timeline.is_empty(), self.is_live) {
                (true, true) => "nothing has happened yet",
                (true, false) => "this run is empty",
                (false, _) => "no entries match the filter: f changes it",
            };
            put(
                buffer,
                inner(area),
                &[Span::role(words, Role::Accent)],
                &theme,
            );
            return;
        }
        self.settle(usize::from(area.height));
        self.draw_rows(buffer, area, &theme);
        self.draw_bar(buffer, area, &theme);
        self.draw_hint(buffer, area, &theme);
    }

    /// Adapts to the size of the area. The top row stays at the top after a
    /// resize.
    fn measure(&mut self, area: Rect) {
        let width = usize::from(area.width.saturating_sub(RAIL + BAR)).max(1);
        if width != self.width {
            if self.width > 0 && !self.follows && !self.timeline.is_empty() {
                let (top, cursor) = (self.top, self.cursor);
                let anchor = self
                    .anchor
                    .unwrap_or_else(|| [top, cursor].map(|place| (place.slot, self.offset(place))));
                self.width = width;
                let [top, cursor] = anchor.map(|(slot, offset)| self.at_offset(slot, offset));
                (self.top, self.cursor) = (top, cursor);
                self.anchor = Some(anchor);
            }
            self.width = width;
        }
        self.area = area;
    }

    fn draw_rows(&mut self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let mut place = self.top;
        for row in area.rows() {
            self.draw_row(buffer, row, place, theme);
            self.seen.push(place);
            let next = self.down(place, 1);
            if next == place {
                break;
            }
            place = next;
        }
    }

    fn draw_row(&mut self, buffer: &mut Buffer, row: Rect, place: Place, theme: &Theme) {
        let is_here = place.slot == self.cursor.slot;
        self.rows(place.slot);
        let lead = self.lead(place.slot);
        let inside = inner(row);
        if let Some(at) = place.row.checked_sub(lead.rows()) {
            if is_here {
                let role = if self.is_focused {
                    Role::Colorful
                } else {
                    Role::Accent
                };
                put(buffer, row, &[Span::role("▌", role)], theme);
            }
            if let Some(row) = self.cache.get(place.slot).get(at) {
                let (line, part) = (row.line.clone(), row.part);
                put(buffer, inside, &line, theme);
                if let (Spot::Head(margin), true) = (part, at == 0 || matches!(part, Spot::Head(_)))
                {
                    self.draw_mark(buffer, inside, margin, place.slot, theme);
                }
                if place == self.cursor && self.is_focused {
                    buffer.set_style(inside, convert::selection(theme));
                }
                self.draw_matches(buffer, inside, &line, place, theme);
                return;
            }
        } else if lead.name && place.row + 1 == lead.rows() {
            let group = self.index.get(place.slot).group;
            let entry = self.timeline.entry(place.slot);
            let margin = entry.map_or(0, |entry| super::rows::indent(entry, self.width));
            let name = format!("{:margin$}{}:", "", self.groups.name(group));
            put(buffer, inside, &[Span::role(name, Role::Accent)], theme);
        }
        if place == self.cursor && self.is_focused {
            buffer.set_style(inner(row), convert::selection(theme));
        }
    }

    /// Paints the status of a call over its bullet, and its duration or hidden
    /// entries at the end of the row.
    fn draw_mark(
        &mut self,
        buffer: &mut Buffer,
        row: Rect,
        margin: usize,
        slot: usize,
        theme: &Theme,
    ) {
        let Some(entry) = self.timeline.entry(slot) else {
            return;
        };
        let is_left = matches!(&entry.item, Item::Tool(tool) if self.left.contains(&tool.call.id));
        let is_open = self.timeline.is_open(slot) && self.is_live && !is_left;
        let waits = is_open && self.is_asked(entry);
        let is_continued = self.timeline.is_continued(slot);
        let Some((mark, role)) = mark(entry, is_open, waits) else {
            return;
        };
        self.has_spinner |= is_open && matches!(entry.item, Item::Tool(_));
        let at = row.x + u16::try_from(margin).unwrap_or_default();
        let cell = Rect::new(at, row.y, 1, 1).intersection(row);
        let mark = Span::new(mark, Style::of(role).bold());
        // The status of a call that delegated is below its sub-agent.
        if !is_continued {
            put(buffer, cell, &[mark], theme);
        }
        if waits {
            mark_pending(buffer, row, at, theme);
        }
        let below = self.groups.below(slot);
        let note = if waits {
            Some("waiting for you".to_owned())
        } else if is_open {
            self.began
                .get(&slot)
                .map(|began| elapsed(began.elapsed().as_secs()))
        } else if below > 0 && self.level(slot) == Level::Folded {
            Some(format!("{below} entries folded"))
        } else if is_continued {
            None
        } else {
            took(entry).or_else(|| unknown(entry))
        };
        if let Some(note) = note {
            let cells = u16::try_from(width(&note)).unwrap_or_default();
            if cells + 12 < row.width {
                let place = Rect {
                    x: row.right() - cells - 1,
                    width: cells,
                    ..row
                };
                let is_free = (place.x.saturating_sub(1)..place.right())
                    .all(|x| buffer[(x, row.y)].symbol() == " ");
                if is_free {
                    put(buffer, place, &[Span::role(note, Role::Accent)], theme);
                }
            }
        }
    }

    /// Returns true if a call waits for permission.
    fn is_asked(&self, entry: &Entry) -> bool {
        let Item::Tool(tool) = &entry.item else {
            return false;
        };
        let asks = |open: &Entry| matches!(&open.item, Item::Permission(asked) if asked.tool_id == tool.call.id);
        self.timeline.open().iter().rev().take(64).any(asks)
    }

    fn draw_matches(
        &self,
        buffer: &mut Buffer,
        row: Rect,
        line: &[Span],
        place: Place,
        theme: &Theme,
    ) {
        let Some(search) = &self.search else {
            return;
        };
        // The current match must stand out even where the selected row is
        // reversed.
        let is_exchanged = self.is_focused && !theme.has_colors();
        let style = match (place == self.cursor, is_exchanged) {
            (true, false) => Painted::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
            (true, true) => Painted::new()
                .remove_modifier(Modifier::REVERSED)
                .add_modifier(Modifier::BOLD),
            (false, _) => Painted::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
        };
        let text = entry_text::plain(line);
        for found in search.places(&text) {
            let before = width(text.get(..found.start).unwrap_or_default());
            let cells = width(text.get(found).unwrap_or_default());
            let at = row
                .x
                .saturating_add(u16::try_from(before).unwrap_or(u16::MAX));
            let cells = u16::try_from(cells).unwrap_or(u16::MAX);
            let place = Rect::new(at, row.y, cells, 1).intersection(row);
            buffer.set_style(place, style);
        }
    }

    /// Paints the scrollbar.
    fn draw_bar(&self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let (all, height) = (self.timeline.len().max(1), usize::from(area.height));
        let first = self.top.slot;
        let last = self.seen.last().map_or(first, |place| place.slot);
        let is_whole = Some(first) == self.next_slot(0) && self.next_slot(last + 1).is_none();
        if is_whole && self.top.row == 0 && self.seen.len() < height {
            return;
        }
        // The thumb must move even if all slots are at least partly visible.
        let most = height.saturating_sub(1).max(1);
        let size = ((last - first + 1) * height / all).clamp(1, most);
        let is_end = self.follows || self.is_at_end(last);
        let start = if is_end {
            height - size
        } else {
            (first * height / all).min(height - size)
        };
        let thumb = Span::role("█", Role::Accent);
        let track = Span::role("│", Role::Accent);
        for (at, row) in area.rows().enumerate() {
            let place = Rect::new(row.right().saturating_sub(1), row.y, 1, 1);
            let is_thumb = (start..start + size).contains(&at);
            let sign = if is_thumb { &thumb } else { &track };
            put(buffer, place, std::slice::from_ref(sign), theme);
        }
    }

    /// Returns true if the last row is on the screen.
    fn is_at_end(&self, slot: usize) -> bool {
        let rows = self.cache.get(slot).len() + self.lead(slot).rows();
        let last = self.seen.last().map_or(0, |place| place.row);
        self.next_slot(slot + 1).is_none() && last + 1 >= rows
    }

    /// Paints a hint about new content below.
    fn draw_hint(&self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        const HINT: &str = " ▼ more below ";
        let cells = u16::try_from(width(HINT)).unwrap_or_default();
        let is_below = self
            .seen
            .last()
            .is_some_and(|last| self.next_slot(last.slot + 1).is_some());
        if self.has_unseen && !self.follows && is_below && area.width > cells + 4 {
            let place = Rect {
                x: area.right() - cells - 2,
                y: area.bottom() - 1,
                width: cells,
                height: 1,
            };
            let hint = Span::new(HINT, Style::of(Role::Colorful).bold());
            put(buffer, place, &[hint], theme);
            buffer.set_style(place, convert::selection(theme));
        }
    }

    fn draw_plan(&self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let Some(plan) = self.plan() else {
            return;
        };
        let done = |status| matches!(status, PlanStatus::Completed | PlanStatus::Canceled);
        let count = plan.entries.iter().filter(|step| done(step.status)).count();
        let heading = vec![
            Span::new("Plan", Style::of(Role::Colorful).bold()),
            Span::role(format!("  {count}/{}", plan.entries.len()), Role::Accent),
        ];
        let mut lines = vec![heading, Line::new()];
        let current = plan.entries.iter().position(|step| !done(step.status));
        // The current step stays visible in a long plan.
        let height = usize::from(area.height).saturating_sub(2);
        let skipped = current.unwrap_or_default().saturating_sub(height / 2);
        for (at, step) in plan
            .entries
            .iter()
            .enumerate()
            .skip(skipped)
            .take(height.max(1))
        {
            let (sign, style) = match step.status {
                PlanStatus::Completed => ("✔ ", Style::of(Role::Green)),
                PlanStatus::Canceled => ("✗ ", Style::of(Role::Accent)),
                PlanStatus::InProgress => ("▸ ", Style::of(Role::Colorful).bold()),
                _ if Some(at) == current => ("□ ", Style::of(Role::Colorful).bold()),
                _ => ("□ ", Style::of(Role::Normal)),
            };
            let first = [Span::new(sign, style)];
            let rest = [Span::role("  ", Role::Normal)];
            let words = sanitize::line(step.text.trim());
            let role = if done(step.status) {
                Style::of(Role::Accent)
            } else {
                style
            };
            let block = unspool::doc::Block::Paragraph(vec![Span::new(words, role)]);
            let room = usize::from(area.width).saturating_sub(3);
            lines.extend(layout::layout(&[block], Some(room), &first, &rest));
        }
        for (row, line) in area
            .rows()
            .zip(lines.iter().map(Some).chain(std::iter::repeat(None)))
        {
            put(buffer, row, &[Span::role("│", Role::Accent)], theme);
            let inside = Rect {
                x: row.x + 2.min(row.width),
                width: row.width.saturating_sub(2),
                ..row
            };
            if let Some(line) = line {
                put(buffer, inside, line, theme);
            }
        }
    }
}

/// Replaces "Running" with "Pending" for a command that waits for permission. The
/// words have the same length, so no layout is needed.
fn mark_pending(buffer: &mut Buffer, row: Rect, mark: u16, theme: &Theme) {
    let (runs, waits) = ("Running", "Pending");
    let place = Rect {
        x: mark.saturating_add(2),
        width: 7,
        ..row
    };
    let place = place.intersection(row);
    let seen: String = (place.x..place.right())
        .map(|x| buffer[(x, row.y)].symbol().to_owned())
        .collect();
    if seen == runs {
        let word = Span::new(waits, Style::of(Role::Colorful).bold());
        put(buffer, place, &[word], theme);
    }
}

fn mark(entry: &Entry, is_open: bool, is_asked: bool) -> Option<(&'static str, Role)> {
    match &entry.item {
        Item::Tool(tool) => Some(match tool.result.as_ref().map(|result| result.status) {
            None if is_open && is_asked => ("○", Role::Colorful),
            None if is_open => (spinning(), Role::Colorful),
            None => ("○", Role::Accent),
            Some(status) => ended(status),
        }),
        Item::Edit(made) => Some(ended(made.status)),
        _ => None,
    }
}

fn ended(status: ToolStatus) -> (&'static str, Role) {
    match status {
        ToolStatus::Ok => ("✓", Role::Green),
        ToolStatus::Error => ("✗", Role::Red),
        _ => ("⊘", Role::Red),
    }
}

/// Returns the current frame of the spinner.
fn spinning() -> &'static str {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    spinner::frame(START.get_or_init(Instant::now).elapsed())
}

/// Returns the duration of a call if it took at least a second.
fn took(entry: &Entry) -> Option<String> {
    let Item::Tool(tool) = &entry.item else {
        return None;
    };
    let ms = tool.result.as_ref()?.duration_ms?;
    (ms >= 1000).then(|| elapsed(ms / 1000))
}

/// Returns the remark for a call that neither runs nor has a result.
fn unknown(entry: &Entry) -> Option<String> {
    let is_unknown = matches!(&entry.item, Item::Tool(tool) if tool.result.is_none());
    is_unknown.then(|| "no result".to_owned())
}

fn elapsed(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// Returns the part of a row between rail and scrollbar.
fn inner(row: Rect) -> Rect {
    let rail = RAIL.min(row.width);
    Rect {
        x: row.x + rail,
        width: row.width.saturating_sub(RAIL + BAR),
        ..row
    }
}
