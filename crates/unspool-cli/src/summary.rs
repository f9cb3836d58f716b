//! The closing line of a run: turns, calls, time, tokens, cost.

use std::io::{self, Write};

use unspool::doc::{Block, Role, Span};
use unspool::layout;
use unspool::stats::{Stats, format_count, format_duration};

use crate::settings::Settings;
use crate::view::harmless;

/// Writes a line with the run's figures, or nothing if there are none.
pub(crate) fn write(stats: &Stats, settings: &Settings, out: &mut impl Write) -> io::Result<()> {
    let words = words(stats, settings.usage);
    if words.is_empty() {
        return Ok(());
    }
    let line = vec![Span::role(words.join(" · "), Role::Accent)];
    let width = layout::columns(settings.width);
    let lines = layout::layout(&[Block::Paragraph(line)], width, &[], &[]);
    let text = settings.formatter().text(&lines);
    if settings.github_actions {
        // The model's name comes from the agent.
        let lines: Vec<String> = text.lines().map(harmless).collect();
        return writeln!(out, "\n{}", lines.join("\n"));
    }
    writeln!(out, "\n{text}")
}

fn words(stats: &Stats, with_usage: bool) -> Vec<String> {
    let mut words = Vec::new();
    if stats.turns > 0 {
        words.push(counted(stats.turns, "turn"));
    }
    if stats.tools > 0 {
        let failed = match stats.failed_tools {
            0 => String::new(),
            failed => format!(" ({failed} failed)"),
        };
        words.push(format!("{}{failed}", counted(stats.tools, "tool call")));
    }
    words.extend(
        stats
            .duration_ms()
            .filter(|ms| *ms > 0)
            .map(format_duration),
    );
    if with_usage {
        let usage = stats.usage();
        let tokens = [(usage.input_tokens, "in"), (usage.output_tokens, "out")];
        words.extend(tokens.into_iter().filter_map(|(count, name)| {
            count.filter(|count| *count > 0).map(|count| {
                let noun = if count == 1 { "token" } else { "tokens" };
                format!("{} {noun} {name}", format_count(count))
            })
        }));
        words.extend(
            usage
                .cost_usd
                .filter(|cost| *cost > 0.0)
                .map(|cost| format!("${cost:.4}")),
        );
    }
    if !stats.model.is_empty() {
        words.push(stats.model.clone());
    }
    words
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
