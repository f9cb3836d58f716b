//! Tests of secrets behind colours and encodings, and of values that are known
//! from elsewhere.

use super::*;

const TOKEN: &str = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6";

#[test]
fn colours_do_not_hide_a_secret_and_stay() {
    let (head, tail) = TOKEN.split_at(7);
    for (text, expected) in [
        (
            format!("\u{1b}[31m{head}\u{1b}[0m{tail} x"),
            "\u{1b}[31m[GitHub token 1]\u{1b}[0m x",
        ),
        (
            "\u{1b}[36mDB_PASSWORD\u{1b}[0m=\u{1b}[33mhunter2\u{1b}[0m".to_owned(),
            "\u{1b}[36mDB_PASSWORD\u{1b}[0m=\u{1b}[33m[password 1]\u{1b}[0m",
        ),
        (
            "\u{1b}[1;34m\"password\"\u{1b}[0m: \u{1b}[32m\"sunshine\"\u{1b}[0m".to_owned(),
            "\u{1b}[1;34m\"password\"\u{1b}[0m: \u{1b}[32m\"[password 1]\"\u{1b}[0m",
        ),
        (
            "\u{1b}]8;;https://bob:sunshine@host/\u{1b}\\here\u{1b}]8;;\u{1b}\\".to_owned(),
            "\u{1b}]8;;https://bob:[password 1]@host/\u{1b}\\here\u{1b}]8;;\u{1b}\\",
        ),
    ] {
        assert_eq!(redacted(&text), expected);
    }
}

#[test]
fn secrets_in_encoded_text_are_replaced_and_it_stays_valid() {
    let inner =
        r#"{"command":"export DB_PASSWORD=\"hunter2\"\nghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6"}"#;
    let mut text = inner.to_owned();
    let mut expected = inner
        .replace("hunter2", "[password 1]")
        .replace(TOKEN, "[GitHub token 1]");
    for _ in 0..3 {
        assert_eq!(redacted(&text), expected);
        text = format!("{{\"a\":{}}}", serde_json::to_string(&text).unwrap());
        expected = format!("{{\"a\":{}}}", serde_json::to_string(&expected).unwrap());
    }
    assert_eq!(
        redacted("next=https%3A%2F%2Fbob%3Asunshine%40host%2Fx"),
        "next=https%3A%2F%2Fbob%3A[password 1]%40host%2Fx"
    );
    // {"auths":{"r.io":{"password":"hunter22"}}}
    assert_eq!(
        redacted("x eyJhdXRocyI6eyJyLmlvIjp7InBhc3N3b3JkIjoiaHVudGVyMjIifX19 y"),
        "x [password 1] y"
    );
}

fn said(text: &str) -> Event {
    event(Body::User(User {
        text: Payload::from(text.to_owned()),
        ..User::default()
    }))
}

fn text_of(event: &Event) -> String {
    let Body::User(user) = &event.body else {
        unreachable!()
    };
    user.text.to_string()
}

#[test]
fn a_value_learned_in_one_event_is_replaced_in_all() {
    let texts = [
        "I typed Sunsh1ne! before",
        "DB_PASSWORD=Sunsh1ne! and password: \"test\"",
        "then Sunsh1ne!, U3Vuc2gxbmUh, Sunsh1ne%21 and a test",
    ];
    let mut events: Vec<Event> = texts.iter().map(|text| said(text)).collect();
    let mut redactor = Redactor::new();
    for event in &mut events {
        redactor.event(event);
    }
    for event in &mut events {
        redactor.second_pass(event);
    }
    assert_eq!(text_of(&events[0]), "I typed [password 1] before");
    assert_eq!(
        text_of(&events[2]),
        "then [password 1], [password 1], [password 1] and a test"
    );
}

#[test]
fn a_known_value_inside_of_a_word_is_kept() {
    let mut redactor = Redactor::new();
    redactor.text("PASSWORD=hunter2");
    let mut event = said("hunter2 hunter22 xhunter2");
    redactor.second_pass(&mut event);
    assert_eq!(text_of(&event), "[password 1] hunter22 xhunter2");
}
