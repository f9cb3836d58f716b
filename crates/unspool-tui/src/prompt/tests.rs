//! Keys, frames and costs of the prompt.

use proptest::prelude::*;
use ratatui::layout::Margin;

use super::*;
use crate::picture::{assert_clean, cells, light, picture};

fn prompt() -> Prompt {
    let mut prompt = Prompt::new(Path::new("/nonexistent"), || {});
    prompt.set_placeholder("Ask claude");
    prompt.set_commands(
        [
            (
                "compact",
                "Make the context shorter",
                Some("[what to keep]"),
            ),
            ("clear", "Begin again", None),
            (
                "review",
                "Look at\u{1b}[2J a change and say what is wrong with it",
                None,
            ),
        ]
        .map(|(name, description, hint)| Command {
            name: name.to_owned(),
            description: description.to_owned(),
            hint: hint.map(str::to_owned),
        })
        .to_vec(),
    );
    prompt
}

fn press(prompt: &mut Prompt, code: KeyCode) -> Outcome {
    prompt.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn with(prompt: &mut Prompt, code: KeyCode, modifiers: KeyModifiers) -> Outcome {
    prompt.key(KeyEvent::new(code, modifiers))
}

fn control(prompt: &mut Prompt, letter: char) -> Outcome {
    with(prompt, KeyCode::Char(letter), KeyModifiers::CONTROL)
}

fn write(prompt: &mut Prompt, text: &str) {
    for letter in text.chars() {
        press(prompt, KeyCode::Char(letter));
    }
}

fn sent(outcome: Outcome) -> String {
    match outcome {
        Outcome::Send(message) => message.text,
        other => panic!("{other:?}"),
    }
}

/// Renders the prompt at the bottom of a screen.
fn seen(prompt: &mut Prompt, size: (u16, u16), theme: &Theme) -> String {
    picture(size, |frame| place(prompt, frame, theme))
}

fn place(prompt: &mut Prompt, frame: &mut Frame<'_>, theme: &Theme) {
    let screen = frame.area();
    let height = prompt.height(screen).min(screen.height);
    let y = screen.bottom() - height;
    prompt.draw(frame, Rect::new(screen.x, y, screen.width, height), theme);
}

#[test]
fn enter_sends_and_three_keys_insert_a_newline() {
    let mut prompt = prompt();
    assert_eq!(press(&mut prompt, KeyCode::Enter), Outcome::Nothing);
    write(&mut prompt, "one");
    with(&mut prompt, KeyCode::Enter, KeyModifiers::SHIFT);
    write(&mut prompt, "two");
    with(&mut prompt, KeyCode::Enter, KeyModifiers::ALT);
    write(&mut prompt, "three");
    control(&mut prompt, 'j');
    write(&mut prompt, "four");
    assert_eq!(
        sent(press(&mut prompt, KeyCode::Enter)),
        "one\ntwo\nthree\nfour"
    );
    assert!(prompt.is_empty());
}

#[test]
fn unused_keys_are_left_to_the_caller() {
    let mut prompt = prompt();
    for code in [
        KeyCode::Esc,
        KeyCode::PageUp,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::End,
        KeyCode::Tab,
    ] {
        assert_eq!(press(&mut prompt, code), Outcome::Nothing, "{code:?}");
    }
    assert_eq!(control(&mut prompt, 'c'), Outcome::Nothing);
    assert_eq!(
        press(&mut prompt, KeyCode::Char('\u{1b}')),
        Outcome::Nothing
    );
    assert!(prompt.is_empty());
}

#[test]
fn arrows_recall_history() {
    let mut prompt = prompt();
    prompt.set_history(Mode::Message, vec!["old".to_owned()]);
    write(&mut prompt, "first\nline");
    prompt.set_text("");
    write(&mut prompt, "new");
    press(&mut prompt, KeyCode::Enter);
    write(&mut prompt, "draft");
    assert_eq!(press(&mut prompt, KeyCode::Up), Outcome::Changed);
    assert_eq!(prompt.text(), "new");
    press(&mut prompt, KeyCode::Up);
    assert_eq!(prompt.text(), "old");
    assert_eq!(press(&mut prompt, KeyCode::Up), Outcome::Nothing);
    press(&mut prompt, KeyCode::Down);
    press(&mut prompt, KeyCode::Down);
    assert_eq!(prompt.text(), "draft");
    assert_eq!(press(&mut prompt, KeyCode::Down), Outcome::Nothing);
}

#[test]
fn arrows_move_by_row_first() {
    let mut prompt = prompt();
    prompt.set_history(Mode::Message, vec!["old".to_owned()]);
    prompt.set_text("one\ntwo");
    press(&mut prompt, KeyCode::Up);
    write(&mut prompt, "X");
    assert_eq!(prompt.text(), "oneX\ntwo");
    press(&mut prompt, KeyCode::Up);
    assert_eq!(prompt.text(), "old");
}

#[test]
fn an_exclamation_mark_at_the_start_enters_shell_mode() {
    let mut prompt = prompt();
    write(&mut prompt, "!ls!");
    assert_eq!(
        (prompt.mode(), prompt.text().as_str()),
        (Mode::Shell, "ls!")
    );
    assert_eq!(
        press(&mut prompt, KeyCode::Enter),
        Outcome::Shell("ls!".to_owned())
    );
    assert_eq!(prompt.mode(), Mode::Message);
    write(&mut prompt, "!");
    press(&mut prompt, KeyCode::Up);
    assert_eq!(prompt.text(), "ls!", "the shell has its own history");
    control(&mut prompt, 'a');
    press(&mut prompt, KeyCode::Backspace);
    assert_eq!(
        (prompt.mode(), prompt.text().as_str()),
        (Mode::Message, "ls!")
    );
    write(&mut prompt, "a!");
    assert_eq!(prompt.mode(), Mode::Message);
    prompt.set_text("");
    write(&mut prompt, "!");
    prompt.paste("a\u{1b}[A\tb");
    assert_eq!(
        press(&mut prompt, KeyCode::Enter),
        Outcome::Shell("a [A b".to_owned())
    );
}

#[test]
fn a_long_paste_is_a_placeholder_and_sent_in_full() {
    let mut prompt = prompt();
    let long = "0123456789abcdef\n".repeat(61_681);
    write(&mut prompt, "see ");
    prompt.paste(&long);
    write(&mut prompt, " ok");
    insta::assert_snapshot!(seen(&mut prompt, (40, 6), &light()));
    assert_eq!(prompt.text(), format!("see {long} ok"));
    control(&mut prompt, '_');
    control(&mut prompt, '_');
    assert_eq!(prompt.text(), "see ");
    control(&mut prompt, '^');
    assert_eq!(
        sent(press(&mut prompt, KeyCode::Enter)),
        format!("see {long}")
    );
    press(&mut prompt, KeyCode::Up);
    assert_eq!(
        prompt.text(),
        format!("see {long}"),
        "also out of the history"
    );
    press(&mut prompt, KeyCode::Backspace);
    assert!(prompt.is_empty());
}

/// Keys and frames cost as much as the few letters around the placeholder.
#[test]
fn a_paste_of_a_megabyte_costs_no_more_than_its_label() {
    for long in [
        "x".repeat(1 << 20),
        "é\n".repeat(1 << 19),
        "\n".repeat(1 << 20),
    ] {
        let mut prompt = prompt();
        prompt.paste(&long);
        for _ in 0..10 {
            write(&mut prompt, "word ");
            press(&mut prompt, KeyCode::Up);
            press(&mut prompt, KeyCode::Left);
            seen(&mut prompt, (80, 24), &Theme::mono());
        }
        assert!(
            prompt.pasted.measured() < 10_000,
            "{}",
            prompt.pasted.measured()
        );
    }
    let mut prompt = prompt();
    for _ in 0..1000 {
        prompt.paste(&"x ".repeat(1900));
    }
    assert!(
        prompt.editor.text().len() < 50_000,
        "many pastes are blocks too"
    );
}

/// Whatever was cut, undone or kept as a draft before.
#[test]
fn a_sent_placeholder_is_not_reused() {
    let mut prompt = prompt();
    prompt.set_history(Mode::Message, vec!["old".to_owned()]);
    prompt.paste(&"secret".repeat(1000));
    control(&mut prompt, 'u');
    prompt.set_text("");
    prompt.paste(&"other".repeat(1000));
    press(&mut prompt, KeyCode::Up);
    prompt.set_text("");
    for (code, modifiers) in [
        (KeyCode::Char('y'), KeyModifiers::CONTROL),
        (KeyCode::Down, KeyModifiers::NONE),
        (KeyCode::Char('_'), KeyModifiers::CONTROL),
    ] {
        assert_eq!(
            with(&mut prompt, code, modifiers),
            Outcome::Nothing,
            "{code:?}"
        );
    }
    assert_eq!(prompt.text(), "");
}

#[test]
fn commands_are_completed() {
    let mut prompt = prompt();
    write(&mut prompt, "/c");
    insta::assert_snapshot!("commands_40", seen(&mut prompt, (40, 8), &light()));
    insta::assert_snapshot!("commands_80", seen(&mut prompt, (80, 8), &Theme::mono()));
    press(&mut prompt, KeyCode::Enter);
    assert_eq!(prompt.text(), "/compact ");
    insta::assert_snapshot!("command_hint", seen(&mut prompt, (40, 3), &light()));
    assert_eq!(sent(press(&mut prompt, KeyCode::Enter)), "/compact ");
    write(&mut prompt, "/clear");
    assert_eq!(
        sent(press(&mut prompt, KeyCode::Enter)),
        "/clear",
        "there is nothing to complete"
    );
}

#[test]
fn a_list_that_was_closed_stays_closed() {
    let mut prompt = prompt();
    write(&mut prompt, "/r");
    assert!(prompt.is_listing());
    assert_eq!(press(&mut prompt, KeyCode::Esc), Outcome::Changed);
    write(&mut prompt, "e");
    assert!(!prompt.is_listing());
    assert_eq!(press(&mut prompt, KeyCode::Esc), Outcome::Nothing);
    assert_eq!(sent(press(&mut prompt, KeyCode::Enter)), "/re");
    write(&mut prompt, "/r");
    assert!(prompt.is_listing());
    write(&mut prompt, " x");
    assert!(!prompt.is_listing());
    prompt.set_text("/zzz");
    assert!(!prompt.is_listing(), "nothing matches");
}

/// Returns a prompt in a project, once all its files are found.
fn in_project(query: &str) -> (tempfile::TempDir, Prompt) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("src")).unwrap();
    for file in ["src/main.rs", "src/a b.rs", "README.md"] {
        std::fs::write(root.path().join(file), "").unwrap();
    }
    let (sender, woken) = std::sync::mpsc::channel();
    let mut prompt = Prompt::new(root.path(), move || sender.send(()).unwrap_or_default());
    write(&mut prompt, query);
    loop {
        let patience = std::time::Duration::from_secs(20);
        woken.recv_timeout(patience).unwrap();
        assert!(prompt.refresh());
        if !prompt.files.known().is_busy {
            return (root, prompt);
        }
    }
}

#[test]
fn files_are_completed() {
    let (_root, mut prompt) = in_project("look at @main");
    insta::assert_snapshot!("files_40", seen(&mut prompt, (40, 8), &light()));
    press(&mut prompt, KeyCode::Tab);
    assert_eq!(prompt.text(), "look at @src/main.rs ");
    let outcome = press(&mut prompt, KeyCode::Enter);
    let Outcome::Send(message) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(message.mentions.len(), 1);
    assert_eq!(message.mentions[0].path, Path::new("src/main.rs"));
    let (_root, mut prompt) = in_project("@ab");
    press(&mut prompt, KeyCode::Enter);
    assert_eq!(prompt.text(), "@\"src/a b.rs\" ");
    let (_root, mut prompt) = in_project("@src");
    press(&mut prompt, KeyCode::Tab);
    assert_eq!(prompt.text(), "@src/");
    assert!(prompt.is_listing(), "what is in it follows");
}

#[test]
fn it_grows_to_a_third_of_the_screen_and_then_scrolls() {
    let mut prompt = prompt();
    insta::assert_snapshot!("empty", seen(&mut prompt, (40, 3), &light()));
    prompt.set_text("one\ntwo\nthree\nfour\nfive");
    let picture = seen(&mut prompt, (40, 9), &Theme::mono());
    insta::assert_snapshot!("scrolled", picture);
    (0..4).for_each(|_| drop(press(&mut prompt, KeyCode::Up)));
    let picture = seen(&mut prompt, (40, 9), &Theme::mono());
    assert!(
        picture.contains("❯ one") && !picture.contains("four"),
        "{picture}"
    );
}

#[test]
fn the_cursor_is_after_the_typed_text() {
    for (text, column) in [
        ("漢字", 6),
        ("e\u{301}x", 4),
        ("👩‍👩‍👧", 4),
        ("שלום", 6),
        ("\u{202e}", 10),
        ("a\u{200b}", 11),
        ("\t", 6),
    ] {
        let mut prompt = prompt();
        prompt.paste(text);
        let picture = seen(&mut prompt, (40, 3), &light());
        let expected = format!("cursor {column} 2");
        assert!(picture.contains(&expected), "{text:?} {picture}");
    }
}

#[test]
fn a_click_moves_the_cursor() {
    let mut prompt = prompt();
    prompt.set_text("one two\n漢字 x");
    seen(&mut prompt, (40, 9), &light());
    let mut click = |column, row| {
        prompt.mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column,
            row,
            modifiers: KeyModifiers::NONE,
        });
        prompt.editor.cursor()
    };
    assert_eq!(click(5, 7), 3);
    assert_eq!(click(4, 8), 11);
    assert_eq!(click(39, 8), 16);
    assert_eq!(click(0, 7), 0);
    assert_eq!(click(3, 2), 0, "that is not the prompt");
}

#[test]
fn shell_mode_is_visible_without_colours() {
    let mut prompt = prompt();
    write(&mut prompt, "!");
    assert!(seen(&mut prompt, (40, 3), &Theme::mono()).contains("|! shell command"));
    write(&mut prompt, "git log @x /y");
    assert!(seen(&mut prompt, (40, 3), &Theme::mono()).contains("|! git log @x /y"));
}

#[derive(Clone, Debug)]
enum Input {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    Click(u16, u16),
}

fn input() -> impl Strategy<Value = Input> {
    let letters = prop::sample::select(
        "ab /@!\"\n\t漢é👩\u{200d}\u{301}\u{1b}\u{202e}\u{f0000}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let named = prop::sample::select(vec![
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::PageUp,
        KeyCode::F(5),
        KeyCode::Null,
    ]);
    let code = prop_oneof![3 => letters.prop_map(KeyCode::Char), 1 => any::<char>().prop_map(KeyCode::Char),
        1 => "[a-z67_^/]".prop_map(|it| KeyCode::Char(it.chars().next().unwrap())), 4 => named];
    let modifiers = prop::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
    ]);
    prop_oneof![
        8 => (code, modifiers).prop_map(|(code, modifiers)| Input::Key(code, modifiers)),
        1 => prop_oneof![".{0,20}", "(\\PC|\r|\n|\u{1b}){0,60}", Just("long\n".repeat(100))].prop_map(Input::Paste),
        1 => (0..100_u16, 0..30_u16).prop_map(|(x, y)| Input::Click(x, y)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No input panics, reaches the terminal unescaped or is painted outside of
    /// the prompt; the cursor stays inside.
    #[test]
    fn any_input_is_accepted(
        inputs in prop::collection::vec(input(), 0..60),
        wide in 0..50_u16,
        high in 1..12_u16,
    ) {
        let mut prompt = prompt();
        prompt.set_history(Mode::Message, vec!["old\n\u{1b}".to_owned(), "x\n".repeat(50)]);
        for input in inputs {
            match input {
                Input::Key(code, modifiers) => drop(with(&mut prompt, code, modifiers)),
                Input::Paste(text) => drop(prompt.paste(&text)),
                Input::Click(column, row) => drop(prompt.mouse(MouseEvent {
                    kind: MouseEventKind::Down(MouseButton::Left),
                    column,
                    row,
                    modifiers: KeyModifiers::NONE,
                })),
            }
            let text = prompt.editor.text();
            prop_assert!(text.is_char_boundary(prompt.editor.cursor()));
            let buffer = cells((wide, high), |frame| place(&mut prompt, frame, &Theme::mono()));
            assert_clean(&buffer);
        }
        while control(&mut prompt, '_') == Outcome::Changed {}
        let area = Rect::new(3, 3, wide, high);
        let outside = cells((wide + 6, high + 6), |frame| {
            let inner = area.inner(Margin::new(0, 0));
            prompt.draw(frame, inner, &Theme::mono());
        });
        for place in outside.area.positions().filter(|place| place.x < 3) {
            prop_assert_eq!(outside[place].symbol(), " ");
        }
    }
}
