//! The usage and the activity of a session, entry by entry. Each entry has a key: two
//! entries with the same key are the same thing, recorded twice.
//!
//! Nothing may be counted twice, and agents record things again:
//!
//! | record | repetition | key |
//! |---|---|---|
//! | a fork that copies messages with their times | messages | time and figures |
//! | a fork that copies counts, with new times (`Forks::KeepCounts`) | counts | the counts so far, among the forks of one origin |
//! | a sub-agent that starts with a copy of its caller's counts | counts | the same |
//! | any | totals that replace each other | only the difference to the total before, in the same run |
//! | a live stream without times | everything | session and position; `tally` counts only one record of a session |
//!
//! A total that follows amounts covers the newest amounts that add up to its tokens: its
//! cost is distributed over them, and the rest is an entry of its own.

mod builder;

use serde::{Deserialize, Serialize};
use unspool::event::Usage;

pub(crate) use builder::LedgerBuilder;

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Input tokens.
    #[serde(rename = "i", default)]
    pub input: u64,
    /// Output tokens.
    #[serde(rename = "o", default)]
    pub output: u64,
    /// Input tokens that were read from a cache.
    #[serde(rename = "c", default)]
    pub cached: u64,
    /// Output tokens of reasoning.
    #[serde(rename = "r", default)]
    pub reasoning: u64,
    /// The cost in US dollars; `None` if it is unknown.
    #[serde(rename = "$", default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Figures {
    fn of(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or_default(),
            output: usage.output_tokens.unwrap_or_default(),
            cached: usage.cached_tokens.unwrap_or_default(),
            reasoning: usage.reasoning_tokens.unwrap_or_default(),
            cost: usage
                .cost_usd
                .filter(|cost| cost.is_finite() && *cost >= 0.0),
        }
    }

    /// Returns the sum of input and output.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds other figures.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        if let Some(cost) = other.cost {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
    }

    /// Returns the difference to other figures; none of them is negative.
    fn minus(&self, other: &Self) -> Self {
        let cost = self.cost.map(|cost| cost - other.cost.unwrap_or_default());
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cached: self.cached.saturating_sub(other.cached),
            reasoning: self.reasoning.saturating_sub(other.reasoning),
            cost: cost.filter(|cost| *cost > 0.0),
        }
    }

    fn is_zero(&self) -> bool {
        self.tokens() == 0 && self.cost.is_none()
    }

    /// Returns the relative cost: output tokens are expensive, cached ones cheap.
    #[expect(clippy::cast_precision_loss, reason = "a share, not a count")]
    fn weight(&self) -> f64 {
        let fresh = self.input.saturating_sub(self.cached);
        self.output as f64 * 5.0 + fresh as f64 + self.cached as f64 * 0.1 + 1e-9
    }

    fn hashed(&self, key: Key) -> Key {
        let counts = [self.input, self.output, self.cached, self.reasoning];
        let cost = self.cost.unwrap_or_default().to_bits();
        let key = counts.iter().fold(key, |key, count| key.number(*count));
        key.number(cost)
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(rename = "k")]
    pub(crate) key: u64,
    /// The time in milliseconds; `None` if it is unknown.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<i64>,
    #[serde(rename = "w")]
    pub(crate) activity: Activity,
    /// The key is made of the position alone: another record of the same session may
    /// have the same entry with another key.
    #[serde(rename = "p", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_positional: bool,
}

/// The content of an entry. Models and tools are positions in the ledger's lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Activity {
    #[serde(rename = "u")]
    Usage { model: usize, figures: Figures },
    #[serde(rename = "c")]
    Calls {
        model: usize,
        tool: usize,
        count: u64,
        failed: u64,
        ms: u64,
    },
    #[serde(rename = "n")]
    Turns { model: usize, count: u64, ms: u64 },
    #[serde(rename = "e")]
    Errors { model: usize, count: u64 },
}

impl Activity {
    /// Returns the model.
    pub(crate) fn model(&self) -> usize {
        let (Self::Usage { model, .. }
        | Self::Calls { model, .. }
        | Self::Turns { model, .. }
        | Self::Errors { model, .. }) = self;
        *model
    }

    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, Self::Usage { .. })
    }

    fn set_model(&mut self, to: usize) {
        let (Self::Usage { model, .. }
        | Self::Calls { model, .. }
        | Self::Turns { model, .. }
        | Self::Errors { model, .. }) = self;
        *model = to;
    }
}

/// The entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// Keys are unique only among the forks of one origin.
    pub(crate) is_keyed_by_origin: bool,
    pub(crate) models: Vec<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) entries: Vec<Entry>,
}

impl Ledger {
    /// Counts the entries of usage with a time.
    pub(crate) fn timed_usage(&self) -> u64 {
        let is_timed = |entry: &&Entry| !entry.is_positional && entry.activity.is_usage();
        self.entries.iter().filter(is_timed).count() as u64
    }

    /// Returns the tokens and the cost of the session.
    pub(crate) fn figures(&self) -> Figures {
        let mut sum = Figures::default();
        for entry in &self.entries {
            if let Activity::Usage { figures, .. } = &entry.activity {
                sum.add(figures);
            }
        }
        sum
    }
}

/// A hash that is the same in every process (FNV-1a).
#[derive(Clone, Copy)]
pub(crate) struct Key(pub(crate) u64);

impl Key {
    pub(crate) fn new(kind: &str) -> Self {
        Self(0xcbf2_9ce4_8422_2325).text(kind)
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).bytes(&[0xff])
    }

    pub(crate) fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, step))
    }
}
