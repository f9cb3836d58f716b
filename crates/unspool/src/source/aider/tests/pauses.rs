//! Questions that wait: the input pauses inside a line.

use super::*;

const CALL: &str = "Tool Call: local_tools • View\nArguments: {\"file_path\": \"a\"}\n";
const TOOLS: &str = "Run tools? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: ";

/// Reads pieces with a pause after each; returns the events of each, and of the end.
fn paused(pieces: &[&str]) -> Vec<Vec<Event>> {
    let mut reader = Reader::new();
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece.as_bytes());
        reader.release();
        events.push(reader.events().collect());
    }
    reader.finish();
    events.push(reader.events().collect());
    events
}

#[test]
fn a_question_comes_in_the_pause_and_its_answer_later() {
    let events = paused(&[&format!("{CALL}{TOOLS}"), "y\n📎 Viewed 'a'\n"]);
    assert_eq!(kinds(&events[0]), ["session", "tool_use", "prompt"]);
    assert_eq!(kinds(&events[1])[0], "prompt");
    let answer = |event: &Event| match &event.body {
        Body::Prompt(prompt) => prompt.answer.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (answer(&events[0][2]), answer(&events[1][0])),
        (String::new(), "y".into())
    );
}

#[test]
fn a_pause_changes_no_other_event() {
    let second =
        "Allow execution of this command? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: ";
    let edit = "a.py\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n";
    let counts = "\nTokens: 1k sent, 900 received.\n\n";
    let banner = "Aider-CE v0.88.40\nMain model: m with agent edit format\n\nagent> ";
    for pieces in [
        &[
            &format!("{CALL}{TOOLS}"),
            second,
            "⚙️ Executing non-interactive shell command: ls\n",
        ][..],
        &[
            "The plan.\n\nEdit the files? (Y)es/(N)o [Yes]: ",
            edit,
            counts,
            "Applied edit to a.py\n",
        ],
        &[
            edit,
            counts,
            "b.py\nCreate new file? (Y)es/(N)o [Yes]: ",
            "Applied edit to b.py\n",
        ],
        &[
            banner,
            "Processing...\nHi.\n",
            counts,
            "agent> ",
            "Processing...\nBye.\n",
            counts,
            "agent> ",
        ],
        &[
            "cecli v1.10.0\nSettings       ask (edit format)\n\nask> ",
            "Hi.\n\n1k ◇ 0.0% ↑ 9 ↓ 1k ◇ 0.0% ↑↓\n\n\nask> ",
            "\nBye.\n",
        ],
        &[
            "Aider v0.86.2\nMain model: m with diff edit format\n\n> ",
            "\n\nlib/b.py\nAdd file to the chat? (Y)es/(N)o [Yes]: ",
            "Fine.\n",
            counts,
            "> ",
        ],
    ] {
        let whole = kinds(&read(&pieces.concat()));
        let paused = paused(pieces).concat();
        assert_eq!(kinds(&paused), whole, "{pieces:?}");
        let text = |events: &[Event]| said(events).join("\n");
        assert_eq!(text(&paused), text(&read(&pieces.concat())));
    }
}

#[test]
fn a_question_waits_on_a_terminal_below_a_spinner() {
    let call = CALL.replace('\n', "\r\n");
    let spinner = "\x1b[32m⣾\x1b[0m Awaiting Confirmation...\r\x1b[2K";
    let question =
        format!("{TOOLS}\r\n\x1b[?25l{spinner}{spinner}\x1b[32m⣾\x1b[0m Awaiting Confirmation...");
    let events = paused(&[&format!("{call}{question}"), spinner, "y\r\nDone.\r\n"]);
    assert_eq!(kinds(&events[0]), ["session", "tool_use", "prompt"]);
    assert!(events[1].is_empty());
    let all = events.concat();
    let prompts = all.iter().filter_map(|event| match &event.body {
        Body::Prompt(prompt) => Some(prompt.answer.as_str()),
        _ => None,
    });
    assert_eq!(prompts.collect::<Vec<_>>(), ["", "y"]);
    assert_eq!(said(&all), ["Done."]);
    // The terminal echoes the answer on the question's own line.
    let events = paused(&[&format!("{call}{TOOLS}"), "y\r\nDone.\r\n"]);
    assert_eq!(kinds(&events[0]), ["session", "tool_use", "prompt"]);
    assert_eq!(said(&events.concat()), ["Done."]);
}

#[test]
fn words_are_not_read_before_their_line_ends() {
    for open in [
        "Shall I? (",
        "Run tools? (Y)es/(N)o [Ye",
        "Tool Call: local",
        "> quoted",
    ] {
        let events = paused(&[&format!("{CALL}{TOOLS}\nSome words.\n{open}"), "\n"]);
        assert_eq!(
            kinds(&events[0]),
            ["session", "tool_use", "prompt"],
            "{open}"
        );
    }
}
