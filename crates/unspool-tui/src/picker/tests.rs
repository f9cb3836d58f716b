//! Keys and frames of the picker, without a terminal.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};
use unspool::doc::Role;
use unspool::doc::Style;
use unspool::theme::Rgb;

use super::*;

const COLUMNS: [Column; 3] = [
    Column::new("AGENT"),
    Column::new("PROJECT").dispensable(1).keeping_end(12),
    Column::new("TITLE"),
];

fn row(cells: [&str; 3], id: &str) -> Row {
    Row {
        cells: cells
            .map(|text| Span::clean(text, Style::default()))
            .to_vec(),
        hidden: vec![id.to_owned()],
    }
}

fn small() -> Picker {
    let rows = vec![
        row(["claude", "~/shop", "Fix the flaky test"], "4f2a9c"),
        row(["codex", "~/work/long/api", "漢字 in the parser"], "77aa01"),
        row(["qwen", "~/notes", "Wipe \u{1b}[2J\u{202e} it"], "beef00"),
    ];
    Picker::new(&COLUMNS, rows)
}

fn many(count: usize) -> Picker {
    let title = |number: usize| format!("Session number {number}");
    let rows = (0..count).map(|number| row(["claude", "~/shop", &title(number)], ""));
    Picker::new(&COLUMNS, rows.collect())
}

fn detail(row: usize) -> Detail {
    Detail {
        heading: Span::role(format!("Heading of row {row}"), Role::Normal),
        text: vec![Span::role(
            "What it is about, in a few words.",
            Role::Normal,
        )],
        facts: vec![
            ("project", vec![Span::role("/home/me/shop", Role::Normal)]),
            ("cost", vec![Span::role("$0.12", Role::Normal)]),
        ],
    }
}

fn press(picker: &mut Picker, code: KeyCode, modifiers: KeyModifiers) -> Reaction {
    picker.event(&Event::Key(KeyEvent::new(code, modifiers)))
}

fn key(picker: &mut Picker, code: KeyCode) -> Reaction {
    press(picker, code, KeyModifiers::NONE)
}

fn control(picker: &mut Picker, character: char) -> Reaction {
    press(picker, KeyCode::Char(character), KeyModifiers::CONTROL)
}

fn type_text(picker: &mut Picker, text: &str) {
    for character in text.chars() {
        assert_eq!(key(picker, KeyCode::Char(character)), Reaction::Stay);
    }
}

fn painted(picker: &mut Picker, size: (u16, u16), theme: &Theme) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let frame = terminal
        .draw(|frame| draw::draw(frame, picker, theme, &detail))
        .unwrap();
    frame.buffer.clone()
}

/// Returns the text of a frame.
fn shown(picker: &mut Picker, size: (u16, u16)) -> Vec<String> {
    let buffer = painted(picker, size, &Theme::default());
    let area = buffer.area;
    let text = |y: u16| {
        let mut line = String::new();
        let mut x = 0;
        while x < area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(unspool::layout::width(symbol))
                .unwrap()
                .max(1);
        }
        line.trim_end().to_owned()
    };
    (0..area.height).map(text).collect()
}

#[test]
fn typing_filters_and_enter_chooses() {
    let mut picker = small();
    assert_eq!(picker.found(), [0, 1, 2]);
    type_text(&mut picker, "parser");
    assert_eq!(picker.found(), [1]);
    assert_eq!(key(&mut picker, KeyCode::Enter), Reaction::Choose(1));
    assert_eq!(picker.query(), "parser", "it stays where it was");
    type_text(&mut picker, "xyz");
    assert_eq!(picker.marked(), None);
    assert_eq!(key(&mut picker, KeyCode::Enter), Reaction::Stay);
    control(&mut picker, 'u');
    assert_eq!(picker.found(), [0, 1, 2]);
}

#[test]
fn keys_that_leave() {
    let mut picker = small();
    assert_eq!(key(&mut picker, KeyCode::Esc), Reaction::Leave);
    assert_eq!(control(&mut picker, 'c'), Reaction::Leave);
    type_text(&mut picker, "claudeq");
    assert_eq!(picker.query(), "claudeq");
    assert_eq!(key(&mut picker, KeyCode::Esc), Reaction::Leave);
    assert_eq!(control(&mut picker, 'z'), Reaction::Suspend);
}

#[test]
fn the_query_is_edited_as_in_a_shell() {
    let mut picker = small();
    type_text(&mut picker, "one two");
    control(&mut picker, 'w');
    assert_eq!(picker.query(), "one ");
    control(&mut picker, 'a');
    type_text(&mut picker, "x");
    key(&mut picker, KeyCode::Delete);
    assert_eq!(picker.query(), "xne ");
    key(&mut picker, KeyCode::Backspace);
    control(&mut picker, 'k');
    assert_eq!(picker.query(), "");
    picker.event(&Event::Paste("a\tb\n\u{1b}\u{202e}c".to_owned()));
    assert_eq!(picker.query(), "a b c");
    picker.event(&Event::Paste("x".repeat(100_000)));
    assert_eq!(picker.query().len(), crate::line_input::QUERY_LIMIT);
}

#[test]
fn the_selection_moves_within_the_list() {
    let mut picker = many(50);
    shown(&mut picker, (60, 10));
    for (code, marked) in [
        (KeyCode::Up, 0),
        (KeyCode::Down, 1),
        (KeyCode::PageDown, 8),
        (KeyCode::End, 49),
        (KeyCode::Down, 49),
        (KeyCode::PageUp, 42),
        (KeyCode::Home, 0),
    ] {
        key(&mut picker, code);
        assert_eq!(picker.marked(), Some(marked), "{code:?}");
    }
    control(&mut picker, 'n');
    control(&mut picker, 'n');
    control(&mut picker, 'p');
    assert_eq!(picker.marked(), Some(1));
    type_text(&mut picker, "4");
    assert_eq!(picker.marked(), Some(4), "the best match is marked");
}

#[test]
fn the_mouse_scrolls_and_selects() {
    let mut picker = many(50);
    shown(&mut picker, (60, 10));
    let mut mouse = |kind, row| {
        let event = MouseEvent {
            kind,
            column: 5,
            row,
            modifiers: KeyModifiers::NONE,
        };
        picker.event(&Event::Mouse(event));
        picker.marked()
    };
    assert_eq!(mouse(MouseEventKind::ScrollDown, 0), Some(1));
    assert_eq!(mouse(MouseEventKind::ScrollUp, 0), Some(0));
    let click = MouseEventKind::Down(MouseButton::Left);
    assert_eq!(mouse(click, 4), Some(2));
    assert_eq!(mouse(click, 0), Some(2), "that is not the list");
    assert_eq!(mouse(click, 9), Some(2));
}

#[test]
fn a_small_screen_shows_the_list() {
    let mut picker = small();
    assert_eq!(
        shown(&mut picker, (40, 10)),
        [
            "> type to search",
            "  AGENT   TITLE",
            "▌ claude  Fix the flaky test",
            "  codex   漢字 in the parser",
            r"  qwen    Wipe \x1B[2J\u{202E} it",
            "",
            "",
            "",
            "",
            "Enter show   Esc leave               3/3",
        ]
    );
}

#[test]
fn a_wide_screen_has_details_beside_the_list() {
    let mut picker = small();
    key(&mut picker, KeyCode::Down);
    let lines = shown(&mut picker, (100, 9));
    assert_eq!(
        lines,
        [
            "> type to search",
            "  AGENT   PROJECT       TITLE                                │ Heading of row 1",
            "  claude  ~/shop        Fix the flaky test                   │",
            "▌ codex   …rk/long/api  漢字 in the parser                   │ What it is about, in a few words.",
            r"  qwen    ~/notes       Wipe \x1B[2J\u{202E} it              │",
            "                                                             │ project   /home/me/shop",
            "                                                             │ cost      $0.12",
            "                                                             │",
            "Enter show   Esc leave   Ctrl-O browse   ↑↓ PgUp PgDn move   'word ^start end$ !not search       3/3",
        ]
    );
}

#[test]
fn a_tall_screen_has_details_below_the_list() {
    let mut picker = many(30);
    let lines = shown(&mut picker, (50, 16));
    assert_eq!(lines[8], "─".repeat(50));
    assert_eq!(lines[9], "Heading of row 0");
    assert_eq!(lines[13], "project   /home/me/shop");
    assert!(lines[7].contains("Session number 5"), "{lines:#?}");
}

#[test]
fn any_screen_size_works() {
    for width in [0, 1, 2, 3, 7, 39, 99, 100, 101, 300] {
        for height in [0, 1, 2, 3, 5, 6, 15, 16, 17, 80] {
            let mut picker = many(40);
            key(&mut picker, KeyCode::End);
            painted(&mut picker, (width, height), &Theme::default());
            type_text(
                &mut picker,
                "漢字 a long query that does not fit into most of them",
            );
            painted(&mut picker, (width, height), &Theme::default());
        }
    }
}

#[test]
fn endless_text_is_cut() {
    let endless = "漢".repeat(1_000_000);
    let mut picker = Picker::new(
        &COLUMNS,
        vec![row(["claude", &endless, &endless], &endless)],
    );
    assert!(picker.rows[0].cells[2].text.chars().count() <= LONGEST_CELL);
    assert!(shown(&mut picker, (80, 10))[2].ends_with('…'));
}

/// The selection stays visible after a resize.
#[test]
fn a_resize_keeps_the_selection_visible() {
    let mut picker = many(100);
    key(&mut picker, KeyCode::End);
    for height in [40, 10, 5, 80, 3] {
        let lines = shown(&mut picker, (60, height));
        let marked = lines.iter().find(|line| line.starts_with('▌'));
        assert!(marked.unwrap().contains("number 99"), "{lines:#?}");
    }
}

#[test]
fn the_query_scrolls_with_the_cursor() {
    let mut picker = small();
    type_text(&mut picker, &"漢字abc".repeat(12));
    let lines = shown(&mut picker, (20, 8));
    assert!(
        lines[0].starts_with("> ") && lines[0].ends_with("漢字abc"),
        "{lines:#?}"
    );
    assert_eq!(lines[2], "  nothing matches");
}

#[test]
fn colours_follow_the_theme() {
    let mut picker = small();
    type_text(&mut picker, "flaky");
    for (theme, selected) in [
        (Theme::default(), Color::Indexed(236)),
        (Theme::new(Rgb::BLACK, Rgb::WHITE), Color::Indexed(254)),
    ] {
        let buffer = painted(&mut picker, (60, 8), &theme);
        assert_eq!(buffer[(30, 2)].bg, selected);
        let letter = &buffer[(35, 2)];
        assert_eq!(letter.symbol(), "k");
        let colorful = theme.color(Role::Colorful).map(Color::Indexed);
        assert_eq!(Some(letter.fg), colorful);
    }
    let buffer = painted(&mut picker, (60, 8), &Theme::mono());
    assert!(
        buffer
            .content
            .iter()
            .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
    );
    assert!(buffer[(30, 2)].modifier.contains(Modifier::REVERSED));
    let letter = &buffer[(35, 2)];
    assert_eq!(letter.symbol(), "k");
    assert!(letter.modifier.contains(Modifier::UNDERLINED));
}
