//! Parses times as people type them.

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

const EXPECTED: &str = "expected a date (2026-11-15), a time (19:00), a day (today, yesterday, monday), \
                        or a duration ago (2h, 3 days ago)";

/// Parses a date, a time, a day, or a duration ago.
pub(crate) fn parse_time(text: &str) -> Result<Timestamp, String> {
    let time = parse_relative(text, &Zoned::now());
    time.ok_or_else(|| EXPECTED.to_owned())
}

/// Parses a time relative to `now`. A day means its start. A weekday is the most
/// recent one, possibly today. A time of day is its most recent occurrence.
fn parse_relative(text: &str, now: &Zoned) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    if let Ok(time) = text.parse::<jiff::civil::DateTime>() {
        let time = time.to_zoned(TimeZone::system()).ok()?;
        return Some(time.timestamp());
    }
    if let Some(time) = text
        .contains(':')
        .then(|| text.parse::<jiff::civil::Time>())
    {
        let today = now.date().to_datetime(time.ok()?);
        let today = today.to_zoned(now.time_zone().clone()).ok()?;
        let last = if today > *now {
            today.checked_sub(1.day()).ok()?
        } else {
            today
        };
        return Some(last.timestamp());
    }
    let text = text.to_lowercase();
    let days = match text.as_str() {
        "now" => return Some(now.timestamp()),
        "today" => Some(0),
        "yesterday" => Some(1),
        name => weekday(name.strip_prefix("last ").unwrap_or(name))
            .map(|day| i64::from(day.until(now.weekday()))),
    };
    let time = if let Some(days) = days {
        now.start_of_day().ok()?.checked_sub(days.days()).ok()?
    } else {
        let span = text.strip_suffix("ago").unwrap_or(&text).trim();
        let span: Span = span.parse().ok()?;
        now.checked_sub(span.abs()).ok()?
    };
    Some(time.timestamp())
}

fn weekday(name: &str) -> Option<Weekday> {
    const NAMES: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let is_it = |full: &str| full == name || (name.len() >= 3 && full.starts_with(name));
    let found = NAMES.into_iter().find(|(full, _)| is_it(full));
    found.map(|(_, day)| day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_days_times_and_durations() {
        // A Monday.
        let now: Zoned = "2026-11-16T09:30:00+01:00[Europe/Berlin]".parse().unwrap();
        let time = |text: &str| {
            let time = parse_relative(text, &now).unwrap_or_else(|| panic!("{text}"));
            time.to_zoned(now.time_zone().clone())
                .strftime("%m-%d %H:%M")
                .to_string()
        };
        for (text, expected) in [
            ("today", "11-16 00:00"),
            ("Yesterday", "11-15 00:00"),
            ("monday", "11-16 00:00"),
            ("tuesday", "11-10 00:00"),
            ("last sun", "11-15 00:00"),
            ("now", "11-16 09:30"),
            ("2 hours ago", "11-16 07:30"),
            ("90m", "11-16 08:00"),
            ("08:15", "11-16 08:15"),
            ("19:00", "11-15 19:00"),
            ("1 week ago", "11-09 09:30"),
            ("2026-11-01T00:00:00Z", "11-01 01:00"),
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
        for text in ["", "mo", "someday", "ago", "last", "25:00", "9:", "1:2:3:4"] {
            assert!(parse_relative(text, &now).is_none(), "{text}");
        }
    }
}
