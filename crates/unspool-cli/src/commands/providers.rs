//! `unspool providers`: the supported agents and formats, each with an example.

use std::io::{self, Write};

use crate::agents;
use crate::cli::Providers;
use crate::status::Status;

pub(crate) fn run(arguments: &Providers) -> anyhow::Result<Status> {
    let mut out = io::stdout().lock();
    if arguments.markdown {
        return table(&mut out);
    }
    let providers = agents::sorted();
    let width = providers.iter().map(|provider| provider.name.len()).max();
    let width = width.unwrap_or_default();
    for provider in &providers {
        if arguments.json {
            let line = serde_json::json!({
                "name": provider.name,
                "title": provider.title,
                "about": provider.about,
                "example": provider.example,
                "run": provider.headless.map(|run| run.command("PROMPT", &[])),
                "chat": provider.chat.map(|chat| chat.command),
                "sessions": agents::session_patterns(provider),
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{:width$}  {}", provider.name, provider.about)?;
            writeln!(out, "{:width$}  $ {}", "", provider.example)?;
        }
    }
    Ok(Status::Success)
}

/// Prints the table of agents for the documentation.
fn table(out: &mut impl Write) -> anyhow::Result<Status> {
    writeln!(out, "| agent | live | saved sessions |")?;
    writeln!(out, "|---|---|---|")?;
    for agent in agents::sorted().iter().filter(|one| one.is_agent) {
        let live = agent.example.replace("| unspool events", "| unspool");
        let mut saved: Vec<String> = Vec::new();
        for pattern in agents::session_patterns(agent) {
            let fixed = pattern.split('/').take_while(|part| !part.contains('*'));
            let fixed = format!("`{}`", fixed.collect::<Vec<_>>().join("/"));
            if !saved.contains(&fixed) && fixed != "``" {
                saved.push(fixed);
            }
        }
        // An example without a pipe is of a saved session.
        let live = match live.replace('|', "\\|") {
            live if live.contains('|') => format!("`{live}`"),
            _ => String::new(),
        };
        writeln!(out, "| {} | {live} | {} |", agent.title, saved.join(", "))?;
    }
    Ok(Status::Success)
}
