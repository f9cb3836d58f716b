//! Reads the fields of a form from a JSON schema.
//!
//! Supported is what the protocol allows: an object of strings, numbers, booleans
//! and single or multiple choices. Anything else becomes a field that cannot be
//! filled in. All sizes are limited.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::super::permission::short;

/// Maximum number of fields, and of options in each.
const MOST_FIELDS: usize = 100;
const MOST_OPTIONS: usize = 500;
/// Maximum size of a compiled pattern, in bytes.
const LARGEST_PATTERN: usize = 1 << 20;

/// The format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

/// The type of a field.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Text {
        least: Option<u64>,
        most: Option<u64>,
        pattern: Option<Regex>,
        format: Option<Format>,
    },
    Number {
        least: Option<f64>,
        most: Option<f64>,
        is_integer: bool,
    },
    Flag,
    One(Vec<Choice>),
    Many {
        choices: Vec<Choice>,
        least: Option<u64>,
        most: Option<u64>,
    },
    /// A type that this form does not support.
    Foreign,
}

/// An option of a choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) value: Value,
    pub(super) title: String,
    pub(super) description: String,
}

/// A field as described by the schema.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Name of the value in the answer.
    pub(super) name: String,
    /// Label of the field.
    pub(super) title: String,
    pub(super) description: String,
    pub(super) is_required: bool,
    pub(super) kind: Kind,
    pub(super) default: Option<Value>,
}

/// Returns the fields of a schema and the number of those left out.
pub(super) fn fields(schema: &Value) -> (Vec<Asked>, usize) {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&none);
    let required: Vec<&str> = array(schema, "required")
        .filter_map(Value::as_str)
        .collect();
    let field = |(name, schema): (&String, &Value)| {
        let title = string(schema, "title").unwrap_or(name);
        Asked {
            name: name.clone(),
            title: short(title),
            description: short(string(schema, "description").unwrap_or_default()),
            is_required: required.contains(&name.as_str()),
            kind: kind(schema),
            default: schema.get("default").cloned(),
        }
    };
    let fields = properties.iter().take(MOST_FIELDS).map(field).collect();
    (fields, properties.len().saturating_sub(MOST_FIELDS))
}

fn kind(schema: &Value) -> Kind {
    let choices = choices(schema);
    if !choices.is_empty() {
        return Kind::One(choices);
    }
    match string(schema, "type") {
        Some("string") => Kind::Text {
            least: number(schema, "minLength"),
            most: number(schema, "maxLength"),
            pattern: string(schema, "pattern").and_then(pattern),
            format: string(schema, "format").and_then(format),
        },
        Some(name @ ("number" | "integer")) => Kind::Number {
            least: schema.get("minimum").and_then(Value::as_f64),
            most: schema.get("maximum").and_then(Value::as_f64),
            is_integer: name == "integer",
        },
        Some("boolean") => Kind::Flag,
        Some("array") => many(schema),
        _ => Kind::Foreign,
    }
}

fn many(schema: &Value) -> Kind {
    let choices = schema.get("items").map(choices).unwrap_or_default();
    if choices.is_empty() {
        return Kind::Foreign;
    }
    Kind::Many {
        choices,
        least: number(schema, "minItems"),
        most: number(schema, "maxItems"),
    }
}

/// Returns the options of `enum` (with or without `enumNames`), `oneOf` or
/// `anyOf`.
fn choices(schema: &Value) -> Vec<Choice> {
    let mut names = array(schema, "enumNames").map(Value::as_str);
    let plain = array(schema, "enum").map(|value| {
        let title = names.next().flatten();
        choice(value, title, "")
    });
    let titled = array(schema, "oneOf").chain(array(schema, "anyOf"));
    let titled = titled.filter_map(|one| {
        let words = string(one, "description").unwrap_or_default();
        Some(choice(one.get("const")?, string(one, "title"), words))
    });
    plain.chain(titled).take(MOST_OPTIONS).collect()
}

fn choice(value: &Value, title: Option<&str>, description: &str) -> Choice {
    let own = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Choice {
        title: short(title.unwrap_or(&own)),
        description: short(description),
        value: value.clone(),
    }
}

/// Compiles a pattern. Unsupported ones are skipped, because the agent validates
/// the answer again.
fn pattern(text: &str) -> Option<Regex> {
    let mut builder = RegexBuilder::new(text);
    builder.size_limit(LARGEST_PATTERN).build().ok()
}

fn format(name: &str) -> Option<Format> {
    match name {
        "email" => Some(Format::Email),
        "uri" => Some(Format::Uri),
        "date" => Some(Format::Date),
        "date-time" => Some(Format::DateTime),
        _ => None,
    }
}

fn string<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64)
}

fn array<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let array = value.get(name).and_then(Value::as_array);
    array.into_iter().flatten()
}
