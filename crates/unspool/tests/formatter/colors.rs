//! Colours derived from a configuration.

use serde_json::json;
use unspool::formatter::Config;
use unspool::theme::Rgb;

use crate::events::{CODALOTL, Call, answer, assert_same, line, plain, texts};
use crate::markup::{self, Colors, WHITE_ON_BLACK};

/// Lines with every colour and attribute of the document.
fn lines() -> String {
    let call = Call::new(
        "clarify_public_api",
        &json!({"path": "p", "identifier": "A", "question": "q"}),
    );
    [
        answer("Normal, `accent`."),
        line("assistant_reasoning", "content", "**Italic**"),
        call.succeeded("answer"),
        line("warning", "message", "red."),
    ]
    .join("\n")
}

const EXPECTED: [&str; 5] = [
    "«a •» Normal, «a accent».",
    "«a •» «/ Italic»",
    "«a •» «c* Clarifying» A «a in» p\n  «a └ q»",
    "«g •» «c* Clarified» A «a in» p\n  «a └ answer»",
    "«r •» «r* Warning»«r : red.»",
];

#[track_caller]
fn has_colors(config: Config, colors: &Colors) {
    let marked: Vec<String> = texts(config, CODALOTL, &lines(), 80)
        .iter()
        .map(|text| markup::of(text, colors))
        .collect();
    assert_same(&marked, &EXPECTED);
}

#[test]
fn plain_text_has_no_escape_codes() {
    let config = plain()
        .with_foreground(Rgb(1, 2, 3))
        .with_accent(Rgb(255, 0, 0));
    let shown = texts(config, CODALOTL, &lines(), 80);
    assert_same(&shown, &EXPECTED.map(markup::removed));
    assert!(!shown.concat().contains('\u{1b}'));
}

#[test]
fn the_default_is_white_on_black() {
    has_colors(Config::default(), &WHITE_ON_BLACK);
    let config = Config::default()
        .with_foreground(Rgb(255, 255, 255))
        .with_background(Rgb(0, 0, 0));
    has_colors(config, &WHITE_ON_BLACK);
}

/// The accent is (102, 102, 102), colorful (24, 128, 255).
#[test]
fn black_on_white() {
    let config = Config::default()
        .with_foreground(Rgb(0, 0, 0))
        .with_background(Rgb(255, 255, 255));
    let colors = Colors {
        normal: 16,
        accent: 241,
        colorful: 33,
        ..WHITE_ON_BLACK
    };
    has_colors(config, &colors);
}

/// The accent is (165, 166, 167) and (162, 172, 169).
#[test]
fn tinted_terminals_have_an_accent_between_their_colours() {
    let dark = Config::default()
        .with_foreground(Rgb(248, 248, 242))
        .with_background(Rgb(40, 42, 54));
    let colors = Colors {
        accent: 248,
        ..WHITE_ON_BLACK
    };
    has_colors(dark, &colors);
    let light = Config::default()
        .with_foreground(Rgb(101, 123, 131))
        .with_background(Rgb(253, 246, 227));
    let colors = Colors {
        normal: 66,
        accent: 248,
        colorful: 33,
        ..WHITE_ON_BLACK
    };
    has_colors(light, &colors);
}

#[test]
fn configured_colours_are_used() {
    let config = Config::default()
        .with_accent(Rgb(255, 135, 0))
        .with_colorful(Rgb(200, 100, 255));
    let colors = Colors {
        accent: 208,
        colorful: 171,
        ..WHITE_ON_BLACK
    };
    has_colors(config, &colors);
}

/// The first sixteen look different on every terminal.
#[test]
fn only_palette_entries_from_16_on_are_used() {
    for color in [
        Rgb(0, 0, 0),
        Rgb(205, 0, 0),
        Rgb(127, 127, 127),
        Rgb(92, 92, 255),
    ] {
        let config = Config::default().with_accent(color).with_colorful(color);
        let text = texts(config, CODALOTL, &lines(), 80).concat();
        let entries: Vec<u8> = text
            .split("38;5;")
            .skip(1)
            .filter_map(|rest| rest.split(['m', ';']).next()?.parse().ok())
            .collect();
        assert!(!entries.is_empty() && entries.iter().all(|entry| *entry >= 16));
        assert!(!text.contains("38;2;") && !text.contains("48;"));
    }
}
