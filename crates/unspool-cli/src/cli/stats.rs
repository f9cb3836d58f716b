//! The arguments of `unspool stats`.

use clap::Args;

use super::completion;
use super::select::Select;
use super::sessions::Paint;
use unspool_sessions::tally::Grouping;

/// Add up tokens, cost, time, calls and errors of saved sessions
///
/// Nothing is counted twice: not what a forked or resumed session repeats, not
/// totals that replace each other, not usage that is written on several lines.
/// Cost is what the agents say; many say nothing of it. Days are those of this
/// machine's time zone.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  unspool stats                            the whole picture
  unspool stats --since 7d --by day        day by day, of the last week
  unspool stats --by tool --agent claude   which tools were called, and which failed
  unspool stats --project . --by day,model --csv > usage.csv   each day by model

Exit status:
  0  everything that could be read was counted
  2  wrong use, or nothing could be read")]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) select: Select,

    /// What is told apart: agent, model, project, day, tool [default: each but tool]
    ///
    /// Several of them with commas are groups within groups: `--by day,model` is
    /// each day, and within it each model. `--by day --by model` are two lists.
    #[arg(long, value_name = "WHAT,…", value_parser = completion::grouping(), hide_possible_values = true)]
    pub(crate) by: Vec<Grouping>,

    /// Print JSON, one object a line (docs/stats.md)
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print comma-separated values, with a heading
    #[arg(long)]
    pub(crate) csv: bool,

    /// Say what was read, what was kept from before, and all that was skipped
    #[arg(long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) paint: Paint,
}
