//! Tokens and cost.
//!
//! A saved session repeats a message's usage on each of its lines: the first one
//! counts. A live line has the usage at the start of the message, which is
//! useless; the totals in `result` are used instead. They are totals of the whole
//! process, like those in `cost-state` of a saved session.

use super::Claude;
use super::wire::Line;
use crate::event::Usage;
use crate::json::Json;
use crate::recent::RecentSet;
use crate::source::Emitter;
use crate::source::usage::{self, Names, Totals, add, count};

/// Messages remembered to emit their usage once.
const REMEMBERED: usize = 64;

/// Usage that was emitted.
#[derive(Clone, Default)]
pub(super) struct Emitted {
    messages: RecentSet<String, REMEMBERED>,
    totals: Totals,
}

const MESSAGE: Names = Names {
    input: &["input_tokens"],
    output: &["output_tokens"],
    cached: &["cache_read_input_tokens"],
    reasoning: &["output_tokens_details.thinking_tokens"],
};

const MODEL: Names = Names {
    input: &["inputTokens"],
    output: &["outputTokens"],
    cached: &["cacheReadInputTokens"],
    reasoning: &["thinkingTokens"],
};

impl Claude {
    /// Emits the usage of a saved message, once.
    pub(super) fn message_usage(&mut self, line: &Line<'_>, out: &mut Emitter) {
        if !line.is_saved() || line.message.usage.is_null() {
            return;
        }
        let id = line.message.id.str().unwrap_or_default();
        if self.usage.messages.add(&*id) {
            usage::emit(of_message(line.message.usage), out);
        }
    }

    /// Emits the totals of a run, if they changed; without models that is the
    /// cost alone.
    pub(super) fn total(&mut self, models: Json<'_>, cost: Json<'_>, out: &mut Emitter) {
        let mut total = Usage {
            cost_usd: cost.f64(),
            ..Usage::default()
        };
        for (_, model) in models.object().iter() {
            let of_model = read(model, MODEL, "cacheCreationInputTokens");
            add(&mut total.input_tokens, of_model.input_tokens);
            add(&mut total.cached_tokens, of_model.cached_tokens);
            add(&mut total.output_tokens, of_model.output_tokens);
            add(&mut total.reasoning_tokens, of_model.reasoning_tokens);
        }
        self.usage.totals.emit(total, out);
    }
}

/// Reads the usage of one message or one turn.
pub(super) fn of_message(usage: Json<'_>) -> Usage {
    read(usage, MESSAGE, "cache_creation_input_tokens")
}

/// Reads counts of which the input leaves out what a cache gave or took.
fn read(usage: Json<'_>, names: Names, to_cache: &str) -> Usage {
    let fields = usage.object();
    let mut usage = names.read(&fields);
    usage.cached_tokens = usage.cached_tokens.or(Some(0));
    usage.input_tokens = usage.input_tokens.or(Some(0));
    usage.output_tokens = usage.output_tokens.or(Some(0));
    usage.reasoning_tokens = usage.reasoning_tokens.filter(|tokens| *tokens > 0);
    add(&mut usage.input_tokens, usage.cached_tokens);
    add(&mut usage.input_tokens, count(&fields, &[to_cache]));
    usage
}
