//! Filters entries by kind, failure, time and text.

use clap::ValueEnum;
use jiff::Timestamp;
use unspool::event::{Category, Edit, Level, ToolStatus};
use unspool::session::{Entry, Item};
use unspool::stats::Stats;

use crate::cli::{EntryKind, Filter};

/// Returns true if the entry passes all filters. The end of a cut-off stream
/// always passes, because it marks the output as incomplete.
pub(crate) fn shows(filter: &Filter, entry: &Entry) -> bool {
    let Some(kind) = kind(&entry.item) else {
        return true;
    };
    let is_among = |kinds: &[EntryKind]| {
        kinds.contains(&kind) || (is_change(&entry.item) && kinds.contains(&EntryKind::Edit))
    };
    (filter.only.is_empty() || is_among(&filter.only))
        && !is_among(&filter.hide)
        && (filter.tool.is_empty() || is_tool(&entry.item, &filter.tool))
        && (!filter.errors || went_wrong(&entry.item))
        && in_time(filter, entry.time.as_deref())
        && filter
            .grep
            .as_ref()
            .is_none_or(|pattern| words(&entry.item).iter().any(|text| pattern.is_match(text)))
}

/// Returns the active filters as typed, or an empty text.
pub(crate) fn given(filter: &Filter) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend((!filter.only.is_empty()).then(|| format!("--only {}", names(&filter.only))));
    words.extend((!filter.hide.is_empty()).then(|| format!("--hide {}", names(&filter.hide))));
    words.extend(filter.tool.iter().map(|name| format!("--tool {name}")));
    words.extend(
        filter
            .grep
            .iter()
            .map(|pattern| format!("--grep {pattern}")),
    );
    words.extend(filter.since.map(|time| format!("--since {time:.0}")));
    words.extend(filter.until.map(|time| format!("--until {time:.0}")));
    words.extend(filter.errors.then(|| "--errors".to_owned()));
    words.join(" ")
}

/// Returns kinds as typed.
fn names(kinds: &[EntryKind]) -> String {
    let values = kinds.iter().filter_map(EntryKind::to_possible_value);
    let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    names.join(",")
}

/// Returns the message for a run in which no entry passes the filters.
pub(crate) fn nothing_matches(filter: &Filter) -> Option<String> {
    let given = given(filter);
    (!given.is_empty()).then(|| format!("nothing matches {given}"))
}

/// Returns the message for time filters on a run without timestamps, which all
/// entries pass.
pub(crate) fn untimed(filter: &Filter, stats: &Stats) -> Option<String> {
    let names = [
        filter.since.map(|_| "--since"),
        filter.until.map(|_| "--until"),
    ];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let is_idle = !names.is_empty() && !stats.has_times();
    is_idle.then(|| {
        format!(
            "this run has no timestamps: {} has no effect",
            names.join(" and ")
        )
    })
}

fn kind(item: &Item) -> Option<EntryKind> {
    Some(match item {
        Item::Session(_) | Item::State(_) => EntryKind::Session,
        Item::User(_) => EntryKind::User,
        Item::Text(_) | Item::Media(_) => EntryKind::Text,
        Item::Reasoning(_) => EntryKind::Reasoning,
        Item::Tool(_) => EntryKind::Tool,
        Item::Plan(_) => EntryKind::Plan,
        Item::Edit(_) => EntryKind::Edit,
        Item::Permission(_) => EntryKind::Permission,
        Item::Prompt(_) => EntryKind::Prompt,
        Item::Context(_) => EntryKind::Context,
        Item::Notice(_) => EntryKind::Notice,
        Item::Usage(_) => EntryKind::Usage,
        Item::Unknown(_) => EntryKind::Unknown,
        _ => return None,
    })
}

/// Returns true if a call changes files.
fn is_change(item: &Item) -> bool {
    let Item::Tool(tool) = item else {
        return false;
    };
    matches!(
        tool.call.category,
        Category::Write | Category::Edit | Category::Delete | Category::Move
    )
}

fn is_tool(item: &Item, wanted: &[String]) -> bool {
    let tool = match item {
        Item::Tool(tool) => tool,
        Item::Edit(_) => return wanted.iter().any(|name| name.eq_ignore_ascii_case("edit")),
        _ => return false,
    };
    let category = format!("{:?}", tool.call.category);
    wanted.iter().any(|name| {
        name.eq_ignore_ascii_case(&tool.call.name) || name.eq_ignore_ascii_case(&category)
    })
}

fn went_wrong(item: &Item) -> bool {
    match item {
        Item::Tool(tool) => tool
            .result
            .as_ref()
            .is_some_and(|result| result.status != ToolStatus::Ok),
        Item::Edit(made) => made.status != ToolStatus::Ok,
        Item::Notice(notice) => matches!(
            notice.level,
            Level::Error | Level::Warning | Level::Canceled
        ),
        _ => false,
    }
}

/// Returns true if a time is in range. An entry without a time passes.
fn in_time(filter: &Filter, time: Option<&str>) -> bool {
    if filter.since.is_none() && filter.until.is_none() {
        return true;
    }
    let Some(time) = time.and_then(|time| time.parse::<Timestamp>().ok()) else {
        return true;
    };
    filter.since.is_none_or(|since| time >= since) && filter.until.is_none_or(|until| time < until)
}

/// Returns the searchable texts of an entry.
fn words(item: &Item) -> Vec<String> {
    match item {
        Item::User(user) => {
            let names = user.media.iter().map(|media| media.name.clone());
            std::iter::once(user.text.to_string())
                .chain(names)
                .collect()
        }
        Item::Media(media) => media.iter().map(|media| media.name.clone()).collect(),
        Item::Text(text) | Item::Reasoning(text) => vec![text.text.clone()],
        Item::Tool(tool) => {
            let input = tool.call.input.as_ref().map(|input| input.get().to_owned());
            let output = tool.result.as_ref().map(|result| result.output.to_string());
            let edits = tool
                .result
                .iter()
                .flat_map(|result| lines_of(&result.edits));
            let names = [
                tool.call.name.clone(),
                tool.call.arg.clone(),
                tool.call.title.clone(),
            ];
            let texts = names.into_iter().chain(input).chain(output);
            texts.chain(edits).collect()
        }
        Item::Plan(plan) => plan
            .entries
            .iter()
            .map(|entry| entry.text.clone())
            .collect(),
        Item::Edit(made) => lines_of(&made.edits).collect(),
        Item::Permission(permission) => vec![permission.title.clone()],
        Item::Prompt(prompt) => vec![prompt.question.clone(), prompt.answer.clone()],
        Item::Context(context) => vec![context.title.clone(), context.text.to_string()],
        Item::Notice(notice) => vec![notice.text.to_string()],
        Item::Unknown(text) => vec![text.to_string()],
        _ => Vec::new(),
    }
}

/// Returns the paths and changed lines of edits.
fn lines_of(edits: &[Edit]) -> impl Iterator<Item = String> {
    edits.iter().flat_map(|edit| {
        let lines = edit.hunks.iter().flat_map(|hunk| &hunk.lines);
        std::iter::once(&edit.path).chain(lines).cloned()
    })
}
