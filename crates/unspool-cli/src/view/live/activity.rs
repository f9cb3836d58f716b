//! Tracks the current turn for the status line: start, running calls, plan step,
//! retries.

use std::time::{Duration, Instant};

use unspool::Event;
use unspool::doc::{Line, Role, Span, Style};
use unspool::event::{Body, Level, PlanStatus};
use unspool::session::{Entry, Item};
use unspool::stats::format_duration;
use unspool_tui::spinner;

/// Silence after which the status line mentions it.
const QUIET: Duration = Duration::from_secs(10);

/// State of the current turn.
pub(super) struct Activity {
    pub(super) started: Instant,
    last_event: Instant,
    pub(super) is_open: bool,
    /// Running calls and when they were first seen.
    calls: Vec<(String, Instant)>,
    /// The current step of the plan.
    step: Option<String>,
    /// A pending retry: its start and announced delay.
    retry: Option<(Instant, Option<Duration>)>,
}

impl Activity {
    /// Starts now.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            last_event: now,
            is_open: true,
            calls: Vec::new(),
            step: None,
            retry: None,
        }
    }

    /// Updates the state from an event.
    pub(super) fn observe(&mut self, event: &Event) {
        let now = Instant::now();
        self.last_event = now;
        let was_retry = self.retry.take();
        match &event.body {
            Body::ToolUse(call) if !self.calls.iter().any(|(id, _)| *id == call.id) => {
                self.calls.push((call.id.clone(), now));
            }
            Body::ToolResult(result) => self.calls.retain(|(id, _)| *id != result.id),
            Body::Plan(plan) if event.agent.is_none() => {
                self.step = plan
                    .entries
                    .iter()
                    .position(|entry| {
                        matches!(entry.status, PlanStatus::Pending | PlanStatus::InProgress)
                    })
                    .map(|at| {
                        let text = plan.entries.get(at).map_or("", |entry| entry.text.as_str());
                        format!("{text} ({} of {})", at + 1, plan.entries.len())
                    });
            }
            Body::Notice(notice) if notice.level == Level::Retry => {
                self.retry = Some((now, pause(&notice.text.as_str())));
            }
            Body::Usage(_) | Body::State(_) => self.retry = was_retry,
            Body::TurnEnd(_) if event.agent.is_none() => {
                self.is_open = false;
                self.step = None;
                self.calls.clear();
            }
            _ => {}
        }
        if !self.is_open
            && matches!(
                event.body,
                Body::User(_) | Body::ToolUse(_) | Body::Text(_) | Body::Reasoning(_)
            )
        {
            self.is_open = true;
            self.started = now;
        }
    }

    /// Adds spinner and duration to the first line of a running call.
    pub(super) fn animate(&self, entry: &Entry, lines: &mut [Line], now: Instant) {
        if let Item::Tool(tool) = &entry.item
            && tool.result.is_none()
            && let Some(head) = lines.first_mut()
        {
            let since = self.calls.iter().find(|(id, _)| *id == tool.call.id);
            let elapsed = since.map_or(Duration::ZERO, |(_, since)| now - *since);
            animate(head, elapsed);
        }
    }

    /// Returns the status line.
    pub(super) fn status(&self, now: Instant) -> Line {
        let mut words = vec![seconds(now - self.started)];
        if let Some((since, pause)) = self.retry {
            words.push(
                match pause.and_then(|pause| pause.checked_sub(now - since)) {
                    Some(rest) => {
                        format!("retrying in {}", seconds(rest + Duration::from_millis(999)))
                    }
                    None => format!("retrying for {}", seconds(now - since)),
                },
            );
        } else if now - self.last_event >= QUIET {
            words.push(format!(
                "nothing new for {}",
                seconds(now - self.last_event)
            ));
        }
        words.extend(self.step.clone());
        vec![
            Span::new(
                spinner::frame(now - self.started),
                Style::of(Role::Colorful),
            ),
            Span::new(format!(" {}", words.join(" · ")), Style::of(Role::Accent)),
        ]
    }
}

/// Replaces the bullet with a spinner and appends the duration.
fn animate(head: &mut Line, elapsed: Duration) {
    if let Some(bullet) = head.iter_mut().find(|span| span.text.contains('•')) {
        bullet.text = bullet.text.replace('•', spinner::frame(elapsed));
        bullet.style = Style::of(Role::Colorful);
    }
    if elapsed >= Duration::from_secs(1) {
        let text = format!(" {}", seconds(elapsed));
        head.push(Span::new(text, Style::of(Role::Accent)));
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format_duration(seconds.saturating_mul(1000)),
    }
}

/// Parses the delay an agent announces: `… in 2s`, `… in 1.5 seconds`.
fn pause(text: &str) -> Option<Duration> {
    let (_, after) = text.rsplit_once(" in ")?;
    let after = after.trim_start();
    let digits = after
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(after.len());
    let (number, unit) = after.split_at_checked(digits)?;
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let seconds = if unit.starts_with("ms") {
        number / 1000.0
    } else if unit.starts_with('s') {
        number
    } else if unit.starts_with('m') {
        number * 60.0
    } else {
        return None;
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_retry_delays() {
        let read = |text| pause(text).map(|pause| pause.as_millis());
        assert_eq!(read("Retrying in 2s: overloaded"), Some(2000));
        assert_eq!(read("retry 1 of 10 in 550 ms"), Some(550));
        assert_eq!(read("trying again in 1.5 seconds"), Some(1500));
        assert_eq!(read("in 2 minutes"), None);
        assert_eq!(read("again in 2 minutes"), Some(120_000));
        assert_eq!(read("failed in the end"), None);
    }
}
