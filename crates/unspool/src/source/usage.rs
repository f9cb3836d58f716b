//! Token counts and cost, in the spellings of every agent.
//!
//! An event's input tokens include the cached ones, its output tokens the
//! reasoning. Agents that count them apart add them with [`add`].

use super::Emitter;
use crate::event::Usage;
use crate::json::Object;

/// Field names of the counts; the first one with a number counts. A dot leads
/// into a nested object.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) input: &'static [&'static str],
    pub(super) output: &'static [&'static str],
    pub(super) cached: &'static [&'static str],
    pub(super) reasoning: &'static [&'static str],
}

impl Names {
    /// Reads the counts that these names have.
    pub(super) fn read(&self, fields: &Object<'_>) -> Usage {
        Usage {
            input_tokens: count(fields, self.input),
            output_tokens: count(fields, self.output),
            cached_tokens: count(fields, self.cached),
            reasoning_tokens: count(fields, self.reasoning),
            ..Usage::default()
        }
    }
}

/// Returns the number in the first of these fields that has one.
pub(super) fn count(fields: &Object<'_>, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| match name.split_once('.') {
        Some((outer, inner)) => fields.get(outer).get(inner).u64(),
        None => fields.get(name).u64(),
    })
}

/// Adds a count to a total, which stays unknown while no count is known.
pub(super) fn add(total: &mut Option<u64>, count: Option<u64>) {
    if let Some(count) = count {
        *total = Some(total.unwrap_or(0).saturating_add(count));
    }
}

/// Returns true if tokens were used or money was spent.
pub(super) fn is_spent(usage: &Usage) -> bool {
    usage.input_tokens.unwrap_or(0) > 0
        || usage.output_tokens.unwrap_or(0) > 0
        || usage.cost_usd.is_some_and(|cost| cost > 0.0)
}

/// Emits the usage, unless nothing was used.
pub(super) fn emit(usage: Usage, out: &mut Emitter) {
    if is_spent(&usage) {
        out.usage(usage);
    }
}

/// Emits running totals that an agent repeats, each once.
#[derive(Clone, Default)]
pub(super) struct Totals(Option<Usage>);

impl Totals {
    /// Emits the totals, unless they are those of the last time or all zero.
    pub(super) fn emit(&mut self, total: Usage, out: &mut Emitter) {
        let total = Usage {
            cumulative: true,
            ..total
        };
        if is_spent(&total) && self.0.as_ref() != Some(&total) {
            out.usage(total.clone());
            self.0 = Some(total);
        }
    }
}
