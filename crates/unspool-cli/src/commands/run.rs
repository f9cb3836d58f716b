//! `unspool run`: starts an agent and shows what it does.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use anyhow::{Context, bail};
use unspool::Reader;
use unspool::stats::Stats;

use crate::child::{Save, Saved};
use crate::cli::Run;
use crate::settings::Settings;
use crate::status::{Status, complain, is_broken_pipe};
use crate::view::View;
use crate::watch::{self, End, Watch};
use crate::{agents, child, summary, terminal};

pub(crate) fn run(arguments: &Run) -> anyhow::Result<Status> {
    let words = command(arguments)?;
    if arguments.print_only {
        let words = words.iter().map(String::as_str);
        writeln!(io::stdout(), "{}", shlex::try_join(words)?)?;
        return Ok(Status::Success);
    }
    let program = words.first().map_or("", String::as_str);
    // Checked before --save creates or truncates a file.
    if let Err(error) = child::program::check(program) {
        return Ok(child::program::not_started(program.as_ref(), &error));
    }
    let settings = Settings::filtered(&arguments.look, &arguments.filter)?;
    let save = arguments.save.as_deref();
    let save = save.map(|path| create(path, arguments)).transpose()?;
    let (sender, updates) = watch::channel();
    watch::signals(sender.clone())?;
    let mut running = match child::start(&words, save, &sender) {
        Ok(running) => running,
        Err(error) => return Ok(child::program::not_started(program.as_ref(), &error)),
    };
    drop(sender);
    let mut stats = Stats::default();
    let mut view = View::live(&settings, &arguments.filter);
    let shown = Watch {
        updates: &updates,
        reader: &|| Reader::with_options(arguments.source.reader_options(false)),
        view: &mut view,
        stats: &mut stats,
        seen: None,
        out: terminal::output()?,
    }
    .run(&mut running);
    // The receiver is gone from here on; output is still saved.
    drop(updates);
    let outcome = match &shown {
        Ok(End::Input(_)) => running.outcome(),
        // A run that is no longer shown continues only if it is saved.
        Err(_) if arguments.save.is_some() => running.outcome(),
        Ok(End::Signal(_)) | Err(_) => running.end(),
    };
    let mut result = Status::Success;
    if let Err(error) = shown {
        let error = anyhow::Error::new(error);
        if arguments.save.is_none() {
            return Err(error);
        }
        if !is_broken_pipe(&error) {
            complain(&error);
            result = Status::Unreadable;
        }
    } else {
        if settings.summary {
            summary::write(&stats, &settings, &mut io::stdout().lock())?;
        }
        view.report_unshown(&stats, &arguments.filter, program);
    }
    if outcome.saved == Saved::Cut {
        result = Status::Unreadable;
    }
    let exit = outcome.status.context("cannot wait for the command")?;
    Ok(result.worse(ended(&words, exit)))
}

/// Opens the file for the output. Refuses to overwrite an existing regular file
/// without `--force`.
fn create(path: &Path, arguments: &Run) -> anyhow::Result<Save> {
    let mut options = File::options();
    if arguments.append {
        options.append(true).create(true);
    } else {
        options.write(true);
        let is_free = arguments.force || path.metadata().is_ok_and(|file| !file.is_file());
        if is_free {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
    }
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(
            "{} exists: use --force to overwrite it, --append to append to it, or choose another file",
            path.display()
        ),
        file => Ok(Save {
            path: path.to_owned(),
            file: file.with_context(|| format!("cannot write {}", path.display()))?,
        }),
    }
}

/// Returns the command to run: the one given after `--`, or the streaming command of
/// a known agent.
fn command(arguments: &Run) -> anyhow::Result<Vec<String>> {
    if !arguments.command.is_empty() {
        if !arguments.agent.is_empty() {
            bail!("give an agent and a prompt, or a command after `--`, not both");
        }
        return Ok(arguments.command.clone());
    }
    let (name, rest) = arguments
        .agent
        .split_first()
        .context("give an agent and a prompt, or a command after `--` (see --help)")?;
    let known = agents::headless().find(|(known, _)| known == name);
    let Some((_, agent)) = known else {
        bail!(
            "{name} is not a known agent (known: {}): give its whole command after `--`",
            agents::headless_names()
        );
    };
    match rest.split_first() {
        Some((prompt, _)) if prompt == "--" => bail!(
            "give a prompt for {name} before its arguments: unspool run {name} \"…\" {}",
            rest.get(1).map_or("", String::as_str)
        ),
        Some((prompt, more)) => Ok(agent.command(prompt, more)),
        None => bail!("give a prompt for {name}: unspool run {name} \"…\""),
    }
}

/// Returns the exit status of the command as a shell would. Reports a failure.
fn ended(words: &[String], status: ExitStatus) -> Status {
    let program = words.first().map_or("", String::as_str);
    match (status.code(), status.signal()) {
        (Some(0), _) => Status::Success,
        (Some(code), _) => {
            complain(&anyhow::anyhow!("{program} exited with status {code}"));
            Status::Code(u8::try_from(code).unwrap_or(u8::MAX))
        }
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            complain(&anyhow::anyhow!("{program} was killed by signal {signal}"));
            Status::of_signal(signal)
        }
    }
}
