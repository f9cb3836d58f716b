//! The arguments of `unspool stats`.

use clap::Args;

use super::completion;
use super::select::Select;
use super::sessions::Paint;
use unspool_sessions::tally::Grouping;

/// Show totals of tokens, cost, time, calls and errors of saved sessions
///
/// Nothing is counted twice: repeated parts of forked or resumed sessions,
/// running totals and usage reported on several lines are deduplicated. Cost is
/// the cost reported by the agents; many report none. Days are in the local time
/// zone.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool stats                            all totals
  unspool stats --since 7d --by day        the last week, day by day
  unspool stats --by tool --agent claude   calls and failures of each tool
  unspool stats --project . --by day,model --csv > usage.csv   each day, by model

Exit status:
  0  everything that could be read was counted
  2  usage error, or nothing could be read")]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) select: Select,

    /// Group by agent, model, project, day or tool [default: all except tool]
    ///
    /// A comma-separated list nests groups: `--by day,model` shows each model within
    /// each day. `--by day --by model` prints two tables.
    #[arg(long, value_name = "GROUP,…", value_parser = completion::grouping(), hide_possible_values = true)]
    pub(crate) by: Vec<Grouping>,

    /// Print JSON, one object per line (docs/stats.md)
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print comma-separated values with a header row
    #[arg(long)]
    pub(crate) csv: bool,

    /// Report what was read, what came from the cache, and every skipped file
    #[arg(long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) paint: Paint,
}
