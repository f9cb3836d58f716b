//! Renders codalotl's checks: tests, lints and diagnostics. A check that found
//! something ran well, so its output is not an error message.

use super::{Part, Role, Span, View, body, envelope, spaced, verbatim};
use crate::doc::entry::Detail;
use crate::tool::status::{Status, statuses};

/// Renders a test run.
pub(super) fn tests(view: &View<'_>) -> Vec<Part> {
    let package = match super::special::package(view) {
        package if package.is_blank() && view.tool.call.name == "run_project_tests" => {
            "./...".to_owned().into()
        }
        package => package,
    };
    let mut spans = vec![
        view.verb("Running Tests", "Ran Tests"),
        spaced(&package.shown),
    ];
    if view.input.object().get("verbose").is_true() {
        spans.push(Span::role(" -v", Role::Normal));
    }
    if let Some(name) = view.input.text(&["test_name"]) {
        spans.push(Span::role(" -run", Role::Normal));
        spans.push(spaced(&name));
    }
    let head = super::special::head(view, spans, package.whole);
    std::iter::once(head).chain(findings(view)).collect()
}

/// Renders diagnostics, with output only if they found something.
pub(super) fn diagnostics(view: &View<'_>) -> Vec<Part> {
    let found = (view.bullet() != Role::Green || view.detail.everything)
        .then(|| findings(view))
        .flatten();
    named(view, "Running Diagnostics", "Ran Diagnostics", found)
}

pub(super) fn fix_lints(view: &View<'_>) -> Vec<Part> {
    named(view, "Fixing Lints", "Fixed Lints", findings(view))
}

fn named(view: &View<'_>, running: &str, done: &str, body: Option<Part>) -> Vec<Part> {
    let package = super::special::package(view);
    let spans = vec![view.verb(running, done), spaced(&package.shown)];
    let head = super::special::head(view, spans, package.whole);
    std::iter::once(head).chain(body).collect()
}

/// Returns the output of a check without its tags. Several checks are summed up
/// first, and only those that failed are shown.
fn findings(view: &View<'_>) -> Option<Part> {
    let output = view.output();
    match statuses(&output).as_slice() {
        [] => {
            let inner = envelope::without_tag(&output);
            let exit_code = view.result().and_then(|result| result.exit_code);
            let has_run = inner.len() < output.len() || exit_code.is_some();
            let failure = if has_run { None } else { view.failure() };
            failure.or_else(|| view.captured(inner))
        }
        [only] => view.captured(&text_of(only)),
        several => summary(view, several),
    }
}

fn summary(view: &View<'_>, statuses: &[Status<'_>]) -> Option<Part> {
    let limit = view.detail.lines;
    if limit == Some(0) {
        return None;
    }
    let words: Vec<String> = statuses.iter().map(outcome).collect();
    let is_shown = |status: &&Status<'_>| limit.is_none() || status.ok == Some(false);
    let texts: Vec<String> = statuses.iter().filter(is_shown).map(text_of).collect();
    let detail = Detail {
        lines: limit.map(|limit| limit - 1),
        ..view.detail.clone()
    };
    let mut lines = vec![vec![Span::role(words.join(" | "), Role::Accent)]];
    lines.extend(body::captured(&texts.concat(), &detail, view.excerpt()));
    verbatim(lines)
}

/// Returns the outcome of a check: `Tests: pass`.
fn outcome(status: &Status<'_>) -> String {
    let name = match status.name {
        "test" => "Tests",
        "lint" => "Lints",
        "diagnostics" => "Diagnostics",
        name => name,
    };
    let word = match status.ok {
        Some(true) => "pass",
        Some(false) => "fail",
        None => "unknown",
    };
    format!("{name}: {word}")
}

/// Returns the text of a section without the tags around each command.
fn text_of(status: &Status<'_>) -> String {
    let is_tag = |line: &&str| {
        let line = line.trim();
        line == "</command>" || line == "<command>" || line.starts_with("<command ")
    };
    let lines = status
        .text
        .trim_start_matches(['\r', '\n'])
        .split_inclusive('\n');
    lines.filter(|line| !is_tag(line)).collect()
}
