//! Validates the values of a form.

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Number, Value};

use super::schema::{Format, Kind};
use crate::paint::count;

/// The value to send, or the reason why it is invalid. `None` if the field stays
/// empty.
pub(super) type Checked = Result<Option<Value>, String>;

/// Validates a text.
pub(super) fn text(kind: &Kind, text: &str, is_required: bool) -> Checked {
    if text.is_empty() {
        return if is_required {
            Err("is required".to_owned())
        } else {
            Ok(None)
        };
    }
    match kind {
        Kind::Text {
            least,
            most,
            pattern,
            format,
        } => {
            let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            length_is(length, *least, *most)?;
            if let Some(format) = format {
                format_is(*format, text)?;
            }
            if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
                return Err(format!("must match {}", pattern.as_str()));
            }
            Ok(Some(Value::from(text)))
        }
        Kind::Number {
            least,
            most,
            is_integer,
        } => number(text.trim(), *least, *most, *is_integer).map(Some),
        _ => Ok(None),
    }
}

fn length_is(length: u64, least: Option<u64>, most: Option<u64>) -> Result<(), String> {
    let words = |number: u64| {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        count(number, "character", "characters")
    };
    match (least, most) {
        (Some(least), _) if length < least => Err(format!("at least {}", words(least))),
        (_, Some(most)) if length > most => Err(format!("at most {}", words(most))),
        _ => Ok(()),
    }
}

fn number(
    text: &str,
    least: Option<f64>,
    most: Option<f64>,
    is_integer: bool,
) -> Result<Value, String> {
    let whole = text.parse::<i64>().ok().map(Number::from);
    let broken = || text.parse().ok().and_then(Number::from_f64);
    let number = match (whole, is_integer) {
        (Some(whole), _) => whole,
        (None, true) => return Err("must be a whole number".to_owned()),
        (None, false) => broken().ok_or("must be a number")?,
    };
    let value = number.as_f64().unwrap_or(f64::NAN);
    match (least, most) {
        (Some(least), _) if value < least => Err(format!("at least {least}")),
        (_, Some(most)) if value > most => Err(format!("at most {most}")),
        _ => Ok(Value::Number(number)),
    }
}

fn format_is(format: Format, text: &str) -> Result<(), String> {
    let (is_so, words) = match format {
        Format::Email => (is_email(text), "must be an email address"),
        Format::Uri => (is_uri(text), "must be a URL such as https://example.org"),
        Format::Date => (is_date(text), "must be a date such as 2026-01-31"),
        Format::DateTime => (
            text.parse::<Timestamp>().is_ok(),
            "must be a time such as 2026-01-31T12:00:00Z",
        ),
    };
    if is_so { Ok(()) } else { Err(words.to_owned()) }
}

fn is_email(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.contains([' ', '@', '<', '>']);
    let is_host = |host: &str| host.split('.').all(is_part);
    text.rsplit_once('@')
        .is_some_and(|(name, host)| is_part(name) && is_host(host))
}

fn is_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it))
    };
    text.split_once(':')
        .is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty() && !rest.contains(' '))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

/// Validates the number of selected options.
pub(super) fn many(
    chosen: Vec<Value>,
    least: Option<u64>,
    most: Option<u64>,
    is_required: bool,
) -> Checked {
    let number = u64::try_from(chosen.len()).unwrap_or(u64::MAX);
    if chosen.is_empty() && !is_required {
        return Ok(None);
    }
    let least = least.unwrap_or(0).max(u64::from(is_required));
    match most {
        _ if number < least => Err(format!("choose at least {least}")),
        Some(most) if number > most => Err(format!("choose at most {most}")),
        _ => Ok(Some(Value::Array(chosen))),
    }
}
