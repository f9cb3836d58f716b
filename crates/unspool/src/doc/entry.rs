//! Converts entries to blocks for terminals, following the agent formatter's
//! rules. Tool calls are in `doc/tool.rs`.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Block, Line, Role, Span, Style, clean_lines, from_first_line, prose, spans_mut, tool};
use crate::event::{
    Context, Level, Notice, Permission, Plan, PlanStatus, Prompt, TurnEnd, TurnStatus, Usage, User,
};
use crate::sanitize;
use crate::session::{Entry, Folder, Item};
use crate::tool::error_message;

/// Settings for the amount of detail.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one setting")]
#[non_exhaustive]
pub struct Detail {
    /// Lines shown per body; `None` shows all.
    pub lines: Option<usize>,
    /// The lines shown of a failed call's output, if it is longer.
    pub failed: Excerpt,
    /// Shows a body also for read, list, search and fetch calls and for
    /// context.
    pub everything: bool,
    /// The amount of reasoning shown.
    pub reasoning: Reasoning,
    /// Shows tokens and cost.
    pub usage: bool,
    /// Highlights code. Highlighting is slow; the formatter turns it off for
    /// output without colours.
    pub highlight: bool,
    /// Replaces styling with marks, for output without styles: `◦` before
    /// reasoning, `▸` before the current step of a plan, `~~` around struck-out
    /// text. Plain text has the `~~` in any case.
    pub marks: bool,
    /// Shows paths in headings relative to the folder of the run.
    pub relative_paths: bool,
    /// A search: a cut body is moved to the first matching line.
    pub search: Option<LineMatcher>,
}

impl Default for Detail {
    fn default() -> Self {
        Self {
            lines: Some(5),
            failed: Excerpt::Head,
            everything: false,
            reasoning: Reasoning::Title,
            usage: true,
            highlight: true,
            marks: false,
            relative_paths: false,
            search: None,
        }
    }
}

setters! {
    Detail {
        with_lines => lines: Option<usize>,
        with_failed => failed: Excerpt,
        with_everything => everything: bool,
        with_reasoning => reasoning: Reasoning,
        with_usage => usage: bool,
        with_highlight => highlight: bool,
        with_marks => marks: bool,
        with_relative_paths => relative_paths: bool,
        with_search => search: Option<LineMatcher>,
    }
}

/// A predicate for the lines that a search matches.
#[derive(Clone)]
pub struct LineMatcher(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl LineMatcher {
    /// Creates a matcher from a predicate.
    pub fn new(matches: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(matches))
    }

    pub(super) fn matches(&self, line: &str) -> bool {
        (self.0)(line)
    }
}

impl std::fmt::Debug for LineMatcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LineMatcher")
    }
}

/// The amount of reasoning shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reasoning {
    /// The title if there is one, else everything.
    #[default]
    Title,
    /// Everything.
    Full,
    /// Nothing.
    Off,
}

/// The lines shown of a body that is longer than the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Excerpt {
    /// The first lines.
    #[default]
    Head,
    /// The first line and the last ones: most programs print errors last.
    Tail,
}

/// Blocks with the prefixes of their first and following lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The prefix of the first line.
    pub first: Line,
    /// The prefix of the following lines.
    pub rest: Line,
    /// The content after the prefix.
    pub blocks: Vec<Block>,
    /// The whole paths in a heading that shows them relative; otherwise empty.
    pub paths: String,
    /// True if all of it is in italics, markers of lists too.
    pub italic: bool,
}

impl Part {
    /// Creates a part that starts with a bullet.
    pub(super) fn bulleted(role: Role, blocks: Vec<Block>) -> Self {
        Self {
            first: vec![Span::role("• ", role)],
            rest: vec![Span::role("  ", Role::Normal)],
            blocks,
            ..Self::default()
        }
    }

    /// Returns true if the part starts with a bullet, so it does not belong to
    /// the part before.
    pub(super) fn is_head(&self) -> bool {
        self.first.first().is_some_and(|span| span.text == "• ")
    }

    /// Creates a part below a heading, with the prefix of tool results.
    pub(super) fn response(blocks: Vec<Block>) -> Self {
        Self {
            first: vec![Span::role("  └ ", Role::Accent)],
            rest: vec![Span::role("    ", Role::Normal)],
            blocks,
            ..Self::default()
        }
    }

    /// Replaces the prefix of tool results with blanks if a result is above.
    pub(super) fn below(mut self, above: Option<&Self>) -> Self {
        if above.is_some_and(|above| !above.is_head()) {
            self.first.clone_from(&self.rest);
        }
        self
    }

    /// Creates a part without a prefix.
    pub(super) fn bare(blocks: Vec<Block>) -> Self {
        Self {
            blocks,
            ..Self::default()
        }
    }
}

/// Converts an entry to parts; returns none for entries without visible
/// content.
pub fn parts(entry: &Entry, detail: &Detail) -> Vec<Part> {
    match &entry.item {
        Item::User(user) => user_parts(user),
        Item::Media(media) => vec![Part::bulleted(
            Role::Accent,
            vec![Block::Media(media.clone())],
        )],
        Item::Text(text) if text.preformatted && text.text.trim().is_empty() => Vec::new(),
        Item::Text(text) => {
            let blocks = if text.preformatted {
                let text = from_first_line(&text.text);
                vec![Block::Output(clean_lines(text, Style::default()))]
            } else {
                prose::blocks(&text.text, detail.highlight)
            };
            vec![Part::bulleted(Role::Accent, blocks)]
        }
        Item::Reasoning(text) => reasoning(&text.text, detail),
        Item::Tool(call) => tool::parts(call, folder(entry, detail), detail),
        Item::Plan(plan) => plan_parts(plan, Role::Green, detail.marks),
        Item::Edit(edits) => tool::standalone_edits(edits, folder(entry, detail), detail),
        Item::Permission(permission) if is_routine_permission(permission) => Vec::new(),
        Item::Permission(permission) => vec![permission_part(permission)],
        Item::Prompt(prompt) if is_routine_prompt(prompt) => Vec::new(),
        Item::Prompt(prompt) => vec![question(prompt)],
        Item::Context(context) => context_parts(context, detail),
        Item::Notice(event) => vec![notice(event)],
        Item::Usage(spent) if detail.usage => usage(spent).into_iter().collect(),
        Item::TurnEnd(end) => turn_end(end).into_iter().collect(),
        Item::Unknown(text) => vec![unknown(&text.as_str(), detail)],
        Item::Usage(_) | Item::Session(_) | Item::State(_) => Vec::new(),
    }
}

/// Returns the folder to which paths are shown relative.
pub(super) fn folder<'a>(entry: &'a Entry, detail: &Detail) -> Option<&'a Folder> {
    entry.folder.as_ref().filter(|_| detail.relative_paths)
}

/// Creates a paragraph without Markdown, keeping line breaks.
pub(super) fn plain(text: &str, role: Role) -> Block {
    let clean = sanitize::text(text.trim());
    Block::Paragraph(vec![Span::role(clean, role)])
}

/// Maximum characters shown of an unknown frame, unless the line limit is off.
const LONGEST_UNKNOWN: usize = 1000;

/// Shows an unknown frame verbatim, cut like other bodies.
fn unknown(text: &str, detail: &Detail) -> Part {
    let accent = Style::of(Role::Accent);
    let cut = text.char_indices().nth(LONGEST_UNKNOWN);
    let cut = cut.filter(|_| detail.lines.is_some()).map(|(at, _)| at);
    let (head, rest) = text.split_at(cut.unwrap_or(text.len()));
    let mut lines = tool::excerpt_lines(head, accent, detail, Excerpt::Head);
    if !rest.is_empty() {
        let more = format!("… +{} characters", rest.chars().count());
        lines.push(vec![Span::new(more, accent)]);
    }
    Part::bulleted(Role::Accent, vec![Block::Verbatim(lines)])
}

/// Shows a prompt and, below it, what came with it.
fn user_parts(user: &User) -> Vec<Part> {
    let text = user.text.as_str();
    let has_text = !text.trim().is_empty() || user.media.is_empty();
    let text = has_text.then(|| plain(&text, Role::Normal));
    let media = (!user.media.is_empty()).then(|| Block::Media(user.media.clone()));
    let mut parts: Vec<Part> = text
        .into_iter()
        .chain(media)
        .map(|block| Part {
            first: vec![Span::role("  ", Role::Normal)],
            rest: vec![Span::role("  ", Role::Normal)],
            blocks: vec![block],
            ..Part::default()
        })
        .collect();
    if let Some(first) = parts.first_mut() {
        first.first = vec![Span::role("› ", Role::Colorful)];
    }
    parts
}

/// Shows the titles of reasoning, such as `**Looking around**`, or all of it.
fn reasoning(text: &str, detail: &Detail) -> Vec<Part> {
    let text = without_empty_title(text);
    let italic = Style::of(Role::Normal).italic();
    let thought = |blocks| {
        let mut part = Part::bulleted(Role::Accent, blocks);
        part.italic = true;
        if detail.marks {
            part.first = vec![Span::role("◦ ", Role::Accent)];
        }
        part
    };
    match (detail.reasoning, title(text)) {
        (Reasoning::Off, _) => Vec::new(),
        (Reasoning::Title, Some(_)) => {
            let titles = text.lines().filter_map(title);
            let titles = titles.map(|title| Span::new(sanitize::line(title), italic));
            titles
                .map(|title| thought(vec![Block::Paragraph(vec![title])]))
                .collect()
        }
        _ => {
            let mut blocks = prose::blocks(&separate_titles(text), detail.highlight);
            if blocks.is_empty() {
                return Vec::new();
            }
            for span in blocks.iter_mut().flat_map(spans_mut) {
                span.style.italic = true;
            }
            vec![thought(blocks)]
        }
    }
}

/// Skips a title without text (`** **`), which Markdown would render as a rule.
fn without_empty_title(text: &str) -> &str {
    let start = text.trim_start();
    let (first, rest) = start.split_once('\n').unwrap_or((start, ""));
    let marks = first.trim();
    let is_empty = marks.len() >= 4 && marks.chars().all(|c| c == '*' || c == ' ');
    if is_empty { rest } else { text }
}

/// Inserts a blank line before each title, because some agents write it
/// directly below the previous paragraph.
pub(super) fn separate_titles(text: &str) -> Cow<'_, str> {
    let titles = text.lines().filter(|line| title(line).is_some()).count();
    if titles < 2 || title(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut apart = String::with_capacity(text.len() + titles);
    for line in text.split_inclusive('\n') {
        if title(line).is_some() && !apart.is_empty() && !apart.ends_with("\n\n") {
            apart.push('\n');
        }
        apart.push_str(line);
    }
    Cow::Owned(apart)
}

/// Returns the text of a first line that is entirely bold.
pub(super) fn title(text: &str) -> Option<&str> {
    let first = text.trim_start().lines().next()?.trim();
    let title = first.strip_prefix("**")?.strip_suffix("**")?;
    (!title.trim().is_empty() && !title.contains("**")).then_some(title)
}

/// Renders the explanation and the steps. The first unfinished step is
/// highlighted; with `marks`, steps in progress get `▸`.
pub(super) fn plan_parts(plan: &Plan, bullet: Role, marks: bool) -> Vec<Part> {
    let verb = Span::new("Update Plan", Style::of(Role::Colorful).bold());
    let head = Part::bulleted(bullet, vec![Block::Paragraph(vec![verb])]);
    let mut body = Vec::new();
    if !plan.explanation.trim().is_empty() {
        let text = sanitize::line(plan.explanation.trim());
        body.push((None, Span::role(text, Role::Accent)));
    }
    let is_done = |status| matches!(status, PlanStatus::Completed | PlanStatus::Canceled);
    let current = plan.entries.iter().position(|entry| !is_done(entry.status));
    for (index, entry) in plan.entries.iter().enumerate() {
        let style = if Some(index) == current {
            Style::of(Role::Colorful).bold()
        } else {
            Style::of(Role::Accent)
        };
        let mark = match entry.status {
            PlanStatus::Completed => "✔ ",
            PlanStatus::Canceled => "✗ ",
            PlanStatus::InProgress if marks => "▸ ",
            PlanStatus::Pending | PlanStatus::InProgress => "□ ",
        };
        let text = Span::new(sanitize::line(entry.text.trim()), style);
        body.push((Some(Span::new(mark, style)), text));
    }
    let body = body.into_iter().enumerate().map(|(index, (mark, text))| {
        let mut part = Part::response(vec![Block::Paragraph(vec![text])]);
        if index > 0 {
            part.first.clone_from(&part.rest);
        }
        if let Some(mark) = mark {
            part.first.push(mark);
            part.rest.push(Span::role("  ", Role::Normal));
        }
        part
    });
    std::iter::once(head).chain(body).collect()
}

fn permission_part(permission: &Permission) -> Part {
    let mut spans = vec![
        Span::new("Permission", Style::of(Role::Colorful).bold()),
        Span::role(
            format!(" {}", sanitize::line(&permission.title)),
            Role::Normal,
        ),
    ];
    if !permission.outcome.is_empty() {
        let outcome = format!(" ({})", sanitize::line(&answer(permission)));
        spans.push(Span::role(outcome, Role::Accent));
    }
    Part::bulleted(Role::Accent, vec![Block::Paragraph(spans)])
}

/// Returns the answer in the same words for every agent. Adds the option's name
/// if several options have the same kind.
fn answer(permission: &Permission) -> Cow<'_, str> {
    let mut options = permission.options.iter();
    let Some(chosen) = options.find(|option| option.id == permission.outcome) else {
        let word = normalized_outcome(&permission.outcome);
        return word.map_or(permission.outcome.as_str().into(), Cow::Borrowed);
    };
    let word = match chosen.kind.as_str() {
        "allow_once" => "allowed",
        "allow_always" => "always allowed",
        "reject_once" => "rejected",
        "reject_always" => "always rejected",
        _ => return chosen.name.as_str().into(),
    };
    let alike = permission.options.iter();
    if alike.filter(|option| option.kind == chosen.kind).count() > 1 {
        return format!("{word}: {}", chosen.name).into();
    }
    word.into()
}

/// Maps an agent's own word for an answer to ours.
fn normalized_outcome(outcome: &str) -> Option<&'static str> {
    Some(match outcome.to_ascii_lowercase().as_str() {
        "allow" | "allowed" | "accept" | "accepted" | "approve" | "approved" | "once" | "yes" => {
            "allowed"
        }
        "always" | "acceptforsession" | "approved_for_session" => "always allowed",
        "deny" | "denied" | "reject" | "rejected" | "decline" | "declined" | "disallow" | "no" => {
            "rejected"
        }
        "cancel" | "canceled" | "cancelled" | "abort" => "canceled",
        _ => return None,
    })
}

/// Returns true for the question before every tool call, if it was answered with
/// yes. The call itself shows that it was allowed.
fn is_routine_prompt(prompt: &Prompt) -> bool {
    let answer = prompt.answer.trim().to_ascii_lowercase();
    prompt.is_routine() && !answer.is_empty() && !answer.starts_with(['n', 's'])
}

/// Returns true for the permission request before every tool call, unless it was
/// rejected or canceled.
fn is_routine_permission(permission: &Permission) -> bool {
    let mut options = permission.options.iter();
    let chosen = options.find(|option| option.id == permission.outcome);
    let is_refused = chosen.is_some_and(|option| option.kind.starts_with("reject"));
    permission.title == Prompt::ROUTINE && !is_refused && permission.outcome != "cancelled"
}

fn question(prompt: &Prompt) -> Part {
    let mut spans = vec![Span::new(
        sanitize::line(&prompt.question),
        Style::of(Role::Colorful).bold(),
    )];
    if !prompt.options.is_empty() && prompt.answer.is_empty() {
        let options = prompt.options.join("/");
        spans.push(Span::role(
            format!(" ({})", sanitize::line(&options)),
            Role::Accent,
        ));
    }
    if !prompt.answer.is_empty() {
        spans.push(Span::role(
            format!(" {}", sanitize::line(&prompt.answer)),
            Role::Normal,
        ));
    }
    Part::bulleted(Role::Accent, vec![Block::Paragraph(spans)])
}

/// Shows context by its title or name, or else by its first line.
fn context_parts(context: &Context, detail: &Detail) -> Vec<Part> {
    // Prefer a file's name to its media type.
    let is_media_type = context.title.contains('/') && !context.title.contains(' ');
    let heading = if !context.title.is_empty() && (!is_media_type || context.name.is_empty()) {
        format!("Context {}", sanitize::line(&context.title))
    } else if !context.name.is_empty() {
        format!("Context {}", sanitize::line(&context.name))
    } else {
        let text = context.text.as_str();
        let first = text.trim().lines().next().unwrap_or_default();
        format!("Context: {}", sanitize::line(first))
    };
    let heading = vec![Block::Paragraph(vec![Span::role(heading, Role::Accent)])];
    let mut parts = vec![Part::bulleted(Role::Accent, heading)];
    if detail.everything {
        let text = context.text.as_str();
        parts.extend(tool::verbatim(tool::excerpt_lines(
            text.trim(),
            Style::of(Role::Accent),
            detail,
            Excerpt::Head,
        )));
    }
    parts
}

/// Renders a notice in red, with its level in bold: `Error: …`.
fn notice(notice: &Notice) -> Part {
    let text = notice.text.as_str();
    let (word, bullet) = match notice.level {
        Level::Info => {
            return Part::bulleted(Role::Accent, vec![plain(&text, Role::Accent)]);
        }
        Level::Warning => ("Warning", Role::Red),
        Level::Retry => ("Retry", Role::Colorful),
        Level::Error => ("Error", Role::Red),
        Level::Canceled => ("Canceled", Role::Red),
    };
    alert(word, &error_message(&text), bullet)
}

pub(super) fn alert(word: &str, text: &str, bullet: Role) -> Part {
    let mut spans = vec![Span::new(word, Style::of(Role::Red).bold())];
    let text = text.trim();
    // Print only the label if the text repeats it.
    if !text.is_empty() && !text.eq_ignore_ascii_case(word) {
        let text = format!(": {}", sanitize::text(text));
        spans.push(Span::role(text, Role::Red));
    }
    Part::bulleted(bullet, vec![Block::Paragraph(spans)])
}

/// Renders the end of a turn: nothing, unless the stream was cut off.
fn turn_end(end: &TurnEnd) -> Option<Part> {
    Some(alert("Interrupted", &cut_off(end)?, Role::Red))
}

/// Returns the message for a turn that was cut off; `None` for all others.
pub fn cut_off(end: &TurnEnd) -> Option<String> {
    const MESSAGE: &str = "the stream ended before the agent finished";
    let reason = end.reason.trim();
    match end.status {
        TurnStatus::Interrupted if reason.is_empty() => Some(format!("{MESSAGE}.")),
        TurnStatus::Interrupted => Some(format!("{MESSAGE}: {}.", sanitize::line(reason))),
        _ => None,
    }
}

/// Lower costs would be displayed as zero.
const LEAST_COST: f64 = 0.000_05;

fn usage(usage: &Usage) -> Option<Part> {
    let counts = [
        (usage.input_tokens, "in"),
        (usage.cached_tokens, "cached"),
        (usage.output_tokens, "out"),
        (usage.reasoning_tokens, "reasoning"),
    ];
    let mut amounts: Vec<String> = counts
        .into_iter()
        .filter_map(|(count, name)| {
            count
                .filter(|count| *count > 0)
                .map(|count| format!("{count} {name}"))
        })
        .collect();
    let cost = usage.cost_usd.filter(|cost| *cost >= LEAST_COST);
    amounts.extend(cost.map(|cost| format!("${cost:.4}")));
    let used = usage.context_used.filter(|used| *used > 0);
    if let (Some(used), Some(size)) = (used, usage.context_size) {
        amounts.push(format!("context {used}/{size}"));
    }
    let text = format!("Usage: {}", amounts.join(", "));
    let spans = vec![Span::role(text, Role::Accent)];
    (!amounts.is_empty()).then(|| Part::bulleted(Role::Accent, vec![Block::Paragraph(spans)]))
}
