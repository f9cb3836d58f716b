//! Renders the tools that the agent formatter's document names, each in its own
//! way.

use super::{
    Part, Role, Span, Style, Target, View, checks, envelope, excerpt_lines, prose, spaced, task,
};
use crate::json::{Json, Object};

/// Renders the call, or returns `None` for an ordinary tool.
pub(super) fn parts(view: &View<'_>) -> Option<Vec<Part>> {
    if only_ends_turn(view) {
        return Some(Vec::new());
    }
    if let Some(what) = resources(&view.tool.call.name) {
        let style = Style::of(Role::Colorful).bold();
        let server = view.input.text(&["server"]).unwrap_or_default();
        return Some(view.heading_only(what, style, server));
    }
    Some(match view.tool.call.name.as_str() {
        "get_public_api" => public_api(view),
        "clarify_public_api" => clarify(view),
        "update_usage" => update_usage(view),
        "change_api" => change_api(view),
        "get_usage" => usage(view),
        "module_info" => module_info(view),
        "run_tests" | "run_project_tests" => checks::tests(view),
        "diagnostics" => checks::diagnostics(view),
        "fix_lints" => checks::fix_lints(view),
        "review" if view.input.text(&["base"]).is_some() => review(view),
        "implement" => delegated(view, ("Implementing", "Implemented"), "instructions"),
        "review_spec_changes" => {
            let verbs = ("Reviewing SPEC changes in", "Reviewed SPEC changes in");
            delegated(view, verbs, "message")
        }
        "check_spec_conformance" => conformance(view),
        "refactor" if view.input.text(&["package"]).is_some() => refactor(view),
        _ => return None,
    })
}

/// Returns true for aider's call that ends the turn, if it succeeded and has no
/// message. The end of the turn already shows it.
fn only_ends_turn(view: &View<'_>) -> bool {
    let is_end = matches!(view.display_name(), "Yield" | "Finished");
    if !is_end || view.bullet() == Role::Red || !view.input.object().is_empty() {
        return false;
    }
    let output = view.output();
    let report = envelope::report(output.trim());
    report.as_deref().unwrap_or(&output).trim().is_empty()
}

/// Returns the heading for a tool that lists MCP resources.
fn resources(name: &str) -> Option<&'static str> {
    let name = name.rsplit('.').next().unwrap_or(name);
    match name.to_ascii_lowercase().as_str() {
        "list_mcp_resources" | "listmcpresourcestool" => Some("List MCP resources"),
        "list_mcp_resource_templates" => Some("List MCP resource templates"),
        _ => None,
    }
}

fn bold(word: &str) -> Span {
    Span::new(word, Style::of(Role::Colorful).bold())
}

/// Returns text in the accent colour below the heading.
fn accent(view: &View<'_>, text: &str) -> Option<Part> {
    let style = Style::of(Role::Accent);
    let lines = excerpt_lines(text.trim(), style, view.detail, view.excerpt());
    (!lines.is_empty()).then(|| prose(lines))
}

pub(super) fn package(view: &View<'_>) -> Target {
    let package = view.input.text(&["path", "import_path", "package"]);
    view.path(&package.unwrap_or_default())
}

/// Returns a heading that names a package or paths.
pub(super) fn head(view: &View<'_>, spans: Vec<Span>, paths: String) -> Part {
    Part {
        paths,
        ..view.head(spans)
    }
}

/// Returns the heading with the error below it, or else with `body`.
fn or_failure(view: &View<'_>, head: Part, body: Option<Part>) -> Vec<Part> {
    let body = view.failure().or(body);
    std::iter::once(head).chain(body).collect()
}

/// Returns the heading, the options of the call and, below them, the error.
fn with_failure(view: &View<'_>, head: Part, options: Option<Part>) -> Vec<Part> {
    let failure = view.failure().map(|part| part.below(options.as_ref()));
    let parts = std::iter::once(head).chain(options);
    parts.chain(failure).collect()
}

fn public_api(view: &View<'_>) -> Vec<Part> {
    let package = package(view);
    let spans = vec![bold("Read Public API"), spaced(&package.shown)];
    let head = head(view, spans, package.whole);
    let identifiers = view.input.list("identifiers").join(", ");
    or_failure(view, head, accent(view, &identifiers))
}

fn clarify(view: &View<'_>) -> Vec<Part> {
    let package = package(view);
    let spans = vec![
        view.verb("Clarifying", "Clarified"),
        spaced(&view.input.text(&["identifier"]).unwrap_or_default()),
        Span::role(" in", Role::Accent),
        spaced(&package.shown),
    ];
    let head = head(view, spans, package.whole);
    let text = match view.result() {
        None => view.input.text(&["question"]),
        Some(result) => Some(result.output.to_string()),
    };
    or_failure(view, head, text.and_then(|text| accent(view, &text)))
}

fn update_usage(view: &View<'_>) -> Vec<Part> {
    const SHOWN: usize = 3;
    let paths = view.input.list("paths");
    let first = paths.iter().take(SHOWN);
    let (shown, whole): (Vec<String>, Vec<String>) = first
        .map(|path| view.path(path))
        .map(|path| (path.shown, path.whole))
        .unzip();
    let mut spans = vec![
        view.verb("Updating Usage", "Updated Usage"),
        Span::role(" in", Role::Accent),
        spaced(&shown.join(", ")),
    ];
    if paths.len() > SHOWN {
        spans.push(Span::role(
            format!(" ({} more)", paths.len() - SHOWN),
            Role::Accent,
        ));
    }
    let whole: Vec<String> = whole.into_iter().filter(|path| !path.is_empty()).collect();
    or_failure(
        view,
        head(view, spans, whole.join(", ")),
        instructions(view),
    )
}

/// Returns the instructions while the call runs, nothing afterwards.
fn instructions(view: &View<'_>) -> Option<Part> {
    if view.is_done() {
        return None;
    }
    accent(view, &view.input.text(&["instructions"])?)
}

fn change_api(view: &View<'_>) -> Vec<Part> {
    let package = package(view);
    let spans = vec![
        view.verb("Changing API", "Changed API"),
        Span::role(" in", Role::Accent),
        spaced(&package.shown),
    ];
    let head = head(view, spans, package.whole);
    or_failure(view, head, instructions(view))
}

fn usage(view: &View<'_>) -> Vec<Part> {
    let package = view.input.text(&[
        "defining_package_path",
        "defining_package",
        "package",
        "import_path",
    ]);
    let head = view.head(vec![
        bold("Read Usage"),
        spaced(&package.unwrap_or_default()),
        spaced(&view.input.text(&["identifier"]).unwrap_or_default()),
    ]);
    let body = view.result().and_then(|result| {
        let output = result.output.as_str();
        let count = output.lines().filter(|line| is_match(line)).count();
        let noun = if count == 1 { "result" } else { "results" };
        accent(view, &format!("Found {count} {noun}."))
    });
    or_failure(view, head, body)
}

/// Returns true for a line that starts with a line number and a colon.
fn is_match(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(':')
}

fn module_info(view: &View<'_>) -> Vec<Part> {
    let fields = view.input.object();
    let search = view
        .input
        .text(&["package_search"])
        .map(|search| format!("Search: {search}"));
    let deps = fields
        .get("include_dependency_packages")
        .is_true()
        .then(|| "Deps: true".to_owned());
    let options: Vec<String> = search.into_iter().chain(deps).collect();
    let head = view.head(vec![bold("Read Module Info")]);
    with_failure(view, head, accent(view, &options.join("; ")))
}

/// Renders a task for a sub-agent that works on one package: the task while it
/// runs, the answer afterwards.
fn delegated(view: &View<'_>, verbs: (&str, &str), task: &str) -> Vec<Part> {
    let package = package(view);
    let spans = vec![view.verb(verbs.0, verbs.1), spaced(&package.shown)];
    let head = head(view, spans, package.whole);
    let body = if view.is_done() {
        task::answer(view, &view.output())
    } else {
        view.input
            .text(&[task])
            .and_then(|text| accent(view, &text))
    };
    or_failure(view, head, body)
}

/// Renders a review: the titles of its findings.
fn review(view: &View<'_>) -> Vec<Part> {
    let base = view.input.text(&["base"]).unwrap_or_default();
    let head = view.head(vec![view.verb("Reviewing", "Reviewed"), spaced(&base)]);
    let output = view.output();
    let result = Json::parse(output.trim()).map(Json::object);
    let findings = result.filter(|result| result.get("findings").is_array());
    let body = match findings {
        _ if !view.is_done() => None,
        Some(result) => {
            let findings = result.get("findings").array().into_iter();
            let titles: Vec<String> = findings.map(|finding| title(&finding.object())).collect();
            if titles.is_empty() {
                accent(view, "No actionable findings.")
            } else {
                accent(view, &titles.join("\n"))
            }
        }
        None => task::answer(view, &output),
    };
    or_failure(view, head, body)
}

/// Returns the title of a finding with its priority.
fn title(finding: &Object<'_>) -> String {
    let title = finding.get("title").string();
    match finding.get("priority").u64() {
        Some(priority) if !title.starts_with('[') => format!("[P{priority}] {title}"),
        _ => title,
    }
}

/// Renders a check of packages against their specifications: the numbers of
/// packages by outcome.
fn conformance(view: &View<'_>) -> Vec<Part> {
    let verb = view.verb("Checking SPEC conformance", "Checked SPEC conformance");
    let head = view.head(vec![verb]);
    let output = view.output();
    let packages = Json::parse(output.trim()).filter(|json| json.is_object());
    let body = match packages {
        _ if !view.is_done() => None,
        Some(packages) => {
            let (mut good, mut bad, mut failed) = (0, 0, 0);
            for (_, package) in packages.object().iter() {
                match package.get("conforms").bool() {
                    Some(true) => good += 1,
                    Some(false) => bad += 1,
                    None => failed += 1,
                }
            }
            let mut counts = vec![format!("{good} conforming")];
            counts.extend((bad > 0).then(|| format!("{bad} non-conforming")));
            let noun = if failed == 1 { "error" } else { "errors" };
            counts.extend((failed > 0).then(|| format!("{failed} {noun}")));
            accent(view, &counts.join(", "))
        }
        None => accent(view, &output),
    };
    or_failure(view, head, body)
}

fn refactor(view: &View<'_>) -> Vec<Part> {
    let package = package(view);
    let spans = vec![
        view.verb("Refactoring", "Refactored"),
        spaced(&view.input.text(&["name"]).unwrap_or_default()),
        Span::role(" in", Role::Accent),
        spaced(&package.shown),
    ];
    let head = head(view, spans, package.whole);
    let body = view
        .is_done()
        .then(|| task::answer(view, &view.output()))
        .flatten();
    or_failure(view, head, body)
}
