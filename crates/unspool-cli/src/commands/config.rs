//! `unspool config`: the current settings and their origins.

use std::io::{self, Write};

use clap::ValueEnum;
use unspool::theme::Rgb;

use crate::cli::Config as Arguments;
use crate::config::{self, Choices, Chosen, Config, Origin, Summary};
use crate::status::Status;
use crate::themes;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let mut out = io::stdout().lock();
    if arguments.path {
        writeln!(out, "{}", config::path()?.display())?;
    } else if arguments.example {
        out.write_all(config::EXAMPLE.as_bytes())?;
    } else {
        let config = Config::load()?;
        let folders = config.sessions.folders.clone();
        let talking = chat_rows(&config.chat)?;
        let choices = Choices::new(&arguments.look, config);
        let theme = choices.theme.value.clone();
        let mut rows = rows(&choices);
        let origin = match folders.as_slice() {
            [] => Origin::Default,
            _ => Origin::File,
        };
        rows.push(("sessions.folders", format!("{folders:?}"), origin));
        rows.extend(talking);
        print(&rows, &mut out)?;
        // A missing folder does not hide the others.
        if let Some(theme) = theme {
            themes::named(&theme, config::themes_folder)?;
        }
    }
    Ok(Status::Success)
}

/// Returns the settings of chats. Fails on an invalid rule or server.
fn chat_rows(chat: &config::Chat) -> anyhow::Result<Vec<Row>> {
    let origin = |is_said: bool| {
        if is_said {
            Origin::File
        } else {
            Origin::Default
        }
    };
    let agent = chat.agent.as_deref();
    let names = |names: Vec<String>| format!("{names:?}");
    let servers = chat.mcp_names()?;
    let agents: Vec<String> = chat.agents.keys().cloned().collect();
    let rules = chat.rules()?.len();
    Ok(vec![
        (
            "chat.agent",
            quoted(agent.unwrap_or("you choose")),
            origin(agent.is_some()),
        ),
        (
            "chat.notify",
            quoted(chat.notify_name()),
            origin(chat.notify_name() != "unfocused"),
        ),
        (
            "chat.agents",
            names(agents),
            origin(!chat.agents.is_empty()),
        ),
        (
            "chat.mcp",
            names(servers.clone()),
            origin(!servers.is_empty()),
        ),
        ("chat.rules", format!("{rules} in order"), origin(rules > 0)),
    ])
}

fn print(rows: &[Row], out: &mut impl Write) -> anyhow::Result<()> {
    let path = config::path()?;
    let found = if path.exists() { "" } else { " (not there)" };
    writeln!(out, "# {}{found}", path.display())?;
    let widest = |column: fn(&Row) -> usize| rows.iter().map(column).max();
    let names = widest(|(name, ..)| name.len()).unwrap_or_default();
    let values = widest(|(_, value, _)| value.len()).unwrap_or_default();
    for (name, value, origin) in rows {
        writeln!(out, "{name:names$} = {value:values$}  # {origin}")?;
    }
    Ok(())
}

/// Name, value in the syntax of the file, and origin.
type Row = (&'static str, String, Origin);

fn rows(choices: &Choices) -> Vec<Row> {
    fn row<T>(name: &'static str, chosen: &Chosen<T>, text: impl Fn(&T) -> String) -> Row {
        (name, text(&chosen.value), chosen.origin)
    }
    let colour = |colour: &Option<Rgb>| {
        colour.map_or_else(
            || quoted("the terminal's"),
            |Rgb(r, g, b)| quoted(&format!("#{r:02x}{g:02x}{b:02x}")),
        )
    };
    let lines = choices.lines.value.0;
    vec![
        row("display", &choices.display, word),
        row("lines", &choices.lines, |_| {
            lines.map_or_else(|| quoted("all"), |lines| lines.to_string())
        }),
        row("failed", &choices.failed, word),
        row("reasoning", &choices.reasoning, word),
        row("usage", &choices.usage, bool::to_string),
        row("summary", &choices.summary, |summary| match summary {
            Summary::Auto => quoted("on a terminal"),
            Summary::On => true.to_string(),
            Summary::Off => false.to_string(),
        }),
        row("timestamps", &choices.timestamps, bool::to_string),
        row("marks", &choices.marks, bool::to_string),
        row("color", &config::color(choices), word),
        row("theme", &choices.theme, |theme| {
            quoted(theme.as_deref().unwrap_or("as the background is"))
        }),
        row("fg", &choices.fg, colour),
        row("bg", &choices.bg, colour),
        row("width", &config::width(choices), usize::to_string),
        row("links", &choices.links, word),
        row("pager", &choices.pager, |pager| {
            pager.as_deref().map_or_else(|| "false".to_owned(), quoted)
        }),
    ]
}

fn word<T: ValueEnum>(value: &T) -> String {
    let word = value.to_possible_value();
    quoted(word.as_ref().map_or("", |word| word.get_name()))
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}
