//! Formats statistics for people.

use super::Stats;

impl Stats {
    /// Returns the figures worth a line on a page: names and values.
    pub fn figures(&self) -> Vec<(String, String)> {
        let usage = self.usage();
        let count = |count: Option<u64>| count.filter(|count| *count > 0).map(format_count);
        let cost = usage.cost_usd.filter(|cost| *cost > 0.0);
        let duration = self.duration_ms().filter(|ms| *ms > 0);
        let failed = match self.failed_tools {
            0 => String::new(),
            failed => format!(" ({failed} failed)"),
        };
        let figures = [
            ("Turns", count(Some(self.turns))),
            (
                "Calls",
                count(Some(self.tools)).map(|calls| calls + &failed),
            ),
            ("Time", duration.map(format_duration)),
            ("Tokens in", count(usage.input_tokens)),
            ("Tokens out", count(usage.output_tokens)),
            ("Cost", cost.map(|cost| format!("${cost:.4}"))),
        ];
        figures
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

/// Formats milliseconds: `950 ms`, `12.3 s`, `4 min 5 s`, `2 h 7 min`.
pub fn format_duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// Formats a count, rounded to the nearest: `999`, `1.2k`, `35k`, `5.7M`.
pub fn format_count(count: u64) -> String {
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
        assert_eq!(format_duration(950), "950 ms");
        assert_eq!(format_duration(12_345), "12.3 s");
        assert_eq!(format_duration(245_000), "4 min 5 s");
        assert_eq!(format_duration(7_620_000), "2 h 7 min");
        assert_eq!(
            [
                999, 1234, 9_960, 34_567, 187_600, 999_499, 999_500, 5_678_901
            ]
            .map(format_count),
            ["999", "1.2k", "10k", "35k", "188k", "999k", "1.0M", "5.7M"]
        );
        let _ = format_count(u64::MAX);
    }
}
