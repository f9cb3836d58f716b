//! Entries → blocks: how each kind of entry is told, after the rules of the
//! agent formatter. Tools have a file of their own.

use std::borrow::Cow;
use std::sync::Arc;

use super::{
    Block, Line, Role, Span, Style, clean_lines, from_first_line, markdown, spans_mut, tool,
};
use crate::event::{
    Context, Level, Notice, Payload, Permission, Plan, PlanStatus, Prompt, TurnEnd, TurnStatus,
    Usage,
};
use crate::sanitize;
use crate::session::{Entry, Item};
use crate::tool::error_words;

/// How much is told.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one setting")]
pub struct Detail {
    /// Lines of a body that are shown; `None` shows all.
    pub lines: Option<usize>,
    /// Whether there is a body also below what was read, listed, searched for
    /// or fetched, and below context.
    pub everything: bool,
    /// What is shown of the model's thinking.
    pub reasoning: Reasoning,
    /// Whether tokens and cost are shown.
    pub usage: bool,
    /// Whether code gets the roles of its parts. The formatter switches this
    /// off where nobody would see them: it is slow.
    pub highlight: bool,
    /// Whether what only styles tell gets a mark of its own, for output that
    /// has none: `◦` before reasoning, `▸` before a step of a
    /// plan that is being worked on, `~~` around what is struck through.
    pub marks: bool,
    /// What a person looks for: a body that is cut shows the first line of it.
    pub wanted: Option<Wanted>,
}

impl Default for Detail {
    fn default() -> Self {
        Self {
            lines: Some(5),
            everything: false,
            reasoning: Reasoning::Title,
            usage: true,
            highlight: true,
            marks: false,
            wanted: None,
        }
    }
}

/// Tells the lines that a person looks for.
#[derive(Clone)]
pub struct Wanted(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Wanted {
    /// The lines for which this is true.
    pub fn new(is_wanted: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_wanted))
    }

    pub(super) fn is(&self, line: &str) -> bool {
        (self.0)(line)
    }
}

impl std::fmt::Debug for Wanted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Wanted")
    }
}

/// What is shown of the model's thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// Its title, where it has one; else all of it.
    #[default]
    Title,
    /// All of it.
    Full,
    /// Nothing.
    Off,
}

/// Blocks with what stands before their first and their other lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Before the first line.
    pub first: Line,
    /// Before the others.
    pub rest: Line,
    /// What is laid out behind.
    pub blocks: Vec<Block>,
}

impl Part {
    /// A part that begins with the agent's bullet.
    pub(super) fn bulleted(role: Role, blocks: Vec<Block>) -> Self {
        Self {
            first: vec![Span::role("• ", role)],
            rest: vec![Span::role("  ", Role::Normal)],
            blocks,
        }
    }

    /// Whether this begins something, and is not below what stands before it.
    pub(super) fn is_head(&self) -> bool {
        self.first.first().is_some_and(|span| span.text == "• ")
    }

    /// A part below a heading, behind the mark of a response.
    pub(super) fn response(blocks: Vec<Block>) -> Self {
        Self {
            first: vec![Span::role("  └ ", Role::Accent)],
            rest: vec![Span::role("    ", Role::Normal)],
            blocks,
        }
    }

    /// A part that stands by itself.
    pub(super) fn bare(blocks: Vec<Block>) -> Self {
        Self {
            first: Vec::new(),
            rest: Vec::new(),
            blocks,
        }
    }
}

/// What is seen of an entry; nothing for those that are only bookkeeping.
pub fn parts(entry: &Entry, detail: &Detail) -> Vec<Part> {
    match &entry.item {
        Item::User(user) => vec![user_words(&user.text)],
        Item::Text(text) if text.preformatted && text.text.trim().is_empty() => Vec::new(),
        Item::Text(text) => {
            let blocks = if text.preformatted {
                let text = from_first_line(&text.text);
                vec![Block::Output(clean_lines(text, Style::default()))]
            } else {
                markdown::blocks_of(&text.text, detail.highlight)
            };
            vec![Part::bulleted(Role::Accent, blocks)]
        }
        Item::Reasoning(text) => reasoning(&text.text, detail),
        Item::Tool(call) => tool::parts(call, detail),
        Item::Plan(plan) => plan_parts(plan, detail.marks),
        Item::Edit(made) => tool::made(made, detail),
        Item::Permission(permission) if is_granted_routine(permission) => Vec::new(),
        Item::Permission(permission) => vec![asked(permission)],
        Item::Prompt(prompt) if is_routine(prompt) => Vec::new(),
        Item::Prompt(prompt) => vec![question(prompt)],
        Item::Context(context) => given(context, detail),
        Item::Notice(told) => vec![notice(told)],
        Item::Usage(spent) if detail.usage => usage(spent).into_iter().collect(),
        Item::TurnEnd(end) => turn_end(end).into_iter().collect(),
        Item::Unknown(text) => vec![unknown(&text.as_str(), detail)],
        Item::Usage(_) | Item::Session(_) | Item::State(_) => Vec::new(),
    }
}

/// Text without markup; its line ends stay.
pub(super) fn plain(text: &str, role: Role) -> Block {
    let clean = sanitize::text(text.trim());
    Block::Paragraph(vec![Span::role(clean, role)])
}

/// Characters that are shown of what no rule knows, unless all is wanted.
const LONGEST_UNKNOWN: usize = 1000;

/// What no rule knows is shown as it came, cut like all bodies.
fn unknown(text: &str, detail: &Detail) -> Part {
    let accent = Style::of(Role::Accent);
    let cut = text.char_indices().nth(LONGEST_UNKNOWN);
    let cut = cut.filter(|_| detail.lines.is_some()).map(|(at, _)| at);
    let (head, rest) = text.split_at(cut.unwrap_or(text.len()));
    let mut lines = tool::head_lines(head, accent, detail);
    if !rest.is_empty() {
        let more = format!("… +{} characters", rest.chars().count());
        lines.push(vec![Span::new(more, accent)]);
    }
    Part::bulleted(Role::Accent, vec![Block::Verbatim(lines)])
}

fn user_words(text: &Payload) -> Part {
    Part {
        first: vec![Span::role("› ", Role::Colorful)],
        rest: vec![Span::role("  ", Role::Normal)],
        blocks: vec![plain(&text.as_str(), Role::Normal)],
    }
}

/// A title line such as `**Looking around**` stands for what follows it.
fn reasoning(text: &str, detail: &Detail) -> Vec<Part> {
    let text = without_empty_title(text);
    let italic = Style::of(Role::Normal).italic();
    let thought = |blocks| {
        let mut part = Part::bulleted(Role::Accent, blocks);
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
            let mut blocks = markdown::blocks_of(&titles_apart(text), detail.highlight);
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

/// The text behind a title that has no words, which markdown would take for a
/// rule.
fn without_empty_title(text: &str) -> &str {
    let start = text.trim_start();
    let (first, rest) = start.split_once('\n').unwrap_or((start, ""));
    let marks = first.trim();
    let is_empty = marks.len() >= 4 && marks.chars().all(|c| c == '*' || c == ' ');
    if is_empty { rest } else { text }
}

/// Puts a blank line before each title, which some agents write right below the
/// words that belong to the one before.
pub(super) fn titles_apart(text: &str) -> Cow<'_, str> {
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

/// The words of a first line that is bold.
pub(super) fn title(text: &str) -> Option<&str> {
    let first = text.trim_start().lines().next()?.trim();
    let title = first.strip_prefix("**")?.strip_suffix("**")?;
    (!title.trim().is_empty() && !title.contains("**")).then_some(title)
}

/// The explanation, if there is one, then the steps. The first step that is
/// not done stands out; where that cannot be seen, those that are being worked
/// on have a mark of their own.
fn plan_parts(plan: &Plan, marks: bool) -> Vec<Part> {
    let verb = Span::new("Update Plan", Style::of(Role::Colorful).bold());
    let head = Part::bulleted(Role::Green, vec![Block::Paragraph(vec![verb])]);
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

fn asked(permission: &Permission) -> Part {
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

/// The answer to a request, in the same words whichever agent asked. Where it was
/// chosen from several of its kind, its name too.
fn answer(permission: &Permission) -> Cow<'_, str> {
    let mut options = permission.options.iter();
    let Some(taken) = options.find(|option| option.id == permission.outcome) else {
        let word = spoken(&permission.outcome);
        return word.map_or(permission.outcome.as_str().into(), Cow::Borrowed);
    };
    let word = match taken.kind.as_str() {
        "allow_once" => "allowed",
        "allow_always" => "always allowed",
        "reject_once" => "rejected",
        "reject_always" => "always rejected",
        _ => return taken.name.as_str().into(),
    };
    let alike = permission.options.iter();
    if alike.filter(|option| option.kind == taken.kind).count() > 1 {
        return format!("{word}: {}", taken.name).into();
    }
    word.into()
}

/// What an agent's own word for an answer means.
fn spoken(outcome: &str) -> Option<&'static str> {
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

/// Asked before every call.
const ROUTINE: &str = "Run tools?";

/// Whether a question is asked before every call and was not answered with no:
/// that tools run is seen in what they do.
fn is_routine(prompt: &Prompt) -> bool {
    let answer = prompt.answer.trim().to_ascii_lowercase();
    prompt.question.trim() == ROUTINE && !answer.starts_with(['n', 's'])
}

/// The same for a question that is put as a request for permission.
fn is_granted_routine(permission: &Permission) -> bool {
    let mut options = permission.options.iter();
    let taken = options.find(|option| option.id == permission.outcome);
    let is_refused = taken.is_some_and(|option| option.kind.starts_with("reject"));
    permission.title == ROUTINE && !is_refused && permission.outcome != "cancelled"
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

/// What the model was given besides the prompt: its title or name, or else its
/// first line.
fn given(context: &Context, detail: &Detail) -> Vec<Part> {
    // A file is known by its name, not by its type.
    let is_media_type = context.title.contains('/') && !context.title.contains(' ');
    let words = if !context.title.is_empty() && (!is_media_type || context.name.is_empty()) {
        format!("Context {}", sanitize::line(&context.title))
    } else if !context.name.is_empty() {
        format!("Context {}", sanitize::line(&context.name))
    } else {
        let text = context.text.as_str();
        let first = text.trim().lines().next().unwrap_or_default();
        format!("Context: {}", sanitize::line(first))
    };
    let heading = vec![Block::Paragraph(vec![Span::role(words, Role::Accent)])];
    let mut parts = vec![Part::bulleted(Role::Accent, heading)];
    if detail.everything {
        let text = context.text.as_str();
        parts.extend(tool::verbatim(tool::head_lines(
            text.trim(),
            Style::of(Role::Accent),
            detail,
        )));
    }
    parts
}

/// `Error: …` and its like: the first word bold, all of it red.
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
    told(word, &error_words(&text), bullet)
}

pub(super) fn told(word: &str, text: &str, bullet: Role) -> Part {
    let mut spans = vec![Span::new(word, Style::of(Role::Red).bold())];
    let text = text.trim();
    // The word alone, where there is no other.
    if !text.is_empty() && !text.eq_ignore_ascii_case(word) {
        let text = format!(": {}", sanitize::text(text));
        spans.push(Span::role(text, Role::Red));
    }
    Part::bulleted(bullet, vec![Block::Paragraph(spans)])
}

/// Ends print nothing, except that a stream which just ended says so.
fn turn_end(end: &TurnEnd) -> Option<Part> {
    Some(told("Interrupted", &cut_off(end)?, Role::Red))
}

/// What is said of a turn that was cut off; `None` for all others.
pub fn cut_off(end: &TurnEnd) -> Option<String> {
    const WORDS: &str = "the stream ended before the agent finished";
    let reason = end.reason.trim();
    match end.status {
        TurnStatus::Interrupted if reason.is_empty() => Some(format!("{WORDS}.")),
        TurnStatus::Interrupted => Some(format!("{WORDS}: {}.", sanitize::line(reason))),
        _ => None,
    }
}

/// What is less than this would be shown as nought.
const LEAST_COST: f64 = 0.000_05;

fn usage(usage: &Usage) -> Option<Part> {
    let counts = [
        (usage.input_tokens, "in"),
        (usage.cached_tokens, "cached"),
        (usage.output_tokens, "out"),
        (usage.reasoning_tokens, "reasoning"),
    ];
    let mut words: Vec<String> = counts
        .into_iter()
        .filter_map(|(count, name)| {
            count
                .filter(|count| *count > 0)
                .map(|count| format!("{count} {name}"))
        })
        .collect();
    let cost = usage.cost_usd.filter(|cost| *cost >= LEAST_COST);
    words.extend(cost.map(|cost| format!("${cost:.4}")));
    let used = usage.context_used.filter(|used| *used > 0);
    if let (Some(used), Some(size)) = (used, usage.context_size) {
        words.push(format!("context {used}/{size}"));
    }
    let text = format!("Usage: {}", words.join(", "));
    let spans = vec![Span::role(text, Role::Accent)];
    (!words.is_empty()).then(|| Part::bulleted(Role::Accent, vec![Block::Paragraph(spans)]))
}
