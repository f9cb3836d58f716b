//! Exports a run as a page or a comment.

use std::io::{self, Write};
use std::path::Path;

use unspool::doc::entry::Reasoning;
use unspool::page::{self, Options, Page};
use unspool_sessions::input::Input;

use super::events;
use crate::cli::{Export, Format, ReasoningShown, Scheme};
use crate::filter;
use crate::status::Status;

/// Writes one run. The outer error is about the output, the inner one about the
/// input.
pub(super) fn write(
    input: &mut Input,
    arguments: &Export,
    format: Format,
    out: impl Write,
) -> anyhow::Result<io::Result<Status>> {
    let name = input.name.clone();
    let options = options(arguments, &name);
    let page = match format {
        Format::Markdown => Page::comment(out, options),
        _ => Page::html(out, options),
    };
    let mut page = page.with_filter(|entry| filter::shows(&arguments.filter, entry));
    let read = events(input, arguments, format, |event| Ok(page.event(event)?))?;
    page.finish()?;
    if page.embedded_media() > 0 && arguments.redacts(format) {
        super::report_pictures();
    }
    if page.is_empty() {
        super::report_nothing_shown(arguments, &name);
    }
    Ok(read)
}

fn options(arguments: &Export, name: &str) -> Options {
    let file_name = Path::new(name).file_name().unwrap_or_default();
    let mut options = Options::default()
        .with_title(file_name.to_string_lossy())
        .with_scheme(arguments.theme.map(|theme| match theme {
            Scheme::Light => page::Scheme::Light,
            Scheme::Dark => page::Scheme::Dark,
        }))
        .with_reasoning(match arguments.reasoning {
            ReasoningShown::Title => Reasoning::Title,
            ReasoningShown::Full => Reasoning::Full,
            ReasoningShown::Off => Reasoning::Off,
        });
    if let Some(max_media) = arguments.max_media {
        options.max_media = max_media as u64;
    }
    if let Some(max_size) = arguments.max_size {
        options.max_size = max_size;
    }
    options
}
