//! Token counts, in the spellings of all forms. Those of a thread are totals of
//! the whole thread.

use crate::event::Usage;
use crate::json::Json;
use crate::source::usage::{Names, count};

const THREAD: Names = Names {
    input: &["input_tokens", "inputTokens"],
    output: &["output_tokens", "outputTokens"],
    cached: &["cached_input_tokens", "cachedInputTokens"],
    reasoning: &["reasoning_output_tokens", "reasoningOutputTokens"],
};

/// Reads the totals of a thread.
pub(super) fn totals(json: Json<'_>) -> Usage {
    THREAD.read(&json.object())
}

/// Reads the totals and the context window, which contains as much as the last
/// request.
pub(super) fn with_window(total: Json<'_>, last: Json<'_>, window: Json<'_>) -> Usage {
    Usage {
        context_used: count(&last.object(), &["total_tokens", "totalTokens"]),
        context_size: window.u64(),
        ..totals(total)
    }
}

/// Reads the `info` of a `token_count` message.
pub(super) fn of_info(info: Json<'_>) -> Usage {
    let fields = info.object();
    with_window(
        fields.get("total_token_usage"),
        fields.get("last_token_usage"),
        fields.get("model_context_window"),
    )
}
