//! Facts about a run besides its entries, for the status line and the plan.

use unspool::Event;
use unspool::doc::title;
use unspool::event::{Body, Plan, Usage};
use unspool::source::AgentName;
use unspool::stats::Stats;

/// Facts about a run. All texts are escaped.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Name of the agent.
    agent: AgentName,
    /// Title of the session.
    pub title: String,
    /// Id of the session.
    pub id: String,
    /// Working directory.
    pub cwd: String,
    /// The current plan.
    pub plan: Plan,
    stats: Stats,
}

impl Facts {
    pub(super) fn event(&mut self, event: &Event) {
        self.stats.event(event);
        self.agent.event(event);
        match &event.body {
            Body::Session(session) if event.agent.is_none() => {
                let set = |known: &mut String, new: &str| {
                    if !new.is_empty() {
                        *known = unspool::sanitize::line(new).into_owned();
                    }
                };
                set(&mut self.title, &title::plain(&session.title));
                set(&mut self.id, &session.id);
                set(&mut self.cwd, &session.cwd);
            }
            Body::Plan(plan) if event.agent.is_none() => self.plan.clone_from(plan),
            _ => {}
        }
    }

    /// Returns the last model named.
    pub fn model(&self) -> &str {
        &self.stats.model
    }

    /// Returns tokens and cost.
    pub fn usage(&self) -> Usage {
        self.stats.usage()
    }

    /// Returns the parts of the status line, most important first.
    pub fn words(&self) -> Vec<String> {
        let model = unspool::sanitize::line(self.model()).into_owned();
        let names = [self.agent.as_str().to_owned(), model];
        let known = names.into_iter().filter(|name| !name.is_empty());
        known.chain(self.figures()).collect()
    }

    /// Returns tokens, context and cost for the status line.
    pub fn figures(&self) -> Vec<String> {
        let usage = self.usage();
        let mut words = Vec::new();
        let mut add = |text: String| words.extend((!text.is_empty()).then_some(text));
        let tokens = |count: Option<u64>, sign: &str| {
            count
                .filter(|count| *count > 0)
                .map(|count| format!("{sign}{}", short(count)))
        };
        let counted = [
            tokens(usage.input_tokens, "↑"),
            tokens(usage.output_tokens, "↓"),
        ];
        add(counted.into_iter().flatten().collect::<Vec<_>>().join(" "));
        if let (Some(used), Some(size @ 1..)) = (usage.context_used, usage.context_size) {
            add(format!("context {}%", used.saturating_mul(100) / size));
        }
        add(usage
            .cost_usd
            .map(|cost| format!("${cost:.2}"))
            .unwrap_or_default());
        words
    }
}

/// Formats a count in few characters.
fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count / 100_000 % 10),
    }
}
