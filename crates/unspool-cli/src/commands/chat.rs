//! `unspool chat`: finds the agents and the commands that start them. The chat
//! itself is `unspool_tui::chat`.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{Access, access};
use unspool::Event;
use unspool::event::Body;
use unspool_acp::SessionRequest;
use unspool_acp::connection::interpreter;
use unspool_acp::orphans;
use unspool_acp::record::RecordedAgent;
use unspool_sessions::input::Batch;
use unspool_tui::chat::{self, AgentCommand, History, TabSpec};
use unspool_tui::screen::Screen;
use unspool_tui::transcript::Look as Shown;

use super::view::Programs;
use crate::child::supervise;
use crate::cli::Chat;
use crate::config::{self, Config};
use crate::library;
use crate::settings::Settings;
use crate::status::Status;
use crate::{agents, terminal};

pub(crate) fn run(arguments: &Chat) -> anyhow::Result<Status> {
    let config = Config::load()?.chat;
    let known = known(&config);
    if arguments.list {
        return list(&known);
    }
    let tabs = openings(arguments, &config, &known)?;
    if arguments.print_only {
        return print(&tabs);
    }
    let instead = "use `unspool run` to print what an agent does";
    if !io::stdin().is_terminal() {
        bail!("a chat needs a terminal: {instead}");
    }
    terminal::demand("a chat", instead)?;
    startable(&tabs)?;
    let project = &arguments.project;
    let root = project
        .canonicalize()
        .with_context(|| format!("cannot work in {}", project.display()))?;
    let data = config::data_folder()?;
    let shown = Settings::new(&arguments.look())?;
    let settings = chat::Settings {
        look: Shown {
            formatter: shown.formatter(),
            detail: shown.detail(),
        },
        host: Box::new(Programs {
            exported: None,
            piped: None,
            pager: shown.pager.clone(),
        }),
        history: History::open(&data.join("history.jsonl"), &root),
        root,
        agents: known,
        tabs,
        rules: config.rules()?,
        mcp_servers: config.mcp_servers()?,
        records: Some(config::records()?),
        notify: config.notify(),
        guard: |group| {
            let watchdog = supervise::watchdog(group, Some(orphans::tag_prefix()));
            Some(Box::new(watchdog.ok()?))
        },
        shell: env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into()),
    };
    let mut screen = Screen::new()?;
    screen.set_synchronized(terminal::ask().synchronises);
    Ok(match chat::run(&mut screen, settings)? {
        chat::End::Signal(signal) => Status::of_signal(signal),
        chat::End::NotStarted => Status::Unreadable,
        chat::End::Left => Status::Success,
    })
}

/// Returns all agents: first those from the configuration file, then installed ones,
/// then the others.
fn known(config: &config::Chat) -> Vec<AgentCommand> {
    let own = config.agents.iter().map(|(name, agent)| AgentCommand {
        name: name.clone(),
        argv: agent.command.iter().map(OsString::from).collect(),
        env: agent
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        ..AgentCommand::default()
    });
    let ours = agents::chats().filter(|(name, _)| !config.agents.contains_key(*name));
    let ours = ours.map(|(name, chat)| AgentCommand {
        name: name.to_owned(),
        argv: chat.command.iter().map(OsString::from).collect(),
        install: format!("To install it: {}", chat.install),
        ..AgentCommand::default()
    });
    let mut known: Vec<AgentCommand> = own.chain(ours).collect();
    for agent in &mut known {
        agent.is_missing = !is_here(agent);
    }
    known.sort_by_key(|agent| agent.is_missing);
    known
}

/// Returns true if the agent's program is installed and executable.
fn is_here(agent: &AgentCommand) -> bool {
    found(agent).is_some_and(|program| interpreter::missing(&program).is_none())
}

/// Returns the path of the agent's program.
fn found(agent: &AgentCommand) -> Option<PathBuf> {
    let program = Path::new(agent.argv.first()?);
    let is_program = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.components().count() > 1 {
        return is_program(program).then(|| program.to_owned());
    }
    // The agent's own PATH takes precedence.
    let own = agent.env.iter().find(|(name, _)| name == "PATH");
    let path = own.map(|(_, path)| path.clone());
    let path = path.or_else(|| env::var_os("PATH")).unwrap_or_default();
    let mut all = env::split_paths(&path).map(|folder| folder.join(program));
    all.find(|path| is_program(path))
}

/// Fails if no agent can be started, before the screen is taken. If at least one can,
/// the others report the error in their tabs.
fn startable(tabs: &[TabSpec]) -> anyhow::Result<()> {
    let Some(first) = tabs.first() else {
        return Ok(());
    };
    if tabs.iter().any(|tab| is_here(&tab.agent)) {
        return Ok(());
    }
    let agent = &first.agent;
    let program = agent.argv.first().map_or(Path::new(""), Path::new);
    let (name, install) = (program.display(), &agent.install);
    if let Some(why) = found(agent).and_then(|program| interpreter::missing(&program)) {
        bail!("{name} cannot be started: {why}");
    }
    match program.components().count() {
        0 => bail!("give the agent's command after `--`"),
        1 if install.is_empty() => bail!("{name} is not installed, or not in your PATH"),
        1 => bail!("{name} is not installed, or not in your PATH. {install}"),
        _ if program.exists() => bail!("{name} cannot be started: it is not an executable file"),
        _ => bail!("{name} cannot be started: there is no such file"),
    }
}

fn list(known: &[AgentCommand]) -> anyhow::Result<Status> {
    let mut out = io::stdout().lock();
    let widest = known.iter().map(|agent| agent.name.len()).max();
    let names = widest.unwrap_or_default();
    for agent in known {
        let here = if agent.is_missing {
            "  # not found"
        } else {
            ""
        };
        writeln!(out, "{:names$}  {}{here}", agent.name, words(agent)?)?;
    }
    Ok(Status::Success)
}

fn print(tabs: &[TabSpec]) -> anyhow::Result<Status> {
    let mut out = io::stdout().lock();
    for tab in tabs {
        writeln!(out, "{}", words(&tab.agent)?)?;
    }
    Ok(Status::Success)
}

/// Returns the command, quoted for a shell.
fn words(agent: &AgentCommand) -> anyhow::Result<String> {
    let words: Vec<_> = agent
        .argv
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    Ok(shlex::try_join(words.iter().map(AsRef::as_ref))?)
}

fn openings(
    arguments: &Chat,
    config: &config::Chat,
    known: &[AgentCommand],
) -> anyhow::Result<Vec<TabSpec>> {
    let mut agents = named_agents(arguments, known)?;
    let mut openings = match &arguments.resume {
        Some(_) if agents.len() > 1 => bail!("--resume takes only one agent"),
        Some(id) => vec![earlier(id, agents.pop(), known)?],
        None => {
            if agents.is_empty() {
                let usual = config.agent.iter().map(|name| agent(name, known));
                agents = usual.collect::<Result<_, _>>()?;
            }
            agents.into_iter().map(new).collect()
        }
    };
    if let Some(prompt) = &arguments.prompt {
        let Some(first) = openings.first_mut() else {
            bail!("name the agent that --prompt is for");
        };
        first.prompt.clone_from(prompt);
    }
    Ok(openings)
}

/// Returns the agents named on the command line.
fn named_agents(arguments: &Chat, known: &[AgentCommand]) -> anyhow::Result<Vec<AgentCommand>> {
    let words = arguments.command.as_slice();
    Ok(match arguments.agents.as_slice() {
        [] if words.is_empty() => Vec::new(),
        [] => vec![command(words)],
        [name] => {
            let mut agent = agent(name, known)?;
            agent.argv.extend(words.iter().map(OsString::from));
            vec![agent]
        }
        _ if !words.is_empty() => bail!("extra arguments can be given to only one agent"),
        names => {
            let names = names.iter();
            names
                .map(|name| agent(name, known))
                .collect::<Result<_, _>>()?
        }
    })
}

fn new(agent: AgentCommand) -> TabSpec {
    TabSpec {
        agent,
        ..TabSpec::default()
    }
}

fn agent(name: &str, known: &[AgentCommand]) -> anyhow::Result<AgentCommand> {
    if let Some(agent) = known.iter().find(|agent| agent.name == name) {
        return Ok(agent.clone());
    }
    let names: Vec<&str> = known.iter().map(|agent| agent.name.as_str()).collect();
    bail!(
        "{name} is not a known agent (known: {}): give its command after `--`, or add it to the configuration file",
        names.join(", ")
    )
}

/// Returns an agent for a command.
fn command(words: &[String]) -> AgentCommand {
    let program = words.first().map(String::as_str).unwrap_or_default();
    let name = Path::new(program).file_stem().unwrap_or_default();
    let mut argv: Vec<OsString> = words.iter().map(OsString::from).collect();
    // It starts in the project folder, but the path is relative to the current one.
    if let Some(first) = argv.first_mut()
        && Path::new(program).components().count() > 1
        && let Ok(path) = std::path::absolute(program)
    {
        *first = path.into();
    }
    AgentCommand {
        name: name.to_string_lossy().into_owned(),
        argv,
        ..AgentCommand::default()
    }
}

/// Returns a tab that continues a conversation, recorded by unspool or by the agent.
/// Uses the agent of that conversation unless another is named.
fn earlier(
    id: &str,
    with: Option<AgentCommand>,
    known: &[AgentCommand],
) -> anyhow::Result<TabSpec> {
    let row = library::session(id, &[])?;
    if !config::is_record(&row.path) {
        return Ok(TabSpec {
            agent: with.map_or_else(|| agent(&row.digest.agent, known), Ok)?,
            open: SessionRequest::Load(row.digest.id),
            ..TabSpec::default()
        });
    }
    let mut past = Vec::new();
    for mut input in row.open()? {
        input.events(agents::known().reader_options(), |batch| {
            if let Batch::Event(event) = batch {
                past.push(event);
            }
            anyhow::Ok(())
        })??;
    }
    let session = past.iter().rev().find_map(|event| match &event.body {
        Body::Session(session) if !session.id.is_empty() => Some(session.id.clone()),
        _ => None,
    });
    Ok(TabSpec {
        agent: with.map_or_else(|| recorded(&past, known), Ok)?,
        open: session.map_or(SessionRequest::New, SessionRequest::Resume),
        past,
        record: Some(row.path),
        ..TabSpec::default()
    })
}

/// Returns the last agent of a conversation recorded by unspool.
fn recorded(past: &[Event], known: &[AgentCommand]) -> anyhow::Result<AgentCommand> {
    let recorded = past.iter().rev().find_map(|event| match &event.body {
        Body::State(state) => RecordedAgent::from_state(state),
        _ => None,
    });
    let recorded = recorded.unwrap_or_default();
    if let Ok(agent) = agent(&recorded.name, known) {
        return Ok(agent);
    }
    if recorded.command.is_empty() {
        bail!("the recording does not name its agent");
    }
    Ok(command(&recorded.command))
}
