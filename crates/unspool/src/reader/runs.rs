//! Runs of several agents in one input, one behind the other or mixed line by
//! line. Whether a run that others come behind was cut off or goes on is known
//! only when it does, or when the input ends: until then it is kept.
//!
//! Invariant: a run is looked at once to see whether it is over, and at most one
//! run of each provider is kept.

use super::Translator;
use crate::event::{Body, Session, TurnStatus};
use crate::source::{Emitter, Provider, Source};

/// A run that is not over, while lines of another one come.
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
    /// What follows is of another provider's run.
    pub(super) fn turn_to(&mut self, provider: Provider) {
        self.leave();
        let is_kept = |run: &Run| run.provider.name == provider.name;
        let kept = self.kept.iter().position(is_kept);
        self.goes_on = kept.is_some();
        let Some(kept) = kept else {
            self.recognised(provider);
            return;
        };
        let run = self.kept.remove(kept);
        self.provider = Some(provider);
        self.source = Some(run.source);
        self.out.set_tools(provider.tools);
        self.out.set_turn_open(run.turn_open);
        self.out.session(Session {
            provider: provider.name.to_owned(),
            ..Session::default()
        });
    }

    /// Ends the run if it is over, and else keeps it.
    fn leave(&mut self) {
        let (Some(mut source), Some(provider)) = (self.source.take(), self.provider) else {
            return;
        };
        let turn_open = self.out.is_turn_open();
        if !self.goes_on && is_over(&*source, turn_open) {
            source.finish(&mut self.out);
        } else {
            self.kept.push(Run {
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

    /// The input has ended, and so have all runs.
    pub(super) fn finish_runs(&mut self) {
        let turn_open = self.out.is_turn_open();
        let are_several = !self.kept.is_empty();
        for mut run in std::mem::take(&mut self.kept) {
            self.out.finishing(run.provider.name);
            self.out.set_turn_open(run.turn_open);
            run.source.finish(&mut self.out);
        }
        self.out.set_turn_open(turn_open);
        let name = self.provider.map_or("", |provider| provider.name);
        self.out.finishing(if are_several { name } else { "" });
        if let Some(source) = &mut self.source {
            source.finish(&mut self.out);
        }
    }
}

/// Whether a run would not be cut off if its input ended here.
fn is_over(source: &dyn Source, turn_open: bool) -> bool {
    let mut out = Emitter::new(false);
    out.set_turn_open(turn_open);
    source.fork().finish(&mut out);
    let mut told = std::iter::from_fn(|| out.pop());
    !told.any(
        |event| matches!(event.body, Body::TurnEnd(end) if end.status == TurnStatus::Interrupted),
    )
}
