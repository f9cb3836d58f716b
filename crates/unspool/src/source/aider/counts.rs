//! Token counts, which end every message of a model.

use super::line::Family;
use crate::event::Usage;

/// The contents of a line of token counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts {
    pub(super) family: Family,
    pub(super) usage: Usage,
    /// The cost of the session so far.
    pub(super) session_cost: Option<f64>,
}

/// Reads `Tokens: 2.6k sent, 75 received. Cost: $0.0072 message, …` and
/// `1.2k ◇ 0.0% ↑ 151 ↓ $0.0046 • 1.4k ◇ 0.0% ↑↓ $0.0046`.
pub(super) fn read(line: &str) -> Option<Counts> {
    let line = line.trim_end();
    classic(line).or_else(|| cecli(line))
}

/// Returns true for the first part of `Tokens: …`, cut before its end.
pub(super) fn is_cut(line: &str) -> bool {
    const WORDS: &str = "sent, cache write, hit, received. Cost: message,";
    const LONGEST: usize = 120;
    let is_number = |word: &str| number(word.strip_prefix('$').unwrap_or(word)).is_some();
    let Some(rest) = line.strip_prefix("Tokens: ") else {
        return false;
    };
    let mut words = rest.split_whitespace();
    line.len() <= LONGEST
        && words.next().is_some_and(is_number)
        && words.next() == Some("sent,")
        && words.all(|word| is_number(word) || WORDS.split(' ').any(|known| known == word))
}

/// Returns true if the cost follows these token counts on a line of its own.
pub(super) fn has_cost_below(line: &str) -> bool {
    let cached = line.contains(" cache write, ") && line.contains(" cache hit, ");
    cached && classic(line.trim_end()).is_some_and(|counts| counts.usage.cost_usd.is_none())
}

fn classic(line: &str) -> Option<Counts> {
    let line = line.strip_prefix("Tokens: ")?;
    let (tokens, cost) = match line.split_once(" Cost: ") {
        Some((tokens, cost)) => (tokens, Some(cost)),
        None => (line, None),
    };
    let mut usage = Usage::default();
    for part in tokens.strip_suffix('.')?.split(", ") {
        let (count, what) = part.split_once(' ')?;
        let count = Some(whole(number(count)?));
        match what {
            "sent" => usage.input_tokens = count,
            "received" => usage.output_tokens = count,
            "cache hit" => usage.cached_tokens = count,
            "cache write" => {}
            _ => return None,
        }
    }
    usage.input_tokens.and(usage.output_tokens)?;
    let mut session_cost = None;
    if let Some(cost) = cost {
        let (message, session) = cost.split_once(" message, ")?;
        usage.cost_usd = Some(dollars(message)?);
        session_cost = Some(dollars(session.strip_suffix(" session.")?)?);
    }
    Some(Counts {
        family: Family::Unknown,
        usage,
        session_cost,
    })
}

fn cecli(line: &str) -> Option<Counts> {
    let (input, rest) = line.split_once(' ')?;
    let input = number(input)?;
    let rest = rest.strip_prefix("◇ ")?;
    let (cached, rest) = rest.split_once("% ↑ ")?;
    let cached: f64 = cached.parse().ok()?;
    let (output, rest) = rest.split_once(" ↓")?;
    let (turn, session) = rest.split_once(" ↑↓")?;
    let hit = whole(input * cached / 100.0);
    Some(Counts {
        family: Family::Cecli,
        usage: Usage {
            input_tokens: Some(whole(input)),
            output_tokens: Some(whole(number(output)?)),
            cached_tokens: (hit > 0).then_some(hit),
            cost_usd: turn.split_whitespace().find_map(dollars),
            ..Usage::default()
        },
        session_cost: dollars(session.trim()),
    })
}

/// Reads `75`, `2.6k`, `12k`, `1.1M`.
fn number(text: &str) -> Option<f64> {
    let thousands = text.strip_suffix(['k', 'K']).map(|digits| (digits, 1e3));
    let millions = || text.strip_suffix('M').map(|digits| (digits, 1e6));
    let (digits, factor) = thousands.or_else(millions).unwrap_or((text, 1.0));
    Some(float(&digits.replace(',', ""))? * factor)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers start with a digit, and a float saturates"
)]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

fn dollars(text: &str) -> Option<f64> {
    float(text.strip_prefix('$')?)
}

fn float(text: &str) -> Option<f64> {
    let starts = text.starts_with(|c: char| c.is_ascii_digit());
    starts.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let counts = read("Tokens: 2.6k sent, 1.1k cache write, 12k cache hit, 75 received. Cost: $0.0072 message, $0.01 session.").unwrap();
        assert_eq!(counts.usage.input_tokens, Some(2600));
        assert_eq!(counts.usage.cached_tokens, Some(12_000));
        assert_eq!(counts.usage.output_tokens, Some(75));
        assert_eq!(counts.usage.cost_usd, Some(0.0072));
        assert_eq!(counts.session_cost, Some(0.01));
        assert!(read("Tokens: 255 sent, 2 received.").is_some());
        assert!(read("Tokens: many sent, few received.").is_none());
        let counts = read("1.2k ◇ 50.0% ↑ 151 ↓ $0.0046 • 1.4k ◇ 0.0% ↑↓ $0.0046").unwrap();
        assert_eq!(counts.usage.output_tokens, Some(151));
        assert_eq!(counts.usage.cached_tokens, Some(600));
        assert!(read("1.2k ◇ 0.0% ↑ 151 ↓ 1.4k ◇ 0.0% ↑↓").is_some());
    }

    #[test]
    fn a_first_part_is_recognised() {
        assert!(is_cut(
            "Tokens: 12k sent, 8.2k cache hit, 345 received. Cost: $0.05 message, "
        ));
        assert!(!is_cut("Tokens: 12k sent, which is a lot"));
    }
}
