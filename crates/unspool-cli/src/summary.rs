//! The closing line of a run: turns, calls, time, tokens, cost.

use std::io::{self, Write};

use unspool::doc::{Block, Role, Span};
use unspool::layout;
use unspool::stats::Stats;

use crate::settings::Settings;

/// Writes a line with the run's figures, or nothing if there are none.
pub(crate) fn write(stats: &Stats, settings: &Settings, out: &mut impl Write) -> io::Result<()> {
    let words = words(stats, settings.usage);
    if words.is_empty() {
        return Ok(());
    }
    let line = vec![Span::role(words.join(" · "), Role::Accent)];
    let width = layout::columns(settings.width);
    let lines = layout::layout(&[Block::Paragraph(line)], width, &[], &[]);
    writeln!(out, "\n{}", settings.formatter().text(&lines))
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
    words.extend(stats.duration_ms().filter(|ms| *ms > 0).map(duration));
    if with_usage {
        let usage = stats.usage();
        let tokens = [(usage.input_tokens, "in"), (usage.output_tokens, "out")];
        words.extend(tokens.into_iter().filter_map(|(count, name)| {
            count.filter(|count| *count > 0).map(|count| {
                let noun = if count == 1 { "token" } else { "tokens" };
                format!("{} {noun} {name}", short(count))
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

/// Returns the figures of a run as names and values.
pub(crate) fn figures(stats: &Stats) -> Vec<(String, String)> {
    let usage = stats.usage();
    let count = |count: Option<u64>| count.filter(|count| *count > 0).map(short);
    let cost = usage.cost_usd.filter(|cost| *cost > 0.0);
    let duration = stats.duration_ms().filter(|ms| *ms > 0);
    let failed = match stats.failed_tools {
        0 => String::new(),
        failed => format!(" ({failed} failed)"),
    };
    let figures = [
        ("Turns", count(Some(stats.turns))),
        (
            "Calls",
            count(Some(stats.tools)).map(|calls| calls + &failed),
        ),
        ("Time", duration.map(self::duration)),
        ("Tokens in", count(usage.input_tokens)),
        ("Tokens out", count(usage.output_tokens)),
        ("Cost", cost.map(|cost| format!("${cost:.4}"))),
    ];
    figures
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Formats a duration: `950 ms`, `12.3 s`, `4 min 5 s`, `2 h 7 min`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// Formats a count, rounded: `999`, `1.2k`, `35k`, `5.7M`.
pub(crate) fn short(count: u64) -> String {
    let tenths = |unit: u64| {
        (count / (unit / 10)).saturating_add(u64::from(count % (unit / 10) >= unit / 20))
    };
    match (count, tenths(1000), tenths(1_000_000)) {
        (0..1000, ..) => count.to_string(),
        (_, tenths @ 0..100, _) => format!("{}.{}k", tenths / 10, tenths % 10),
        (..999_500, ..) => format!("{}k", (count + 500) / 1000),
        (.., tenths) => format!("{}.{}M", tenths / 10, tenths % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(duration(950), "950 ms");
        assert_eq!(duration(12_345), "12.3 s");
        assert_eq!(duration(245_000), "4 min 5 s");
        assert_eq!(duration(7_620_000), "2 h 7 min");
        assert_eq!(
            [
                999, 1234, 9_960, 34_567, 187_600, 999_499, 999_500, 5_678_901
            ]
            .map(short),
            ["999", "1.2k", "10k", "35k", "188k", "999k", "1.0M", "5.7M"]
        );
        let _ = short(u64::MAX);
    }
}
