//! `unspool generate`: shell completions and man pages, generated from the clap
//! definition.

use std::fs;
use std::io::{self, Write};

use anyhow::Context;
use clap::CommandFactory;

use crate::cli::{Cli, Generate};
use crate::status::Status;

pub(crate) fn run(arguments: &Generate) -> anyhow::Result<Status> {
    let mut command = Cli::command();
    match arguments {
        Generate::Completions { shell } => {
            // Buffered, because the generator panics on a closed pipe.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command, "unspool", &mut script);
            io::stdout().write_all(&script)?;
        }
        Generate::Man { folder } => {
            fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder))
                .with_context(|| format!("cannot write the pages to {}", folder.display()))?;
        }
    }
    Ok(Status::Success)
}
