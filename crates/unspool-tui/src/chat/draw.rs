//! Paints the chat: tab bar, transcript, queued messages, prompt or question,
//! status line.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use unspool::doc::{Line, Role, Span, Style};
use unspool::layout::{truncated, width};
use unspool::sanitize;

use super::App;
use super::tab::Tab;
use crate::paint::{put, rule, wide};
use unspool_acp::Phase;
use unspool_acp::agent_state::ConfigValue;

/// Maximum number of queued messages to show.
const QUEUED: usize = 3;

/// Rows reserved for a question before the transcript gets any.
const LEAST_QUESTION: u16 = 14;

/// Areas of the last frame, for the mouse.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Areas {
    pub(super) pane: Rect,
    pub(super) input: Rect,
}

impl App {
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, now: Instant) {
        self.draw_tab(frame, now);
        let all = frame.area();
        let theme = self.settings.look.formatter.theme();
        if let Some(menu) = &mut self.menu {
            let height = menu
                .height(all.width)
                .min(all.height.saturating_sub(1))
                .max(1);
            let top = all.height.saturating_sub(height + 1);
            let area = Rect::new(all.x, top, all.width, height);
            menu.draw(frame, area, &theme, now);
        }
    }

    fn draw_tab(&mut self, frame: &mut Frame<'_>, now: Instant) {
        let all = frame.area();
        let marks = self.marks();
        let (active, tick) = (self.active, self.tick);
        let theme = self.settings.look.formatter.theme();
        let Some(tab) = self.tabs.get_mut(self.active) else {
            return;
        };
        let bar = u16::from(marks.len() > 1);
        let queued = tab.queued();
        let waiting = u16::try_from(queued.len().min(QUEUED)).unwrap_or_default();
        let input = input_height(tab, all);
        let heights = [
            Constraint::Length(bar),
            Constraint::Min(u16::from(!tab.has_question())),
            Constraint::Length(waiting),
            Constraint::Length(u16::from(!tab.has_question())),
            Constraint::Length(input),
            Constraint::Length(1),
        ];
        let [bar, pane, waiting, line, input, status] = Layout::vertical(heights).areas(all);
        self.bar.draw(frame, bar, &marks, active, tick, &theme);
        tab.viewer.pane.draw(frame, pane);
        for (row, text) in waiting.rows().zip(&queued) {
            let words = format!("queued: {}", sanitize::line(text));
            let words = vec![Span::role(words, Role::Accent)];
            put(
                frame.buffer_mut(),
                row,
                &truncated(&words, room(row)),
                &theme,
            );
        }
        if line.height > 0 {
            rule(frame.buffer_mut(), line, &Line::new(), &theme);
        }
        let status_line = status_line(tab, room(status));
        put(frame.buffer_mut(), status, &status_line, &theme);
        if let Some(question) = tab.question() {
            question.draw(frame, input, &theme, now);
        } else {
            tab.prompt
                .set_focus(self.menu.is_none() && !tab.is_browsing());
            tab.prompt.draw(frame, input, &theme);
        }
        self.areas = Areas { pane, input };
        if let Some(menu) = self
            .tabs
            .get_mut(active)
            .and_then(|tab| tab.viewer.overlay.as_mut())
        {
            menu.draw(frame, all, &theme);
        }
    }
}

fn room(area: Rect) -> usize {
    usize::from(area.width)
}

/// Returns the height of the prompt or question. A question may take most of the
/// screen, in a small window all but the status line; a prompt takes a third.
fn input_height(tab: &mut Tab, all: Rect) -> u16 {
    let most = all.height.saturating_sub(4).max(LEAST_QUESTION);
    match tab.question() {
        Some(question) => {
            let most = most.min(all.height.saturating_sub(1));
            question.height(all.width).min(most)
        }
        None => tab.prompt.height(all),
    }
}

/// Lays out the status line: the current message or the agent on the left, usage
/// on the right.
fn status_line(tab: &Tab, room: usize) -> Line {
    let left = match (tab.viewer.message(), tab.viewer.pane.search_words()) {
        (Some(words), _) => vec![Span::role(words, Role::Colorful)],
        (None, Some((words, count))) => {
            vec![Span::role(format!("/{words}  {count}"), Role::Colorful)]
        }
        (None, None) => about(tab),
    };
    let right = tab.viewer.pane.facts().figures().join("  ");
    let right = format!(" {right}");
    let left_room = room.saturating_sub(width(&right));
    // A message is more important than usage figures.
    let is_cut = tab
        .viewer
        .message()
        .is_some_and(|words| width(words) > left_room);
    if left_room < 12 || is_cut {
        return truncated(&left, room);
    }
    let mut line = truncated(&left, left_room);
    let used = wide(&line);
    line.push(Span::role(
        " ".repeat(left_room.saturating_sub(used)),
        Role::Normal,
    ));
    line.push(Span::role(right, Role::Accent));
    line
}

fn about(tab: &Tab) -> Line {
    let mut line = vec![Span::new(
        sanitize::line(tab.name()).into_owned(),
        Style::of(Role::Normal).bold(),
    )];
    if tab.is_browsing() {
        line.insert(
            0,
            Span::new(
                "transcript: i to write · ",
                Style::of(Role::Colorful).bold(),
            ),
        );
    }
    let mut add = |words: String, role: Role| {
        if !words.is_empty() {
            line.push(Span::role(" · ", Role::Accent));
            line.push(Span::role(words, role));
        }
    };
    let doing = match tab.phase() {
        Phase::Starting if tab.is_slow() => "no answer yet, Ctrl-C to stop",
        Phase::Starting => "starting",
        Phase::Unopened => "no session",
        Phase::NeedsLogin => "login required (F6)",
        Phase::Ready if !tab.queued().is_empty() => "Enter sends the queued message",
        Phase::Ready => "",
        Phase::Working => "working, Esc Esc to stop",
        Phase::Asking => "asks",
        Phase::Failed => "failed, Ctrl-R to restart",
        Phase::Ended => "ended, Ctrl-R to restart",
    };
    let role = match tab.phase() {
        Phase::Failed | Phase::NeedsLogin => Role::Red,
        _ => Role::Colorful,
    };
    add(doing.to_owned(), role);
    if let Some(state) = tab.state() {
        let own = sanitize::line(&state.agent).into_owned();
        add(
            if own == tab.agent() {
                String::new()
            } else {
                own
            },
            Role::Accent,
        );
        let mode = state.modes.iter().find(|mode| mode.id == state.mode);
        let mode = mode.map(|mode| sanitize::line(&mode.name).into_owned());
        add(mode.unwrap_or_default(), Role::Accent);
        let model = state
            .options
            .iter()
            .find(|option| option.category == "model");
        if let Some(ConfigValue::Select { current, choices }) = model.map(|model| &model.value) {
            let name = choices.iter().find(|choice| choice.value == *current);
            let name = name.map_or(current.as_str(), |choice| choice.name.as_str());
            add(sanitize::line(name).into_owned(), Role::Accent);
        }
    }
    if tab.viewer.pane.filter().is_filter() {
        let words = format!("filtered {}", tab.viewer.pane.position());
        add(words, Role::Colorful);
    }
    add("F1 help".to_owned(), Role::Accent);
    line
}
