//! Messages of the model and the agent: answers, reasoning, errors.

use unspool::formatter::Config;

use crate::events::{CODALOTL, OWN, answer, line, plain, reasoning, shows, shows_line, texts};

const LONG: &str = "I'll explain that Codex uses the full pulldown-cmark Markdown parser combined with targeted regex rewriting for specific citation patterns like 【F:...】, which get converted into clickable links. Inline code marked by backticks is only styled as dim text, not linkified, and the linking mechanics rely on actual Markdown links or those citations rather than scanning inline code for paths. I'll reference key code locations that handle these steps for clarity.";

#[test]
fn assistant_text_has_a_bullet_and_a_hanging_indent() {
    shows(
        CODALOTL,
        &answer(LONG),
        119,
        &["\
«a •» I'll explain that Codex uses the full pulldown-cmark Markdown parser combined with targeted regex rewriting for
  specific citation patterns like 【F:...】, which get converted into clickable links. Inline code marked by backticks
  is only styled as dim text, not linkified, and the linking mechanics rely on actual Markdown links or those citations
  rather than scanning inline code for paths. I'll reference key code locations that handle these steps for clarity."],
    );
    for width in [0, 30] {
        shows(CODALOTL, &answer(LONG), width, &[&format!("«a •» {LONG}")]);
    }
}

#[test]
fn markdown_bullets_are_hyphens_and_code_has_no_backticks() {
    let text = "\
- Codex streams every assistant delta through `MarkdownStreamCollector`, which flushes complete lines only after a newline and renders them by calling `append_markdown` (`codex-rs/tui/src/markdown_stream.rs:38-86`, `codex-rs/tui/src/markdown.rs:32-60`).
- `append_markdown` delegates to `render_markdown_text_with_citations`, which runs the text through `pulldown_cmark::Parser` with the usual CommonMark options, so the UI is backed by a full Markdown parser rather than ad‑hoc regexes (`codex-rs/tui/src/markdown_render.rs:21-118`).";
    shows_line(
        &answer(text),
        "\
«a •» - Codex streams every assistant delta through «a MarkdownStreamCollector», which flushes complete lines only after a
    newline and renders them by calling «a append_markdown» («a codex-rs/tui/src/markdown_stream.rs:38-86», «a codex-rs/tui/src/»
    «a markdown.rs:32-60»).
  - «a append_markdown» delegates to «a render_markdown_text_with_citations», which runs the text through «a pulldown_cmark::Parser»
    with the usual CommonMark options, so the UI is backed by a full Markdown parser rather than ad‑hoc regexes («a codex-»
    «a rs/tui/src/markdown_render.rs:21-118»).",
    );
}

#[test]
fn backticks_of_every_length_are_dropped() {
    shows_line(
        &answer("Run `go test`, not ``a ` b``; `a` `b`."),
        "«a •» Run «a go test», not «a a ` b»; «a a b».",
    );
    shows_line(&answer("One ` alone stays."), "«a •» One ` alone stays.");
}

const TITLED: &str = "**Answering a simple question**

I'm looking at a straightforward question: the capital of France is Paris. It's a well-known fact, and I want to keep it brief and to the point. Paris is known for its history, art, and culture, so it might be nice to add just a hint of that charm. But mostly, I'll aim to focus on delivering a clear and direct answer, ensuring the user gets what they're looking for without any extra fluff.";

#[test]
fn reasoning_with_a_title_shows_it_in_italics() {
    for text in [
        TITLED,
        "**Answering a simple question**",
        "**Answering a simple question**\n",
    ] {
        shows_line(&reasoning(text), "«a •» «/ Answering a simple question»");
    }
}

#[test]
fn reasoning_without_a_title_shows_all_of_it_in_italics() {
    shows_line(
        &reasoning("No title, `code`.\n\n- a **b**\n- c"),
        "\
«a •» «/ No title,» «a/ code»«/ .»

  «/ - a» «*/ b»
  «/ - c»",
    );
    shows_line(
        &reasoning("**Bold** words begin it."),
        "«a •» «*/ Bold» «/ words begin it.»",
    );
}

#[test]
fn errors_warnings_and_cancellations_are_red() {
    for (kind, word, text) in [
        ("error", "Error", "some error has occurred."),
        ("warning", "Warning", "some warning has occurred."),
        ("canceled", "Canceled", "deadline exceeded."),
    ] {
        shows_line(
            &line(kind, "message", text),
            &format!("«r •» «r* {word}»«r : {text}»"),
        );
    }
}

#[test]
fn long_errors_have_a_hanging_indent() {
    shows(
        CODALOTL,
        &line(
            "error",
            "message",
            "the quick brown fox jumps over\nthe dog.",
        ),
        34,
        &["\
«r •» «r* Error»«r : the quick brown fox jumps»
  «r over»
  «r the dog.»"],
    );
}

#[test]
fn retries_have_a_colorful_bullet() {
    shows_line(
        &line("retry", "message", "again in 2s."),
        "«c •» «r* Retry»«r : again in 2s.»",
    );
}

#[test]
fn the_end_of_a_turn_is_shown_only_if_it_failed() {
    let mut formatter = unspool::formatter::Formatter::new(crate::events::plain());
    for (status, expected) in [
        ("completed", ""),
        ("failed", "• Error: the turn failed."),
        ("canceled", "• Canceled: the turn was stopped."),
        (
            "interrupted",
            "• Interrupted: the stream ended before the agent finished.",
        ),
    ] {
        let end = format!(r#"{{"kind":"turn_end","status":"{status}"}}"#);
        let end = unspool::Event::from_json(&end).expect("an event");
        assert_eq!(formatter.format_event(&end, 80), expected);
    }
}

#[test]
fn user_messages_have_their_own_bullet() {
    let line = r#"{"kind":"user","seq":0,"text":"Fix the test"}"#;
    shows(OWN, line, 80, &["«c ›» Fix the test"]);
}

#[test]
fn marks_replace_styles() {
    let mut config = crate::events::plain();
    config.detail.marks = true;
    let shown = |line: &str| crate::events::texts(config.clone(), OWN, line, 80).concat();
    let thought = r#"{"kind":"reasoning","id":"r","text":"Hm."}"#;
    assert_eq!(shown(thought), "◦ Hm.");
    let titled = r#"{"kind":"reasoning","id":"r","text":"**Hm**"}"#;
    assert_eq!(shown(titled), "◦ Hm");
    let struck = r#"{"kind":"text","id":"t","text":"~~no~~ yes\n\n|a|\n|-|\n|~~b~~|"}"#;
    assert_eq!(shown(struck), "• ~~no~~ yes\n\n  a\n  ─────\n  ~~b~~");
    let plan = r#"{"kind":"plan","entries":[{"text":"a","status":"completed"},{"text":"b","status":"in_progress"},{"text":"c","status":"pending"},{"text":"d","status":"canceled"}]}"#;
    let steps = "• Update Plan\n  └ ✔ a\n    ▸ b\n    □ c\n    ✗ d";
    assert_eq!(shown(plan), steps);
}

#[test]
fn reasoning_with_several_titles_shows_them_all() {
    let thought =
        r#"{"kind":"reasoning","id":"r","text":"**One**\n\nIt is so.\n**Two**\n\nIt is not."}"#;
    let mut config = crate::events::plain();
    let shown = |config| crate::events::texts(config, OWN, thought, 80).concat();
    assert_eq!(shown(config.clone()), "• One\n• Two");
    config.detail.reasoning = unspool::doc::entry::Reasoning::Full;
    assert_eq!(
        shown(config),
        "• One\n\n  It is so.\n\n  Two\n\n  It is not."
    );
}

#[test]
fn read_only_calls_have_a_body_if_everything_is_shown() {
    let mut config = crate::events::plain();
    config.detail.everything = true;
    let shown = |lines: &str| crate::events::texts(config.clone(), OWN, lines, 80).concat();
    for (category, heading) in [
        ("read", "Read"),
        ("list", "List"),
        ("search", "Search"),
        ("fetch", "Fetch"),
    ] {
        let call = format!(
            r#"{{"kind":"tool_use","id":"c","name":"n","category":"{category}","arg":"a"}}
{{"kind":"tool_result","id":"c","status":"ok","output":"one\ntwo"}}"#
        );
        // The running call, then its result.
        let done = format!("• {heading} a\n  └ one\n    two");
        assert_eq!(shown(&call), format!("• {heading} a{done}"));
    }
    let context = r#"{"kind":"context","name":"system","text":"You are\nan agent."}"#;
    assert_eq!(
        shown(context),
        "• Context system\n  └ You are\n    an agent."
    );
}

#[test]
fn preformatted_text_keeps_its_lines() {
    let line =
        r#"{"kind":"text","id":"t","text":"total 2\n-rw  a*b*\n\n   c\n","preformatted":true}"#;
    shows(OWN, line, 80, &["«a •» total 2\n  -rw  a*b*\n\n     c"]);
}

#[test]
fn an_answered_question_is_shown_once_with_its_answer() {
    let asked = r#"{"kind":"prompt","question":"Commit it?","options":["Yes","No"]}"#;
    shows(OWN, asked, 80, &["«a •» «c* Commit it?» «a (Yes/No)»"]);
    let answered =
        r#"{"kind":"prompt","question":"Commit it?","options":["Yes","No"],"answer":"y"}"#;
    shows(OWN, answered, 80, &["«a •» «c* Commit it?» y"]);
}

#[test]
fn reasoning_is_all_in_italics_with_the_markers_of_its_lists() {
    let line = reasoning("- one\n  1. two\n- [x] three");
    let text = texts(Config::default(), CODALOTL, &line, 80).pop().unwrap();
    for marker in ["- ", "1. "] {
        let before = text.split(marker).next().unwrap();
        let code = before.rsplit("\u{1b}[").next().unwrap();
        let is_italic = code.split(['m', ';']).any(|part| part == "3");
        assert!(is_italic, "{marker} in {text:?}");
    }
    let answer = texts(Config::default(), CODALOTL, &answer("- one"), 80);
    assert!(
        !answer[0].contains("\u{1b}[3m") && !answer[0].contains("3;"),
        "{answer:?}"
    );
}

#[test]
fn unwrapped_messages_are_not_indented() {
    let text = "One.\n\nTwo.\n\n- a\n  - b";
    let shown = texts(plain(), CODALOTL, &answer(text), 0);
    assert_eq!(shown, ["• One.\n\nTwo.\n\n- a\n  - b"]);
    let wrapped = texts(plain(), CODALOTL, &answer(text), 31);
    assert_eq!(wrapped, ["• One.\n\n  Two.\n\n  - a\n    - b"]);
}
