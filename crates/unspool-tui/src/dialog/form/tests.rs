//! Forms from honest and hostile agents, and their answers.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::picture::{assert_clean, cells, light, picture};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 10},
            "mail": {"type": "string", "format": "email", "description": "Where to \u{1b}[2Jwrite"},
            "age": {"type": "integer", "minimum": 18, "maximum": 99, "default": 20},
            "news": {"type": "boolean", "default": true},
            "color": {"type": "string", "oneOf": [
                {"const": "r", "title": "Red"}, {"const": "g", "title": "Green", "description": "like grass"}]},
            "days": {"type": "array", "minItems": 1, "maxItems": 2,
                "items": {"type": "string", "enum": ["mon", "tue", "wed"]}, "default": ["tue"]},
        },
        "required": ["name", "color", "days"],
    })
}

/// Returns a form after the guard's pause, and the current time.
fn ready(schema: &Value) -> (Form, Instant) {
    let mut form = Form::new("Please tell me a little\nmore about you.", schema);
    let start = Instant::now();
    seen(&mut form, (80, 24), &light(), start);
    (form, start + Guard::PAUSE)
}

fn seen(form: &mut Form, size: (u16, u16), theme: &Theme, now: Instant) -> String {
    picture(size, |frame| form.draw(frame, frame.area(), theme, now))
}

fn press(form: &mut Form, code: KeyCode, now: Instant) -> Answer {
    form.key(KeyEvent::new(code, KeyModifiers::NONE), now)
}

fn jump(form: &mut Form, now: Instant) -> Answer {
    form.key(
        KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL),
        now,
    )
}

fn write(form: &mut Form, text: &str, now: Instant) {
    for letter in text.chars() {
        press(form, KeyCode::Char(letter), now);
    }
}

/// Types a text into the only field, sends the form and returns the value or
/// error.
fn answer(field: &Value, text: &str) -> Result<Value, String> {
    let schema = json!({"properties": {"x": field}, "required": ["x"]});
    let (mut form, now) = ready(&schema);
    write(&mut form, text, now);
    press(&mut form, KeyCode::Tab, now);
    match press(&mut form, KeyCode::Enter, now) {
        Answer::Accept(mut values) => Ok(values.remove("x").unwrap_or_default()),
        Answer::Changed => Err(form.entries[0].checked().unwrap_err()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_form_is_filled_in_and_sent() {
    let (mut form, now) = ready(&schema());
    insta::assert_snapshot!("form_80", seen(&mut form, (80, 34), &Theme::mono(), now));
    write(&mut form, "A", now);
    press(&mut form, KeyCode::Enter, now);
    form.paste("a@example.org\n");
    jump(&mut form, now);
    press(&mut form, KeyCode::Tab, now);
    press(&mut form, KeyCode::Char(' '), now);
    press(&mut form, KeyCode::Tab, now);
    press(&mut form, KeyCode::Tab, now);
    press(&mut form, KeyCode::Enter, now);
    jump(&mut form, now);
    press(&mut form, KeyCode::Char(' '), now);
    insta::assert_snapshot!("form_40", seen(&mut form, (40, 14), &light(), now));
    jump(&mut form, now);
    assert_eq!(
        press(&mut form, KeyCode::Enter, now),
        Answer::Changed,
        "the name is too short"
    );
    insta::assert_snapshot!("form_wrong", seen(&mut form, (40, 8), &light(), now));
    write(&mut form, "l", now);
    (0..5).for_each(|_| drop(jump(&mut form, now)));
    jump(&mut form, now);
    assert_eq!(form.stop(), Stop::Send);
    let expected = json!({"name": "Al", "mail": "a@example.org", "age": 20, "news": false,
        "color": "g", "days": ["mon", "tue"]});
    let expected = expected.as_object().unwrap().clone();
    assert_eq!(
        press(&mut form, KeyCode::Enter, now),
        Answer::Accept(expected)
    );
    press(&mut form, KeyCode::Tab, now);
    assert_eq!(press(&mut form, KeyCode::Enter, now), Answer::Decline);
    assert_eq!(press(&mut form, KeyCode::Esc, now), Answer::Cancel);
}

#[test]
fn a_long_message_can_be_read() {
    let message = (0..60).map(|number| format!("line {number}\n"));
    let mut form = Form::new(&message.collect::<String>(), &schema());
    let now = Instant::now();
    assert!(seen(&mut form, (40, 12), &light(), now).contains("|line 0 "));
    let now = now + Guard::PAUSE;
    press(&mut form, KeyCode::Tab, now);
    assert!(!seen(&mut form, (40, 12), &light(), now).contains("line 0 "));
    (0..9).for_each(|_| drop(press(&mut form, KeyCode::PageUp, now)));
    insta::assert_snapshot!("form_message", seen(&mut form, (40, 12), &light(), now));
}

#[test]
fn texts_are_checked() {
    for (field, text, expected) in [
        (json!({"type": "string"}), "", Err("is required")),
        (
            json!({"type": "string", "minLength": 3}),
            "漢字",
            Err("at least 3 characters"),
        ),
        (
            json!({"type": "string", "maxLength": 1}),
            "漢字",
            Err("at most 1 character"),
        ),
        (
            json!({"type": "string", "maxLength": 2}),
            "漢字",
            Ok(json!("漢字")),
        ),
        (
            json!({"type": "string", "pattern": "^[0-9]+$"}),
            "1a",
            Err("must match ^[0-9]+$"),
        ),
        (
            json!({"type": "string", "pattern": "(?=x)"}),
            "y",
            Ok(json!("y")),
        ),
        (
            json!({"type": "string", "format": "email"}),
            "a@b@c",
            Err("must be an email address"),
        ),
        (
            json!({"type": "string", "format": "email"}),
            "a@b.c",
            Ok(json!("a@b.c")),
        ),
        (
            json!({"type": "string", "format": "date"}),
            "2026-02-29",
            Err("must be a date such as 2026-01-31"),
        ),
        (
            json!({"type": "string", "format": "date"}),
            "2028-02-29",
            Ok(json!("2028-02-29")),
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            "2026-01-31T12:00:00+01:00",
            Ok(json!("2026-01-31T12:00:00+01:00")),
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            "2026-01-31",
            Err("must be a time such as 2026-01-31T12:00:00Z"),
        ),
        (
            json!({"type": "string", "format": "uri"}),
            "x",
            Err("must be a URL such as https://example.org"),
        ),
        (
            json!({"type": "string", "format": "uri"}),
            "https://x",
            Ok(json!("https://x")),
        ),
        (
            json!({"type": "integer"}),
            "1.5",
            Err("must be a whole number"),
        ),
        (
            json!({"type": "integer", "minimum": 3}),
            "2",
            Err("at least 3"),
        ),
        (
            json!({"type": "integer", "maximum": 3}),
            "-7",
            Ok(json!(-7)),
        ),
        (
            json!({"type": "number", "maximum": 3}),
            "3.5",
            Err("at most 3"),
        ),
        (json!({"type": "number"}), "1e3", Ok(json!(1000.0))),
        (json!({"type": "number"}), "inf", Err("must be a number")),
        (json!({"type": "number"}), "x", Err("must be a number")),
    ] {
        let expected = expected.map_err(str::to_owned);
        assert_eq!(answer(&field, text), expected, "{field} {text}");
    }
}

#[test]
fn keys_typed_ahead_fill_in_nothing() {
    let mut form = Form::new("", &schema());
    let now = Instant::now();
    write(&mut form, "abc", now);
    seen(&mut form, (40, 10), &light(), now);
    write(&mut form, "abc", now);
    let Filled::Text(field) = &form.entries[0].filled else {
        panic!("a text");
    };
    assert_eq!(field.text(), "");
}

#[test]
fn unsupported_fields_are_reported() {
    let odd = json!({"properties": {"deep": {"type": "object"}}, "required": ["deep"]});
    let (mut form, now) = ready(&odd);
    assert_eq!(press(&mut form, KeyCode::Enter, now), Answer::Changed);
    let picture = seen(&mut form, (60, 14), &light(), now);
    assert!(picture.contains("✗ cannot be filled in here"), "{picture}");
    let field = |number: usize| (format!("f{number}"), json!({"type": "string"}));
    let many: Map<String, Value> = (0..1000).map(field).collect();
    let (mut form, now) = ready(&json!({"properties": many}));
    (0..200).for_each(|_| drop(press(&mut form, KeyCode::Tab, now)));
    let picture = seen(&mut form, (60, 14), &light(), now);
    assert!(
        picture.contains("900 more fields cannot be shown"),
        "{picture}"
    );
    press(&mut form, KeyCode::Up, now);
    press(&mut form, KeyCode::Up, now);
    assert_eq!(
        (form.stop(), press(&mut form, KeyCode::Enter, now)),
        (Stop::Send, Answer::Changed)
    );
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "(\\PC|\n|\u{1b}|\u{202e}){0,30}".prop_map(Value::from),
        prop::sample::select(vec!["string", "integer", "number", "boolean", "array"])
            .prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "type",
        "title",
        "enum",
        "oneOf",
        "const",
        "items",
        "minLength",
        "maximum",
        "default",
        "required",
        "properties",
        "pattern",
        "\u{1b}x",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..6).prop_map(|pairs| {
                pairs
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_fits_any_size(
        one in value(),
        two in value(),
        codes in prop::collection::vec(0..8_usize, 0..20),
        wide in 0..50_u16,
        high in 0..14_u16,
    ) {
        let schema = json!({"properties": {"a": one, "b\u{1b}": two.clone()}, "required": ["a", two]});
        let (mut form, now) = ready(&schema);
        let known = [KeyCode::Up, KeyCode::Tab, KeyCode::Enter, KeyCode::PageDown,
            KeyCode::PageUp, KeyCode::Char(' '), KeyCode::Backspace, KeyCode::Char('漢')];
        for code in codes {
            press(&mut form, known[code], now);
            let cells = cells((wide, high), |frame| form.draw(frame, frame.area(), &light(), now));
            assert_clean(&cells);
        }
    }
}

#[test]
fn the_form_shows_its_progress_and_how_to_send_it() {
    let (mut form, now) = ready(&schema());
    let save = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL);
    let text = seen(&mut form, (60, 12), &Theme::mono(), now);
    assert!(text.contains("the agent asks · 3 of 6, 2 to do"), "{text}");
    assert!(text.contains("Ctrl-S send"), "{text}");
    assert_eq!(form.key(save, now), Answer::Changed, "something is missing");
    write(&mut form, "Ada", now);
    let color = form
        .stops
        .iter()
        .position(|stop| *stop == Stop::Field(4, 1))
        .unwrap();
    form.go(color);
    press(&mut form, KeyCode::Char(' '), now);
    let text = seen(&mut form, (40, 12), &Theme::mono(), now);
    assert!(text.contains("the agent asks · 5 of 6 filled in"), "{text}");
    assert!(text.contains("Ctrl-S send"), "{text}");
    assert!(matches!(form.key(save, now), Answer::Accept(values) if values["name"] == "Ada"));
    // Nothing is sent before the form was visible.
    let mut form = Form::new("", &json!({"properties": {}}));
    assert_eq!(form.key(save, now), Answer::Nothing);
}
