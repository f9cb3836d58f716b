//! Token counts, in the spellings of all forms. The counts of a thread are
//! totals of the whole thread, and are repeated: each is shown once.

use crate::event::Usage;
use crate::json::{Json, Object};
use crate::source::Emitter;

/// Remembers the last counts that were shown.
#[derive(Clone, Default)]
pub(super) struct Counter(Option<Usage>);

impl Counter {
    /// Shows the totals, unless they say nothing new.
    pub(super) fn show(&mut self, usage: Usage, out: &mut Emitter) {
        let spent = [usage.input_tokens, usage.output_tokens];
        let nothing = spent.iter().all(|count| count.unwrap_or(0) == 0);
        if nothing || self.0.as_ref() == Some(&usage) {
            return;
        }
        out.usage(usage.clone());
        self.0 = Some(usage);
    }
}

/// The totals of a thread.
pub(super) fn totals(json: Json<'_>) -> Usage {
    let fields = json.object();
    Usage {
        input_tokens: count(&fields, "input_tokens", "inputTokens"),
        output_tokens: count(&fields, "output_tokens", "outputTokens"),
        cached_tokens: count(&fields, "cached_input_tokens", "cachedInputTokens"),
        reasoning_tokens: count(&fields, "reasoning_output_tokens", "reasoningOutputTokens"),
        cumulative: true,
        ..Usage::default()
    }
}

/// The totals with the state of the context window: what the last request
/// took is what the window holds.
pub(super) fn with_window(total: Json<'_>, last: Json<'_>, window: Json<'_>) -> Usage {
    Usage {
        context_used: count(&last.object(), "total_tokens", "totalTokens"),
        context_size: window.u64(),
        ..totals(total)
    }
}

/// The `info` of a `token_count` message.
pub(super) fn of_info(info: Json<'_>) -> Usage {
    let fields = info.object();
    with_window(
        fields.get("total_token_usage"),
        fields.get("last_token_usage"),
        fields.get("model_context_window"),
    )
}

fn count(fields: &Object<'_>, snake: &str, camel: &str) -> Option<u64> {
    fields.get(snake).u64().or_else(|| fields.get(camel).u64())
}
