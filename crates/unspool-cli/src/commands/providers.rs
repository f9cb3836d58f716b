//! `unspool providers`: what can be read, with an example each.

use std::io::{self, Write};

use crate::agents;
use crate::cli::Providers;
use crate::status::Status;

pub(crate) fn run(arguments: &Providers) -> anyhow::Result<Status> {
    let mut out = io::stdout().lock();
    let providers = agents::known().providers();
    let width = providers.iter().map(|provider| provider.name.len()).max();
    let width = width.unwrap_or_default();
    for provider in providers {
        if arguments.json {
            let line = serde_json::json!({
                "name": provider.name,
                "about": provider.about,
                "example": provider.example,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{:width$}  {}", provider.name, provider.about)?;
            writeln!(out, "{:width$}  $ {}", "", provider.example)?;
        }
    }
    Ok(Status::Success)
}
