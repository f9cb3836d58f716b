//! Every rule and example of the agentformatter document (`spec/000`), as whole
//! texts, coloured and plain.

mod calls;
mod colors;
mod deltas;
mod events;
mod hostile;
mod markup;
mod messages;
mod patches;
mod paths;
mod plans;
mod subagents;
mod tools;
mod widths;
