//! Converts tool calls to panels: the terminal rendering, plus the full
//! command, the input and the output that a terminal leaves out.

use std::borrow::Cow;

use super::{LARGEST, LONGEST_HEADING, Panel, Section, bounded};
use crate::doc::entry::{Detail, Excerpt, Part};
use crate::doc::{Block, DiffLine, Line, Sign, Span, Style, code, tool};
use crate::event::{Category, Payload, ToolResult, ToolStatus};
use crate::json::Json;
use crate::sanitize;
use crate::session::{Folder, Tool};

/// Diffs up to this many lines are expanded at first.
const SHORT_CHANGE: usize = 60;

/// Errors up to this many lines are expanded at first.
const SHORT_ERROR: usize = 12;

pub(super) fn panels(tool: &Tool, folder: Option<&Folder>, detail: &Detail) -> Vec<Panel> {
    let (tool, left_out) = shortened(tool);
    let mut panels = grouped(tool::text_parts(&tool, folder, detail));
    let Some(first) = panels.first_mut() else {
        return panels;
    };
    match tool.call.category {
        Category::Task if tool::is_delegation(&tool) => delegated(&tool, first, detail),
        Category::Execute => {
            for section in &mut first.sections {
                "console".clone_into(&mut section.language);
            }
            let input = input(&tool, detail);
            command(first, detail);
            first.sections.splice(0..0, input);
        }
        _ => {
            let output = tool.result.as_ref().map(|result| result.output.as_str());
            if output.is_some_and(|output| matches!(tool::pretty(&output), Cow::Owned(_))) {
                for section in &mut first.sections {
                    "json".clone_into(&mut section.language);
                }
            }
            let is_told = first.sections.iter().any(has_change);
            heading(first);
            if let Some(section) = input(&tool, detail).filter(|_| !is_told) {
                first.sections.insert(0, section);
            }
        }
    }
    if let Some(last) = panels.last_mut() {
        last.sections.extend(output(&tool, &last.sections, detail));
        if let Some(section) = last.sections.last_mut() {
            section.left_out += left_out;
        }
        if let Some(media) = tool::media(&tool) {
            last.sections.push(Section::new("", vec![media]));
            last.open = true;
        }
    }
    let failed = tool
        .result
        .as_ref()
        .is_some_and(|result| result.status != ToolStatus::Ok);
    for panel in panels.iter_mut().filter(|_| failed) {
        panel.open |= panel.sections.iter().map(lines).sum::<usize>() <= SHORT_ERROR;
    }
    if let Some(last) = panels.last_mut().filter(|last| failed && !last.open) {
        show_end(&tool, last, detail);
    }
    panels
}

/// Opens the panel of a failed call with an excerpt of its long output, which is
/// folded below it.
fn show_end(tool: &Tool, panel: &mut Panel, detail: &Detail) {
    if detail.failed == Excerpt::Head {
        return;
    }
    let short = Detail {
        lines: Detail::default().lines,
        ..detail.clone()
    };
    let excerpt = tool::text_parts(tool, None, &short).pop();
    let excerpt = excerpt.filter(|part| !part.is_head() && part.blocks.iter().all(is_text));
    let (Some(excerpt), Some(whole)) = (excerpt, panel.sections.last_mut()) else {
        return;
    };
    if excerpt.blocks == whole.blocks {
        return;
    }
    whole.label = "Output";
    whole.folded = true;
    let at = panel.sections.len() - 1;
    panel.sections.insert(at, Section::new("", excerpt.blocks));
    panel.open = true;
}

fn is_text(block: &Block) -> bool {
    matches!(block, Block::Paragraph(_) | Block::Output(_))
}

/// Returns true if the call's category changes files.
pub(super) fn changes_files(tool: &Tool) -> bool {
    matches!(
        tool.call.category,
        Category::Write | Category::Edit | Category::Delete | Category::Move
    )
}

/// Returns true if the call's result contains edits.
pub(super) fn has_edits(tool: &Tool) -> bool {
    let result = tool.result.as_ref();
    result.is_some_and(|result| !result.edits.is_empty())
}

/// Returns true if the diff adds or removes lines; otherwise it is only a
/// numbered listing.
pub(super) fn has_changed_lines(lines: &[DiffLine]) -> bool {
    let is_changed =
        |line: &DiffLine| matches!(line, DiffLine::Line { sign, .. } if *sign != Sign::Context);
    lines.iter().any(is_changed)
}

/// Starts a panel at each heading.
pub(super) fn grouped(parts: Vec<Part>) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for part in parts {
        let is_head = part.is_head() || panels.is_empty();
        let mut blocks = part.blocks;
        if is_head {
            let heading = match blocks.first_mut() {
                Some(Block::Paragraph(line)) => std::mem::take(line),
                _ => Line::new(),
            };
            panels.push(Panel {
                heading,
                paths: part.paths,
                ..Panel::default()
            });
        } else if let Some(panel) = panels.last_mut() {
            panel.sections.push(section(blocks));
        }
    }
    for panel in &mut panels {
        let is_short = panel.sections.iter().map(lines).sum::<usize>() <= SHORT_CHANGE;
        panel.open = is_short && panel.sections.iter().any(has_change);
    }
    panels
}

/// Builds a section, cutting diffs at the size limit.
fn section(mut blocks: Vec<Block>) -> Section {
    let mut left_out = 0;
    for block in &mut blocks {
        if let Block::Diff(lines) = block {
            left_out += cut(lines);
        }
    }
    Section {
        left_out,
        ..Section::new("", blocks)
    }
}

fn cut(lines: &mut Vec<DiffLine>) -> usize {
    let (mut kept, mut size, mut left_out) = (0, 0, 0);
    for line in lines.iter() {
        if let DiffLine::Line { spans, .. } = line {
            let length = spans.iter().map(|span| span.text.len() + 1).sum::<usize>();
            size += length;
            if size > LARGEST {
                left_out += length;
                continue;
            }
        }
        kept += 1;
    }
    if left_out > 0 {
        lines.truncate(kept);
    }
    left_out
}

fn has_change(section: &Section) -> bool {
    section
        .blocks
        .iter()
        .any(|block| matches!(block, Block::Diff(_)))
}

fn lines(section: &Section) -> usize {
    let count = |block: &Block| match block {
        Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. } => lines.len(),
        Block::Diff(lines) => lines.len(),
        Block::Paragraph(line) => {
            let ends = line.iter().map(|span| span.text.matches('\n').count());
            ends.sum::<usize>() + 1
        }
        _ => 1,
    };
    section.blocks.iter().map(count).sum()
}

/// Returns the call with its output cut to the size limit, and the bytes left
/// out.
fn shortened(tool: &Tool) -> (Cow<'_, Tool>, usize) {
    let Some(result) = &tool.result else {
        return (Cow::Borrowed(tool), 0);
    };
    let output = result.output.as_str();
    let (head, left_out) = bounded(&output);
    if left_out == 0 {
        return (Cow::Borrowed(tool), 0);
    }
    let head = Payload::from(head.to_owned());
    let mut tool = tool.clone();
    if let Some(result) = &mut tool.result {
        result.output = head;
    }
    (Cow::Owned(tool), left_out)
}

/// Moves a long or multi-line command from the heading to a section.
fn command(panel: &mut Panel, detail: &Detail) {
    let text: String = panel
        .heading
        .get(1)
        .map_or_else(String::new, |span| span.text.trim().to_owned());
    if heading(panel) {
        let (text, left_out) = bounded(&text);
        let section = Section {
            left_out,
            language: "bash".to_owned(),
            ..Section::new(
                "Command",
                vec![Block::Verbatim(source(text, "bash", detail))],
            )
        };
        panel.sections.insert(0, section);
        if let Some(output) = panel.sections.get_mut(1) {
            output.label = "Output";
        }
    }
}

/// Shortens the heading to one line; returns true if something was cut.
fn heading(panel: &mut Panel) -> bool {
    let mut room = LONGEST_HEADING;
    let mut is_cut = false;
    for span in &mut panel.heading {
        let line = span.text.split('\n').next().unwrap_or_default();
        let text: String = line.chars().take(room).collect();
        room -= text.chars().count();
        if text.len() < span.text.len() {
            is_cut |= !std::mem::replace(&mut span.text, text).is_empty();
        }
    }
    panel.heading.retain(|span| !span.text.is_empty());
    if is_cut && let Some(last) = panel.heading.last_mut() {
        last.text.push('…');
    }
    is_cut
}

/// Shows the task of a sub-agent and its answer.
fn delegated(tool: &Tool, panel: &mut Panel, detail: &Detail) {
    let is_failed = tool
        .result
        .as_ref()
        .is_some_and(|result| result.status != ToolStatus::Ok);
    heading(panel);
    let mut sections = Vec::new();
    let json = tool.call.input.as_ref().map(|input| input.json().object());
    let field = |name: &str| json.as_ref().and_then(|fields| fields.get(name).str());
    let task = ["prompt", "message", "instructions"]
        .into_iter()
        .find_map(field);
    if let Some(task) = task.filter(|task| !task.trim().is_empty()) {
        sections.push(Section {
            folded: true,
            ..Section::markdown("Task", &task, detail.highlight)
        });
    } else {
        sections.extend(input(tool, detail));
    }
    let is_json = |result: &ToolResult| {
        Json::parse(result.output.as_str().trim()).is_some_and(Json::is_object)
    };
    if is_failed || tool.result.as_ref().is_some_and(is_json) {
        sections.append(&mut panel.sections);
    } else if let Some(result) = &tool.result {
        let output = result.output.as_str();
        let answer = Section::markdown("Answer", tool::answer_of(&output), detail.highlight);
        sections.extend(Some(answer).filter(|answer| !answer.blocks.is_empty()));
    }
    panel.sections = sections;
}

/// Returns the input, unless it is a single field that the heading already
/// shows.
fn input(tool: &Tool, detail: &Detail) -> Option<Section> {
    let input = tool.call.input.as_ref()?;
    let json = input.json();
    let encoded = json.str();
    let decoded = encoded.as_deref().and_then(Json::parse);
    let is_known = matches!(
        tool.call.category,
        Category::Read | Category::List | Category::Search | Category::Fetch | Category::Execute
    );
    let fields = decoded.unwrap_or(json).object().iter().count();
    if fields == 0 && encoded.is_none() || is_known && fields == 1 {
        return None;
    }
    let raw = decoded.map_or(input.get(), Json::raw);
    let text = match encoded.as_deref().filter(|_| decoded.is_none()) {
        Some(text) => Cow::Borrowed(text),
        None => tool::pretty(raw),
    };
    let (text, left_out) = bounded(&text);
    let lines = source(text, "json", detail);
    Some(Section {
        left_out,
        folded: true,
        language: "json".to_owned(),
        ..Section::new("Input", vec![Block::Verbatim(lines)])
    })
}

/// Returns the output, unless the terminal rendering already contains it.
fn output(tool: &Tool, shown: &[Section], detail: &Detail) -> Option<Section> {
    let result = tool.result.as_ref()?;
    if result.status != ToolStatus::Ok || result.output.is_empty() {
        return None;
    }
    let output = result.output.as_str();
    let first = output
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())?;
    if shows_output(tool.call.category) && shown.iter().any(is_output)
        || shown.iter().any(|section| starts_with_line(section, first))
    {
        return None;
    }
    let changed = shown.iter().any(has_change);
    let path = (tool.call.category == Category::Read).then(|| path_of(tool));
    let listing = path.as_deref();
    let listing = listing.and_then(|path| listing_of(&output, path, detail));
    let pretty = tool::pretty(&output);
    let language = match (&path, &pretty) {
        (Some(path), _) => code::language_of_path(path),
        (None, Cow::Owned(_)) => "json".to_owned(),
        (None, Cow::Borrowed(_)) => String::new(),
    };
    let section = match listing {
        Some(lines) => Section::new("", vec![Block::Diff(lines)]),
        None => Section::verbatim("", &pretty),
    };
    Some(Section {
        language,
        label: if changed { "Result" } else { "" },
        folded: changed,
        ..section
    })
}

/// Returns the path of a call in full, if the input has it.
fn path_of(tool: &Tool) -> String {
    let names = ["file_path", "filePath", "path", "absolute_path"];
    let json = tool.call.input.as_ref().map(|input| input.json().object());
    let field = |name: &&str| json.as_ref()?.get(name).str().map(Cow::into_owned);
    let path = names.iter().find_map(field);
    path.unwrap_or_else(|| tool.call.arg.clone())
}

/// Returns true if terminals show the output of calls in this category.
fn shows_output(category: Category) -> bool {
    matches!(
        category,
        Category::Execute | Category::Task | Category::Plan | Category::Think | Category::Other
    )
}

fn is_output(section: &Section) -> bool {
    matches!(section.label, "" | "Output" | "Answer")
}

/// Returns true if the section starts with this line.
fn starts_with_line(section: &Section, line: &str) -> bool {
    let spans = match section.blocks.first() {
        Some(Block::Paragraph(spans)) => Some(spans),
        Some(Block::Verbatim(lines) | Block::Output(lines) | Block::Code { lines, .. }) => {
            lines.first()
        }
        _ => None,
    };
    spans.is_some_and(|spans| {
        let text: String = spans.iter().map(|span| span.text.as_str()).collect();
        text.trim_start().starts_with(sanitize::line(line).as_ref())
    })
}

/// Converts output with line numbers to a numbered, highlighted listing.
fn listing_of(output: &str, path: &str, detail: &Detail) -> Option<Vec<DiffLine>> {
    let numbered = |line: &'_ str| -> Option<(u64, String)> {
        let (number, text) = line.split_once(['→', '\t'])?;
        Some((
            number.trim().parse().ok()?,
            sanitize::line(text).into_owned(),
        ))
    };
    let lines: Vec<(u64, String)> = output
        .trim_end_matches('\n')
        .lines()
        .map_while(numbered)
        .collect();
    let first = lines.first()?.0;
    let counts = lines
        .iter()
        .zip(first..)
        .all(|((number, _), next)| *number == next);
    if !counts || lines.len() < output.trim_end_matches('\n').lines().count() {
        return None;
    }
    let language = path.rsplit('.').next().unwrap_or_default();
    let mut highlighter = if detail.highlight {
        code::Highlighter::new(language)
    } else {
        code::Highlighter::off()
    };
    let line = |(number, text): (u64, String)| DiffLine::Line {
        number: Some(number),
        old: None,
        sign: Sign::Context,
        spans: highlighter.line(&text),
    };
    Some(lines.into_iter().map(line).collect())
}

/// Splits source code into highlighted lines.
fn source(text: &str, language: &str, detail: &Detail) -> Vec<Line> {
    let text = sanitize::text(text);
    if detail.highlight {
        return code::lines(&text, language);
    }
    let plain = |line: &str| vec![Span::new(line, Style::default())];
    text.lines().map(plain).collect()
}
