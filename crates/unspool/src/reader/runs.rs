//! Handles runs of several agents in one input, consecutive or interleaved line
//! by line. A run that another one interrupts may continue later, so it is kept
//! until it does or until the input ends.
//!
//! Invariant: a run is checked for completeness once, and at most one run per
//! provider is kept.

use super::Translator;
use crate::event::{Body, Session, TurnStatus};
use crate::source::{Emitter, Provider, Source};

/// An unfinished run that another run interrupted.
pub(super) struct Run {
    provider: Provider,
    source: Box<dyn Source>,
    turn_open: bool,
}

impl Clone for Run {
    fn clone(&self) -> Self {
        Self {
            source: self.source.fork(),
            ..*self
        }
    }
}

impl Translator {
    /// Switches to another provider's run.
    pub(super) fn switch_run(&mut self, provider: &Provider) {
        self.leave();
        let is_kept = |run: &Run| run.provider.name == provider.name;
        let paused = self.paused.iter().position(is_kept);
        self.is_resumed = paused.is_some();
        let Some(paused) = paused else {
            self.recognised(provider);
            return;
        };
        let run = self.paused.remove(paused);
        self.provider = Some(*provider);
        self.source = Some(run.source);
        self.out.set_tools(provider.tools);
        self.out.set_turn_open(run.turn_open);
        self.out.session(Session {
            provider: provider.name.to_owned(),
            ..Session::default()
        });
    }

    /// Ends the run if it is complete, otherwise keeps it.
    fn leave(&mut self) {
        let (Some(mut source), Some(provider)) = (self.source.take(), self.provider) else {
            return;
        };
        let turn_open = self.out.is_turn_open();
        if !self.is_resumed && is_complete(&*source, turn_open) {
            source.finish(&mut self.out);
        } else {
            self.paused.push(Run {
                provider,
                source,
                turn_open,
            });
        }
        self.out.set_turn_open(false);
        self.out.time(None);
        self.out.agent(None);
        self.out.end_message();
    }

    /// Ends all runs at the end of the input.
    pub(super) fn finish_runs(&mut self) {
        let turn_open = self.out.is_turn_open();
        let are_several = !self.paused.is_empty();
        for mut run in std::mem::take(&mut self.paused) {
            self.out.finishing(run.provider.name);
            self.out.set_turn_open(run.turn_open);
            run.source.finish(&mut self.out);
        }
        self.out.set_turn_open(turn_open);
        let name = self.provider.as_ref().map_or("", |provider| provider.name);
        self.out.finishing(if are_several { name } else { "" });
        if let Some(source) = &mut self.source {
            source.finish(&mut self.out);
        }
    }
}

/// Returns true if the run would not count as interrupted if the input ended
/// here.
fn is_complete(source: &dyn Source, turn_open: bool) -> bool {
    let mut out = Emitter::new(false);
    out.set_turn_open(turn_open);
    source.fork().finish(&mut out);
    let mut events = std::iter::from_fn(|| out.pop());
    !events.any(
        |event| matches!(event.body, Body::TurnEnd(end) if end.status == TurnStatus::Interrupted),
    )
}
