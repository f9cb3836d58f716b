//! Turns requests of agents into dialogs, and their results into answers.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};
use ratatui::layout::Rect;
use unspool::doc::card;
use unspool::doc::entry::Detail;
use unspool::doc::{Block, Role, Span, Style, clean_lines, markdown};
use unspool::event::Edits;
use unspool::sanitize;
use unspool::session::{Entry, Item, Tool};
use unspool::theme::Theme;
use unspool::tool;

use crate::dialog::address::{self, Address};
use crate::dialog::form::{self, Form};
use crate::dialog::permission::{self, Choice, Kind, Permission};
use unspool_acp::{Answer, QuestionId, QuestionKind, ToolCall};

/// A request and the dialog that shows it.
pub(super) struct Question {
    id: QuestionId,
    widget: Widget,
}

enum Widget {
    /// The dialog, and for each option its id and effect.
    Permission(Box<Permission>, Vec<(String, Kind)>),
    Form(Box<Form>),
    Address(Box<Address>, String),
}

/// The result of a key in a dialog.
pub(super) enum Reply {
    Nothing,
    Answer(QuestionId, Answer),
    /// Stop the turn.
    Stop,
    /// Copy this text.
    Copy(String),
    /// Not allowed yet, because nothing of the request was visible.
    Unseen,
    /// The agent offers no option with this effect.
    Missing(&'static str),
    /// Not allowed yet, because this many rows were not visible.
    Unread(usize),
}

impl Question {
    pub(super) fn new(ask: &unspool_acp::Question) -> Self {
        let widget = match &ask.kind {
            QuestionKind::Permission { call, options } => {
                let choices = options.iter().map(|option| Choice {
                    name: option.name.clone(),
                    kind: kind(&option.kind),
                });
                let widget = Permission::new(headline(call), blocks(call), choices.collect());
                let ids = options
                    .iter()
                    .map(|option| (option.id.clone(), kind(&option.kind)));
                Widget::Permission(Box::new(widget), ids.collect())
            }
            QuestionKind::Form { message, schema } => {
                Widget::Form(Box::new(Form::new(message, schema)))
            }
            QuestionKind::Url { message, url, .. } => {
                Widget::Address(Box::new(Address::new(message, url)), url.clone())
            }
        };
        Self { id: ask.id, widget }
    }

    pub(super) fn id(&self) -> QuestionId {
        self.id
    }

    /// Sets the number of requests waiting after this one.
    pub(super) fn set_waiting(&mut self, waiting: usize) {
        if let Widget::Permission(widget, _) = &mut self.widget {
            widget.set_waiting(waiting);
        }
    }

    /// Returns the number of rows of the whole dialog.
    pub(super) fn height(&mut self, wide: u16) -> u16 {
        match &mut self.widget {
            Widget::Permission(widget, _) => widget.height(wide),
            Widget::Form(widget) => widget.height(wide),
            Widget::Address(widget, _) => widget.height(wide),
        }
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, now: Instant) {
        match &mut self.widget {
            Widget::Permission(widget, _) => widget.draw(frame, area, theme, now),
            Widget::Form(widget) => widget.draw(frame, area, theme, now),
            Widget::Address(widget, _) => widget.draw(frame, area, theme, now),
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Reply {
        let answered = |answer| Reply::Answer(self.id, answer);
        match &mut self.widget {
            Widget::Permission(widget, options) => match widget.key(key, now) {
                permission::Answer::Chosen(at) => match options.get(at) {
                    Some((option, _)) => answered(Answer::Option(option.clone())),
                    None => Reply::Nothing,
                },
                permission::Answer::Cancel => Reply::Stop,
                permission::Answer::Unseen => Reply::Unseen,
                permission::Answer::Unread(rows) => Reply::Unread(rows),
                permission::Answer::Nothing => match effect(key) {
                    Some((kind, words)) if options.iter().all(|(_, offered)| *offered != kind) => {
                        Reply::Missing(words)
                    }
                    _ => Reply::Nothing,
                },
                permission::Answer::Changed => Reply::Nothing,
            },
            Widget::Form(widget) => match widget.key(key, now) {
                form::Answer::Accept(fields) => answered(Answer::Accept(fields)),
                form::Answer::Decline => answered(Answer::Decline),
                form::Answer::Cancel => answered(Answer::Cancel),
                form::Answer::Nothing | form::Answer::Changed => Reply::Nothing,
            },
            Widget::Address(widget, url) => match widget.key(key, now) {
                address::Answer::Accept => answered(Answer::Accept(serde_json::Map::new())),
                address::Answer::Unseen => Reply::Unseen,
                address::Answer::Copy => Reply::Copy(url.clone()),
                address::Answer::Decline => answered(Answer::Decline),
                address::Answer::Cancel => answered(Answer::Cancel),
                address::Answer::Nothing | address::Answer::Changed => Reply::Nothing,
            },
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Widget::Form(widget) = &mut self.widget {
            widget.paste(text);
        }
    }

    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Reply {
        let Widget::Permission(widget, options) = &mut self.widget else {
            return Reply::Nothing;
        };
        match widget.mouse(mouse) {
            permission::Answer::Chosen(at) => match options.get(at) {
                Some((option, _)) => Reply::Answer(self.id, Answer::Option(option.clone())),
                None => Reply::Nothing,
            },
            _ => Reply::Nothing,
        }
    }
}

/// Returns the effect of a shortcut key, independent of the options offered.
fn effect(key: KeyEvent) -> Option<(Kind, &'static str)> {
    let is_shifted = key.modifiers.contains(KeyModifiers::SHIFT);
    match key.code {
        KeyCode::Char('A') => Some((Kind::AllowAlways, "allow always")),
        KeyCode::Char('R') => Some((Kind::RejectAlways, "reject always")),
        KeyCode::Char('a') if is_shifted => Some((Kind::AllowAlways, "allow always")),
        KeyCode::Char('r') if is_shifted => Some((Kind::RejectAlways, "reject always")),
        KeyCode::Char('a') => Some((Kind::AllowOnce, "allow once")),
        KeyCode::Char('r') => Some((Kind::RejectOnce, "reject once")),
        _ => None,
    }
}

fn kind(word: &str) -> Kind {
    match word {
        "allow_once" => Kind::AllowOnce,
        "allow_always" => Kind::AllowAlways,
        "reject_once" => Kind::RejectOnce,
        "reject_always" => Kind::RejectAlways,
        _ => Kind::Unknown,
    }
}

fn title(call: &ToolCall) -> &str {
    let names = [&call.title, &call.name, &call.kind];
    let first = names.into_iter().find(|name| !name.trim().is_empty());
    first.map_or("the agent asks", String::as_str)
}

/// Returns true if the headline only repeats the edit below it: a verb and the
/// end of the path.
fn repeats_edit(call: &ToolCall) -> bool {
    const VERBS: [&str; 7] = [
        "write", "edit", "create", "add", "update", "modify", "delete",
    ];
    let [edit] = call.edits.as_slice() else {
        return false;
    };
    let mut words = call.title.split_whitespace();
    let verb = words.next().unwrap_or_default().to_ascii_lowercase();
    let Some(path) = words.next().filter(|_| words.next().is_none()) else {
        return false;
    };
    let path = path.trim_matches(['`', '"', '\'']);
    VERBS.contains(&&*verb) && Path::new(&edit.path).ends_with(path)
}

/// Returns the headline, or an empty one if the body repeats it. Lines of a
/// command must not be joined into a headline.
fn headline(call: &ToolCall) -> &str {
    let is_command = call
        .command
        .as_deref()
        .is_some_and(|command| command.trim() == call.title.trim());
    if is_command || repeats_edit(call) {
        return "";
    }
    title(call)
}

/// Returns true if a line repeats the headline.
fn repeats_title(line: &[Span], call: &ToolCall) -> bool {
    let words: String = line.iter().map(|span| span.text.as_str()).collect();
    words.trim() == title(call).trim()
}

/// Returns true if the command names the path.
fn is_in_command(path: &Path, call: &ToolCall) -> bool {
    let command = call.command.as_deref().filter(|_| call.is_command_given);
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    let words = command.zip(name);
    words.is_some_and(|(command, name)| {
        let is_edge = |c: char| c.is_whitespace() || "\"'/=;|&<>()".contains(c);
        command.split(is_edge).any(|word| word == name)
    })
}

/// Builds the body of a request: the full command or edit, otherwise the input.
fn blocks(call: &ToolCall) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(command) = &call.command {
        blocks.push(permission::command(command));
    }
    if !call.edits.is_empty() {
        blocks.extend(shown(Item::Edit(Edits::new(call.edits.clone()))));
    } else if call.command.is_none() {
        blocks.extend(described(call));
    }
    let is_named = |path: &Path, blocks: &[Block]| {
        let path = exact(&path.to_string_lossy());
        let mut spans = blocks.iter().flat_map(|block| match block {
            Block::Paragraph(line) => line.as_slice(),
            _ => &[],
        });
        spans.any(|span| span.text.trim() == path)
    };
    let paths = call.paths.iter().filter(|path| !is_named(path, &blocks));
    let paths: Vec<&PathBuf> = paths.collect();
    if !call.text.trim().is_empty() {
        blocks.extend(markdown::blocks(&call.text));
    }
    // An edit names its own file.
    let is_changed = |path: &Path| call.edits.iter().any(|edit| Path::new(&edit.path) == path);
    let paths = paths.into_iter();
    let paths = paths.filter(|path| !is_changed(path) && !is_in_command(path, call));
    let paths = paths.map(|path| path.to_string_lossy().into_owned());
    for remark in call.remarks.iter().cloned().chain(paths) {
        let remark = exact(&remark);
        blocks.push(Block::Paragraph(vec![Span::role(remark, Role::Accent)]));
    }
    blocks.retain(|block| !matches!(block, Block::Paragraph(line) if repeats_title(line, call)));
    blocks
}

/// Escapes a text so that every character is visible, as one line.
fn exact(text: &str) -> String {
    sanitize::line(&sanitize::exact(text)).into_owned()
}

/// Builds the body for a call without command or edits: the usual card, unless it
/// only repeats the headline, and the full input unless the card shows it.
fn described(call: &ToolCall) -> Vec<Block> {
    let mut blocks = shown(Item::Tool(Tool::new(call.tool_use())));
    let is_shown = blocks.len() > 1;
    let Some(Block::Paragraph(heading)) = blocks.first_mut() else {
        return blocks;
    };
    let is_tool = heading.first().is_some_and(|verb| verb.text == TOOL);
    let is_cut = heading.last().is_some_and(|end| end.text.ends_with('…'));
    let is_redundant = is_redundant(heading, call);
    if is_tool {
        // Cuts off the preview of the input.
        heading.truncate(2);
    }
    if is_redundant {
        blocks.remove(0);
    }
    let is_missing = !is_shown && (is_tool || is_redundant || is_cut);
    if let Some(input) = call.input.as_ref().filter(|_| is_missing) {
        let text = format!("{input:#}");
        blocks.push(Block::Verbatim(clean_lines(&text, Style::default())));
    }
    blocks
}

/// Verb in the heading of an unknown tool.
const TOOL: &str = "Tool";

/// Returns true if a heading names nothing, or repeats the headline.
fn is_redundant(heading: &[Span], call: &ToolCall) -> bool {
    let mut words = heading.iter().map(|span| span.text.trim());
    let (verb, object) = (words.next(), words.next().unwrap_or_default());
    let title = tool::label(title(call));
    object.is_empty() || verb == Some(TOOL) && object == sanitize::line(&title).trim()
}

/// Returns all blocks of a card, unfolded.
fn shown(item: Item) -> Vec<Block> {
    let card = card::card(&Entry::new(item), &Detail::default());
    let panels = card.into_iter().flat_map(|card| card.panels);
    panels
        .flat_map(|panel| {
            let heading = (!panel.heading.is_empty()).then_some(Block::Paragraph(panel.heading));
            let sections = panel
                .sections
                .into_iter()
                .flat_map(|section| section.blocks);
            heading.into_iter().chain(sections).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::picture;

    fn seen(call: ToolCall) -> String {
        let choices = vec![Choice {
            name: "Yes".to_owned(),
            kind: Kind::AllowOnce,
        }];
        let mut widget = Permission::new(headline(&call), blocks(&call), choices);
        picture((60, 24), |frame| {
            widget.draw(frame, frame.area(), &Theme::mono(), Instant::now());
        })
    }

    #[test]
    fn lines_of_a_command_stay_lines() {
        let command = "echo hi # tidy up\ntouch evil";
        for title in [command, "Tidy up"] {
            let text = seen({
                let mut call = ToolCall::new("execute", title);
                call.command = Some(command.to_owned());
                call.is_command_given = true;
                call
            });
            assert!(text.contains("\n|touch evil "), "{text}");
        }
    }

    #[test]
    fn unusual_spaces_are_visible() {
        let text = seen({
            let mut call = ToolCall::new("execute", "ls\u{A0};\u{2003}rm");
            call.command = Some("ls\u{A0};\u{2003}rm\u{3000}".to_owned());
            call.text = "Voil\u{E0}\u{A0}: fait".to_owned();
            call.paths = vec!["/tmp/a\u{2009}b".into()];
            call
        });
        assert!(text.contains(r"ls\u{00A0};\u{2003}rm\u{3000}"), "{text}");
        assert!(text.contains(r"/tmp/a\u{2009}b"), "{text}");
        assert!(text.contains("Voil\u{E0}\u{A0}: fait"), "{text}");
    }

    #[test]
    fn nothing_is_shown_twice() {
        let edit = unspool::patch::from_texts("/project/src/a.rs", None, "x\n", true);
        let of_edit = |title: &str| {
            let mut call = ToolCall::new("edit", title);
            call.paths = vec!["/project/src/a.rs".into()];
            call.edits = vec![edit.clone()];
            call
        };
        let text = seen(of_edit("Write src/a.rs"));
        assert_eq!(text.matches("a.rs").count(), 1, "{text}");
        assert!(text.contains("/project/src/a.rs"), "{text}");
        // Titles that differ from the edit are kept.
        for title in ["Write a.rs for you", "Write other/a.rs", "Mend src/a.rs"] {
            let text = seen(of_edit(title));
            assert!(text.contains(title), "{text}");
        }
        let text = seen({
            let mut call = ToolCall::new("execute", "touch b.txt");
            call.command = Some("touch b.txt".to_owned());
            call.is_command_given = true;
            call.text = "touch b.txt".to_owned();
            call.paths = vec!["/project/b.txt".into(), "/project/c.txt".into()];
            call
        });
        assert_eq!(text.matches("b.txt").count(), 1, "{text}");
        assert!(text.contains("/project/c.txt"), "{text}");
        let of_input = |kind: &str, title: &str, input: &str| {
            let mut call = ToolCall::new(kind, title);
            call.input = serde_json::from_str(input).ok();
            call
        };
        let text = seen(of_input("other", "Look\nit up", ""));
        assert_eq!(text.matches("Look it up").count(), 1, "{text}");
        let mut read = of_input("read", "Open it", r#"{"path":"/b.txt"}"#);
        read.paths.push("/b.txt".into());
        let text = seen(read);
        assert_eq!(text.matches("b.txt").count(), 1, "{text}");
        // The input is shown in full, exactly once.
        for kind in ["other", "read", "search", "delete", "think"] {
            let long = "a ".repeat(220);
            for key in ["odd", "query"] {
                let text = seen(of_input(kind, "Ask", &format!(r#"{{"{key}":"{long}z"}}"#)));
                assert_eq!(text.matches("Ask").count(), 1, "{text}");
                assert_eq!(text.matches("a z").count(), 1, "{kind} {text}");
            }
        }
        // The headline can't replace the full path.
        let text = seen({
            let mut call = ToolCall::new("read", "Read b.txt");
            call.paths = vec!["/project/secret/b.txt".into()];
            call
        });
        assert!(text.contains("/project/secret/b.txt"), "{text}");
    }
}
