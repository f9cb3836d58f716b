//! `unspool` on a terminal without any saved session: what to do first.

use std::io::{self, Write};

use anyhow::Context;
use unspool::doc::{Block, Line, Role, Span};
use unspool::layout;
use unspool_sessions::library::Library;

use crate::agents;
use crate::child::program;
use crate::cli::Look;
use crate::cli::sessions::Paint;
use crate::library;
use crate::settings::Settings;
use crate::status::Status;

/// The prompt of the examples.
const PROMPT: &str = "explain this project";
/// Maximum number of agents in the examples.
const MOST_AGENTS: usize = 3;

pub(crate) fn run(library: &Library, paint: &Paint) -> anyhow::Result<Status> {
    let settings = Settings::new(&Look::of_lists(paint))?;
    let width = layout::columns(settings.width);
    let mut lines: Vec<Line> = Vec::new();
    for (words, commands) in page()? {
        let paragraph = Block::Paragraph(vec![Span::role(words, Role::Normal)]);
        lines.extend(layout::layout(&[paragraph], width, &[], &[]));
        // Not wrapped, so that they can be copied.
        let command = |command| vec![Span::role(format!("  {command}"), Role::Colorful)];
        lines.extend(commands.into_iter().map(command));
        lines.push(Line::new());
    }
    lines.push(vec![Span::role("Sessions were searched in:", Role::Accent)]);
    let searched = library::looked_in(library);
    let folder = |line: &str| vec![Span::role(line, Role::Accent)];
    lines.extend(searched.lines().map(folder));
    writeln!(io::stdout(), "{}", settings.formatter().text(&lines))?;
    Ok(Status::Success)
}

/// Returns sentences, each with the commands below it.
fn page() -> anyhow::Result<Vec<(String, Vec<String>)>> {
    let mut installed = Vec::new();
    for (name, agent) in agents::headless() {
        let words = agent.command(PROMPT, &[]);
        if words
            .first()
            .is_some_and(|word| program::check(word).is_ok())
        {
            let words = words.iter().map(String::as_str);
            let command = shlex::try_join(words).context("an agent's command")?;
            installed.push((name, command));
        }
    }
    installed.truncate(MOST_AGENTS);
    let start = "unspool shows what a coding agent is doing. It found no saved session yet.";
    let mut page = vec![(start.to_owned(), Vec::new())];
    match installed.first() {
        Some((_, piped)) => {
            let run = |(name, _): &(&str, String)| format!("unspool run {name} \"{PROMPT}\"");
            page.push((
                "Start an agent and watch it:".to_owned(),
                installed.iter().map(run).collect(),
            ));
            page.push((
                "Or pipe its output in:".to_owned(),
                vec![format!("{piped} | unspool")],
            ));
        }
        None => page.push((
            format!(
                "None of the agents that it can start is in your PATH ({}). Install one, or pipe \
                 in the output of any agent:",
                agents::headless_names()
            ),
            vec!["my-agent --json \"…\" | unspool".to_owned()],
        )),
    }
    page.push((
        "Or play a recorded run:".to_owned(),
        vec!["unspool demo".to_owned()],
    ));
    page.push((
        "Or show a file, and find everything else in the help:".to_owned(),
        vec!["unspool run.jsonl".to_owned(), "unspool --help".to_owned()],
    ));
    Ok(page)
}
