//! Keys, mouse and frames of lists.

use proptest::prelude::*;

use super::*;
use crate::picture::{assert_clean, cells, light, picture};

fn models() -> Choice {
    let item = |(group, name, description): (&str, &str, &str)| Item {
        group: group.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        is_current: name == "Sonnet",
    };
    let items = [
        ("Model", "Opus", "for the hardest work"),
        (
            "Model",
            "Sonnet",
            "for everyday work, and quite a few words to cut",
        ),
        ("Model", "漢字\u{1b}[2J", ""),
        ("Mode", "Plan", "reads, and changes nothing"),
        ("Mode", "Accept edits", "does not ask for edits"),
    ];
    Choice::new("Settings", items.map(item).to_vec())
}

fn seen(choice: &mut Choice, size: (u16, u16), theme: &Theme) -> String {
    picture(size, |frame| choice.draw(frame, frame.area(), theme))
}

fn press(choice: &mut Choice, code: KeyCode) -> Answer {
    choice.key(KeyEvent::new(code, KeyModifiers::NONE))
}

#[test]
fn items_are_grouped_and_the_current_one_is_marked() {
    let mut choice = models();
    insta::assert_snapshot!("choice_40", seen(&mut choice, (40, 10), &light()));
    insta::assert_snapshot!("choice_80", seen(&mut choice, (80, 7), &Theme::mono()));
    assert_eq!(press(&mut choice, KeyCode::Enter), Answer::Chosen(1));
    press(&mut choice, KeyCode::Down);
    press(&mut choice, KeyCode::Down);
    assert_eq!(press(&mut choice, KeyCode::Enter), Answer::Chosen(3));
    assert_eq!(press(&mut choice, KeyCode::Esc), Answer::Left);
}

#[test]
fn typing_searches_names_and_descriptions() {
    let mut choice = models();
    for letter in "edits".chars() {
        assert_eq!(press(&mut choice, KeyCode::Char(letter)), Answer::Changed);
    }
    insta::assert_snapshot!("choice_search", seen(&mut choice, (40, 6), &light()));
    assert_eq!(press(&mut choice, KeyCode::Enter), Answer::Chosen(4));
    press(&mut choice, KeyCode::Char('x'));
    assert_eq!(press(&mut choice, KeyCode::Enter), Answer::Nothing);
    assert!(seen(&mut choice, (40, 6), &light()).contains("nothing matches"));
}

#[test]
fn a_click_selects_and_a_second_one_chooses() {
    let mut choice = models();
    seen(&mut choice, (40, 10), &light());
    let mut click = |row| {
        choice.mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: 5,
            row,
            modifiers: KeyModifiers::NONE,
        })
    };
    assert_eq!(click(2), Answer::Nothing, "that is the name of a group");
    assert_eq!(click(3), Answer::Changed);
    assert_eq!(click(3), Answer::Chosen(0));
    assert_eq!(click(0), Answer::Nothing);
}

proptest! {
    #[test]
    fn any_items_fit_any_size(
        names in prop::collection::vec("(\\PC|\n|\u{1b}){0,40}", 0..20),
        codes in prop::collection::vec(0..8_usize, 0..20),
        wide in 0..60_u16,
        high in 0..14_u16,
    ) {
        let item = |name: &String| Item {
            group: name.chars().take(1).collect(),
            name: name.clone(),
            description: name.clone(),
            is_current: false,
        };
        let mut choice = Choice::new("t", names.iter().map(item).collect());
        let known = [KeyCode::Up, KeyCode::Down, KeyCode::Enter, KeyCode::PageDown,
            KeyCode::PageUp, KeyCode::Char('a'), KeyCode::Backspace, KeyCode::Char('漢')];
        for code in codes {
            if let Answer::Chosen(number) = press(&mut choice, known[code]) {
                prop_assert!(number < names.len());
            }
            let cells = cells((wide, high), |frame| choice.draw(frame, frame.area(), &light()));
            assert_clean(&cells);
        }
    }
}
