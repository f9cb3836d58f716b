//! Tokens and cost.
//!
//! A saved session repeats a message's usage on each of its lines: the first
//! one counts. A live line's usage is that of the message's first moment and
//! worth nothing; there the totals of `result` are taken, which are those of
//! the whole process, as `cost-state` has those of a saved session.

use super::Claude;
use super::wire::Line;
use crate::event::Usage;
use crate::json::{Json, Object};
use crate::recent::RecentSet;
use crate::source::Emitter;

/// Messages that are told from repetitions.
const REMEMBERED: usize = 64;

#[derive(Clone, Default)]
pub(super) struct Counted {
    messages: RecentSet<String, REMEMBERED>,
    total: Usage,
}

impl Claude {
    /// Emits the usage of a saved message, once.
    pub(super) fn count(&mut self, line: &Line<'_>, out: &mut Emitter) {
        if !line.is_saved() || line.message.usage.is_null() {
            return;
        }
        let id = line.message.id.str().unwrap_or_default();
        if self.usage.messages.add(&*id) {
            emit(of_message(line.message.usage), out);
        }
    }

    /// Emits the totals of a run, if they changed; without models that is the
    /// cost alone.
    pub(super) fn total(&mut self, models: Json<'_>, cost: Json<'_>, out: &mut Emitter) {
        let mut total = Usage {
            cost_usd: cost.f64(),
            cumulative: true,
            ..Usage::default()
        };
        for (_, model) in models.object().iter() {
            let fields = model.object();
            let cached = number(&fields, "cacheReadInputTokens");
            let read = number(&fields, "inputTokens")
                + cached
                + number(&fields, "cacheCreationInputTokens");
            add(&mut total.input_tokens, read);
            add(&mut total.cached_tokens, cached);
            add(&mut total.output_tokens, number(&fields, "outputTokens"));
            let reasoning = fields.get("thinkingTokens").u64();
            if let Some(reasoning) = reasoning.filter(|tokens| *tokens > 0) {
                add(&mut total.reasoning_tokens, reasoning);
            }
        }
        if total != self.usage.total {
            self.usage.total = total.clone();
            emit(total, out);
        }
    }
}

/// The usage of one message or one turn.
pub(super) fn of_message(usage: Json<'_>) -> Usage {
    let fields = usage.object();
    let cached = number(&fields, "cache_read_input_tokens");
    let reasoning = fields
        .get("output_tokens_details")
        .get("thinking_tokens")
        .u64();
    Usage {
        input_tokens: Some(
            number(&fields, "input_tokens")
                + cached
                + number(&fields, "cache_creation_input_tokens"),
        ),
        output_tokens: Some(number(&fields, "output_tokens")),
        cached_tokens: Some(cached),
        reasoning_tokens: reasoning.filter(|tokens| *tokens > 0),
        ..Usage::default()
    }
}

/// A request that failed used nothing; that is no news.
pub(super) fn emit(usage: Usage, out: &mut Emitter) {
    let tokens = usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0);
    if tokens > 0 || usage.cost_usd.is_some_and(|cost| cost > 0.0) {
        out.usage(usage);
    }
}

fn number(fields: &Object<'_>, key: &str) -> u64 {
    // A total stays in range whatever the figures are.
    fields.get(key).u64().unwrap_or(0).min(1 << 50)
}

fn add(total: &mut Option<u64>, tokens: u64) {
    *total = Some(total.unwrap_or(0).saturating_add(tokens));
}
