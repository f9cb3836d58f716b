//! The plain text of an entry, without wrapping, margins and folds: for search,
//! copy and export to an editor.

use unspool::doc::entry::{Detail, Reasoning};
use unspool::doc::{Block, DiffLine, Sign, card};
use unspool::event::{Media, Payload};
use unspool::layout::layout;
use unspool::sanitize;
use unspool::session::{Entry, Item};

/// Returns true if a text of the entry satisfies a predicate. Stops at the first
/// one.
pub(super) fn any(entry: &Entry, is_wanted: &dyn Fn(&str) -> bool) -> bool {
    let payload = |payload: &Payload| is_wanted(&payload.as_str());
    match &entry.item {
        Item::User(user) => payload(&user.text) || names(&user.media, is_wanted),
        Item::Media(media) => names(media, is_wanted),
        Item::Text(text) | Item::Reasoning(text) => is_wanted(&text.text),
        Item::Tool(tool) => {
            let call = &tool.call;
            let result = tool.result.as_ref();
            is_wanted(&call.name)
                || is_wanted(&call.arg)
                || is_wanted(&call.title)
                || call
                    .input
                    .as_ref()
                    .is_some_and(|input| is_wanted(input.get()))
                || is_wanted(&tool.output)
                || result.is_some_and(|result| {
                    payload(&result.output)
                        || edits(&result.edits, is_wanted)
                        || names(&result.media, is_wanted)
                })
        }
        Item::Edit(made) => edits(&made.edits, is_wanted),
        Item::Plan(plan) => plan.entries.iter().any(|step| is_wanted(&step.text)),
        Item::Permission(asked) => is_wanted(&asked.title) || is_wanted(&asked.outcome),
        Item::Prompt(prompt) => is_wanted(&prompt.question) || is_wanted(&prompt.answer),
        Item::Context(context) => {
            is_wanted(&context.name) || is_wanted(&context.title) || payload(&context.text)
        }
        Item::Notice(notice) => payload(&notice.text),
        Item::Unknown(text) => payload(text),
        _ => false,
    }
}

fn names(media: &[Media], is_wanted: &dyn Fn(&str) -> bool) -> bool {
    media.iter().any(|media| is_wanted(&media.name))
}

fn edits(edits: &[unspool::event::Edit], is_wanted: &dyn Fn(&str) -> bool) -> bool {
    edits.iter().any(|edit| {
        let mut lines = edit.hunks.iter().flat_map(|hunk| &hunk.lines);
        is_wanted(&edit.path) || lines.any(|line| is_wanted(line))
    })
}

/// Returns an entry as logical lines: an answer as written, anything else as a
/// card without its frame.
pub(super) fn text(entry: &Entry) -> String {
    match &entry.item {
        Item::User(user) if user.media.is_empty() => {
            return sanitize::text(user.text.as_str().trim()).into_owned();
        }
        Item::Text(text) | Item::Reasoning(text) => {
            return sanitize::text(text.text.trim()).into_owned();
        }
        _ => {}
    }
    let detail = Detail::default()
        .with_lines(None)
        .with_reasoning(Reasoning::Full)
        .with_highlight(false)
        .with_marks(true);
    let mut lines = Vec::new();
    for panel in card::card(entry, &detail)
        .into_iter()
        .flat_map(|card| card.panels)
    {
        lines.push(plain(&panel.heading));
        for section in panel.sections {
            if !section.label.is_empty() {
                lines.push(format!("{}:", section.label));
            }
            section
                .blocks
                .iter()
                .for_each(|block| add(block, &mut lines));
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn add(block: &Block, lines: &mut Vec<String>) {
    if let Block::Diff(changes) = block {
        for change in changes {
            match change {
                DiffLine::Gap => lines.push("⋮".to_owned()),
                DiffLine::More(count) => lines.push(format!("… +{count} lines")),
                DiffLine::Line { sign, spans, .. } => {
                    let sign = match sign {
                        Sign::Context => ' ',
                        Sign::Added => '+',
                        Sign::Removed => '-',
                    };
                    lines.push(format!("{sign}{}", plain(spans)));
                }
            }
        }
        return;
    }
    let laid = layout(std::slice::from_ref(block), None, &[], &[]);
    lines.extend(laid.iter().map(|line| plain(line)));
}

/// Returns the text of a line.
pub(super) fn plain(line: &[unspool::doc::Span]) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}
