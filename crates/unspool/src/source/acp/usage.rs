//! Tokens and cost, in the spellings of the protocol and of its adapters.

use crate::event::Usage;
use crate::json::{Json, Object};
use crate::source::usage::{Names, is_spent};

/// Reads the context window and the cost so far, which are totals.
pub(super) fn window(update: &Object<'_>) -> Usage {
    let cost = update.get("cost").object();
    let in_dollars = cost.get("currency").str().as_deref() == Some("USD");
    Usage {
        context_used: update.get("used").u64(),
        context_size: update.get("size").u64(),
        cost_usd: cost.get("amount").f64().filter(|_| in_dollars),
        cumulative: true,
        ..Usage::default()
    }
}

/// Reads the tokens of a turn or model call; `None` if nothing was counted.
///
/// Most agents count cached tokens separately, some also thoughts; the total
/// decides.
pub(super) fn tokens(usage: Json<'_>) -> Option<Usage> {
    let fields = usage.object();
    let count = |key: &str| fields.get(key).u64();
    let number = |key: &str| count(key).unwrap_or(0);
    let (input, output) = (count("inputTokens")?, count("outputTokens")?);
    let total = count("totalTokens");
    let cached = number("cachedReadTokens").saturating_add(number("cachedWriteTokens"));
    let thoughts = number("thoughtTokens");
    let together = input.saturating_add(output);
    let apart = together.saturating_add(cached);
    let (input, output) = if total == Some(together) {
        (input, output)
    } else if thoughts > 0 && total == apart.checked_add(thoughts) {
        (
            input.saturating_add(cached),
            output.saturating_add(thoughts),
        )
    } else {
        (input.saturating_add(cached), output)
    };
    let usage = Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cached_tokens: count("cachedReadTokens"),
        reasoning_tokens: count("thoughtTokens"),
        ..Usage::default()
    };
    is_spent(&usage).then_some(usage)
}

/// Reads the tokens that Gemini puts into `_meta.quota`.
pub(super) fn quota(meta: Json<'_>) -> Option<Usage> {
    const QUOTA: Names = Names {
        input: &["input_tokens"],
        output: &["output_tokens"],
        cached: &[],
        reasoning: &[],
    };
    let usage = QUOTA.read(&meta.get("quota").get("token_count").object());
    usage.input_tokens.is_some().then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(usage: &str) -> Option<(u64, u64)> {
        let usage = tokens(Json::parse(usage).unwrap())?;
        Some((usage.input_tokens?, usage.output_tokens?))
    }

    #[test]
    fn the_total_decides_what_is_counted_separately() {
        let apart = r#"{"inputTokens":10,"outputTokens":5,"cachedReadTokens":100,"cachedWriteTokens":1,"totalTokens":116}"#;
        assert_eq!(counts(apart), Some((111, 5)));
        let together = r#"{"inputTokens":10,"outputTokens":5,"cachedReadTokens":4,"thoughtTokens":3,"totalTokens":15}"#;
        assert_eq!(counts(together), Some((10, 5)));
        let thoughts =
            r#"{"inputTokens":1500,"outputTokens":50,"thoughtTokens":40,"totalTokens":1590}"#;
        assert_eq!(counts(thoughts), Some((1500, 90)));
        assert_eq!(counts(r#"{"inputTokens":0,"outputTokens":0}"#), None);
        assert_eq!(counts(r#"{"inputTokens":"1"}"#), None);
    }
}
