//! Honest and hostile requests, and the effect of keys.

use ratatui::crossterm::event::KeyEventKind;
use std::time::Duration;

use proptest::prelude::*;
use unspool::doc::{DiffLine, Sign};

use super::*;
use crate::picture::{assert_clean, cells, light, picture};

fn option(name: &str, kind: Kind) -> Choice {
    Choice {
        name: name.to_owned(),
        kind,
    }
}

fn options() -> Vec<Choice> {
    vec![
        option("Yes", Kind::AllowOnce),
        option(
            "Yes, and do not ask again for cargo in this project",
            Kind::AllowAlways,
        ),
        option("No, and tell it what to do", Kind::RejectOnce),
    ]
}

fn request(blocks: Vec<Block>) -> Permission {
    Permission::new("Run the tests", blocks, options())
}

fn seen(request: &mut Permission, size: (u16, u16), theme: &Theme, now: Instant) -> String {
    picture(size, |frame| request.draw(frame, frame.area(), theme, now))
}

fn press(request: &mut Permission, code: KeyCode, now: Instant) -> Answer {
    request.key(KeyEvent::new(code, KeyModifiers::NONE), now)
}

/// Returns a request after the guard's pause, and the current time.
fn ready(mut request: Permission) -> (Permission, Instant) {
    let start = Instant::now();
    seen(&mut request, (80, 24), &light(), start);
    (request, start + Guard::PAUSE)
}

#[test]
fn a_command_is_shown_in_full() {
    let text = "cargo test --workspace --all-targets && rm -rf target\necho \u{1b}[2Jdone";
    let mut request = request(vec![command(text)]);
    request.set_waiting(2);
    let now = Instant::now();
    insta::assert_snapshot!("permission_40", seen(&mut request, (40, 14), &light(), now));
    insta::assert_snapshot!(
        "permission_80",
        seen(&mut request, (80, 12), &Theme::mono(), now)
    );
}

#[test]
fn a_change_is_shown_with_a_note_about_hidden_rows() {
    let line = |number: u64| DiffLine::Line {
        number: Some(number),
        old: None,
        sign: if number.is_multiple_of(2) {
            Sign::Added
        } else {
            Sign::Removed
        },
        spans: vec![Span::role(format!("line number {number}"), Role::Normal)],
    };
    let diff = Block::Diff((1..40).map(line).collect());
    let (mut request, now) = ready(request(vec![diff]));
    insta::assert_snapshot!(
        "permission_diff",
        seen(&mut request, (40, 12), &Theme::mono(), now)
    );
    press(&mut request, KeyCode::End, now);
    insta::assert_snapshot!(
        "permission_diff_end",
        seen(&mut request, (40, 12), &Theme::mono(), now)
    );
}

#[test]
fn an_unread_request_needs_a_second_key() {
    let lines: Vec<String> = (1..=30)
        .map(|number| format!("echo line number {number}"))
        .collect();
    let (size, theme) = ((40, 12), light());
    let start = Instant::now();
    let mut now = start + Guard::PAUSE;
    let mut request = request(vec![command(&lines.join("\n\n"))]);
    seen(&mut request, size, &theme, start);
    press(&mut request, KeyCode::End, now);
    seen(&mut request, size, &theme, now);
    let Answer::Unread(rows) = press(&mut request, KeyCode::Char('a'), now) else {
        panic!("allowed half read");
    };
    assert!((20..30).contains(&rows), "{rows}");
    // A held or repeated key counts once.
    let mut pressed = |millis, letter| {
        now += Duration::from_millis(millis);
        press(&mut request, KeyCode::Char(letter), now)
    };
    assert_eq!(pressed(30, 'a'), Answer::Nothing);
    // A different option needs a warning of its own.
    assert_eq!(pressed(300, 'A'), Answer::Unread(rows));
    assert_eq!(pressed(300, 'a'), Answer::Unread(rows));
    assert_eq!(pressed(300, 'a'), Answer::Chosen(0));
    assert_eq!(pressed(0, 'r'), Answer::Chosen(2));
    // After everything was visible one key suffices, even after a resize.
    press(&mut request, KeyCode::Home, now);
    for _ in 0..20 {
        seen(&mut request, size, &theme, now);
        press(&mut request, KeyCode::PageDown, now);
    }
    let answer = press(&mut request, KeyCode::Char('a'), now);
    assert_eq!(answer, Answer::Chosen(0));
    seen(&mut request, (30, 8), &theme, now);
    let answer = press(&mut request, KeyCode::Char('a'), now);
    assert_eq!(answer, Answer::Chosen(0));
}

#[test]
fn each_kind_has_its_key() {
    let (mut request, now) = ready(request(Vec::new()));
    for (letter, answer) in [
        ('a', Answer::Chosen(0)),
        ('A', Answer::Chosen(1)),
        ('r', Answer::Chosen(2)),
        ('R', Answer::Nothing),
        ('1', Answer::Chosen(0)),
        ('3', Answer::Chosen(2)),
        ('4', Answer::Nothing),
        ('0', Answer::Nothing),
        ('y', Answer::Nothing),
    ] {
        assert_eq!(
            press(&mut request, KeyCode::Char(letter), now),
            answer,
            "{letter}"
        );
    }
    assert_eq!(press(&mut request, KeyCode::Esc, now), Answer::Cancel);
    let held =
        KeyEvent::new_with_kind(KeyCode::Char('a'), KeyModifiers::NONE, KeyEventKind::Repeat);
    assert_eq!(request.key(held, now), Answer::Nothing);
    let shift = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::SHIFT);
    assert_eq!(request.key(shift, now), Answer::Chosen(1));
    let control = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::CONTROL);
    assert_eq!(request.key(control, now), Answer::Nothing);
}

#[test]
fn an_invisible_request_cannot_be_allowed() {
    let start = Instant::now();
    let now = start + Guard::PAUSE;
    let mut request = request(vec![command("rm -rf /")]);
    // A title alone does not count as visible.
    let text = seen(&mut request, (40, 2), &light(), start);
    assert!(
        text.contains("Run the tests ") && text.contains('⋮'),
        "{text}"
    );
    for letter in ['a', 'A', '1', '2'] {
        let answer = press(&mut request, KeyCode::Char(letter), now);
        assert_eq!(answer, Answer::Unseen, "{letter}");
    }
    assert_eq!(
        press(&mut request, KeyCode::Char('r'), now),
        Answer::Chosen(2)
    );
    assert_eq!(press(&mut request, KeyCode::Esc, now), Answer::Cancel);
    press(&mut request, KeyCode::Down, now);
    assert_eq!(press(&mut request, KeyCode::Enter, now), Answer::Unseen);
    press(&mut request, KeyCode::End, now);
    let text = seen(&mut request, (40, 2), &light(), now);
    assert!(text.contains("rm -rf /"), "{text}");
    assert_eq!(
        press(&mut request, KeyCode::Char('a'), now),
        Answer::Chosen(0)
    );
}

#[test]
fn enter_does_nothing_until_an_option_is_selected() {
    let (mut request, now) = ready(request(Vec::new()));
    assert_eq!(press(&mut request, KeyCode::Enter, now), Answer::Nothing);
    press(&mut request, KeyCode::Up, now);
    assert_eq!(press(&mut request, KeyCode::Enter, now), Answer::Chosen(2));
    press(&mut request, KeyCode::Up, now);
    insta::assert_snapshot!(
        "permission_marked",
        seen(&mut request, (40, 10), &Theme::mono(), now)
    );
    assert_eq!(press(&mut request, KeyCode::Enter, now), Answer::Chosen(1));
}

#[test]
fn keys_typed_ahead_answer_nothing() {
    let mut request = request(Vec::new());
    let start = Instant::now();
    let after = |millis| start + Duration::from_millis(millis);
    assert_eq!(
        press(&mut request, KeyCode::Char('a'), after(9_000)),
        Answer::Nothing
    );
    seen(&mut request, (40, 10), &light(), start);
    for millis in [1, 100, 299, 550, 800] {
        for code in [KeyCode::Char('a'), KeyCode::Enter, KeyCode::Down] {
            assert_eq!(
                press(&mut request, code, after(millis)),
                Answer::Nothing,
                "{millis}"
            );
        }
    }
    assert_eq!(
        press(&mut request, KeyCode::Enter, after(1_200)),
        Answer::Nothing
    );
    assert_eq!(
        press(&mut request, KeyCode::Char('a'), after(1_200)),
        Answer::Chosen(0)
    );
}

#[test]
fn endless_options_are_cut_with_a_note() {
    let many = vec![option("x", Kind::AllowOnce); 100_000];
    let (mut request, now) = ready(Permission::new("t", Vec::new(), many));
    let picture = seen(&mut request, (40, 12), &light(), now);
    assert!(
        picture.contains("99,900 more options are not shown."),
        "{picture}"
    );
}

#[test]
fn names_cannot_hide_the_effect_of_an_option() {
    let evil = vec![
        option("Reject\u{202e}\n\n\u{1b}[2K", Kind::AllowAlways),
        option(&"long ".repeat(1_000), Kind::AllowOnce),
        option("Reject once", Kind::RejectOnce),
        option("?", Kind::Unknown),
    ];
    let title = format!("Harmless\n\u{1b}]0;x\u{7}{}", "x".repeat(200_000));
    let mut request = Permission::new(&title, Vec::new(), evil);
    insta::assert_snapshot!(seen(&mut request, (40, 20), &light(), Instant::now()));
}

proptest! {
    #[test]
    fn any_request_fits_any_size(
        title in "(\\PC|\n|\u{1b}|\u{202e}){0,200}",
        names in prop::collection::vec("(\\PC|\n|\u{1b}){0,80}", 0..12),
        codes in prop::collection::vec(0..8_usize, 0..20),
        wide in 0..60_u16,
        high in 0..20_u16,
    ) {
        let kinds = [Kind::AllowOnce, Kind::RejectOnce, Kind::Unknown];
        let options = names.iter().enumerate().map(|(at, name)| option(name, kinds[at % 3]));
        let mut request = Permission::new(&title, vec![command(&title)], options.collect());
        let now = Instant::now();
        let known = [KeyCode::Up, KeyCode::Down, KeyCode::Enter, KeyCode::PageDown,
            KeyCode::PageUp, KeyCode::End, KeyCode::Home, KeyCode::Char('9')];
        for code in codes {
            let answer = press(&mut request, known[code], now + Guard::PAUSE);
            if let Answer::Chosen(number) = answer {
                prop_assert!(number < names.len());
            }
            let cells = cells((wide, high), |frame| request.draw(frame, frame.area(), &light(), now));
            assert_clean(&cells);
        }
    }
}

#[test]
fn hidden_options_are_mentioned() {
    let text = "cargo test --workspace --all-targets && rm -rf target\necho done\necho again";
    let mut request = request(vec![command(text)]);
    let now = Instant::now();
    // Options that do not fit get one row each.
    let small = seen(&mut request, (40, 8), &Theme::mono(), now);
    for words in ["1 a allow once", "2 A allow always", "3 r reject once", "⋮"] {
        assert!(small.contains(words), "{words}:\n{small}");
    }
    let smallest = seen(&mut request, (40, 6), &Theme::mono(), now);
    assert!(smallest.contains("1 a allow once"), "{smallest}");
    let seen_of = |text: &str| {
        (1..=3)
            .filter(|n| text.contains(&format!("  {n} ")))
            .count()
    };
    let hidden = 3 - seen_of(&smallest);
    assert!(
        hidden > 0 && smallest.contains(&format!("⋮ {hidden} more option")),
        "{smallest}"
    );
    // The selected option is always visible.
    let later = now + Guard::PAUSE;
    press(&mut request, KeyCode::Up, later);
    let marked = seen(&mut request, (40, 6), &Theme::mono(), later);
    assert!(marked.contains("❯ 3 r reject once"), "{marked}");
}
