//! Sessions in an `SQLite` database: the queries, and how rows become the bytes
//! that the source reads.

use serde_json::{Map, Value};

/// A database with sessions.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Database {
    /// Tables that only this agent's database has together.
    pub tables: &'static [&'static str],
    /// Selects the sessions, the oldest first.
    pub sessions: &'static str,
    /// The columns of [`Self::sessions`] for the id, the parent's id (sub-agents)
    /// and the time of the last change. Only the id must be there.
    pub columns: [&'static str; 3],
    /// Queries for the rows of the session `?1`.
    pub contents: &'static [&'static str],
    /// Queries for pairs of a session's id and a number that differs after a
    /// change. They may fail.
    pub changes: &'static [&'static str],
    /// Turns a session and the rows of [`Self::contents`] into the bytes that the
    /// source reads.
    pub compose: fn(session: &Row, contents: &[Vec<Row>]) -> Vec<u8>,
}

impl Database {
    /// A database whose rows are read as JSON lines, the session's first.
    pub const fn new(
        tables: &'static [&'static str],
        sessions: &'static str,
        contents: &'static [&'static str],
    ) -> Self {
        Self {
            tables,
            sessions,
            columns: ["id", "parent_id", "updated"],
            contents,
            changes: &[],
            compose: lines,
        }
    }
}

/// Writes each row as one JSON object a line.
fn lines(session: &Row, contents: &[Vec<Row>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in std::iter::once(session).chain(contents.iter().flatten()) {
        bytes.extend(row.json().to_string().into_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// One row of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(Vec<(String, Cell)>);

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cell {
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text, or bytes read as UTF-8.
    Text(String),
}

impl Row {
    /// Adds a column; `NULL` is left out.
    pub fn push(&mut self, column: impl Into<String>, value: Cell) {
        self.0.push((column.into(), value));
    }

    /// Returns the value of a column.
    pub fn get(&self, column: &str) -> Option<&Cell> {
        let found = self.0.iter().find(|(name, _)| name == column);
        found.map(|(_, value)| value)
    }

    /// Returns the text of a column; empty if it has none.
    pub fn text(&self, column: &str) -> &str {
        match self.get(column) {
            Some(Cell::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the whole number in a column.
    pub fn integer(&self, column: &str) -> Option<i64> {
        match self.get(column) {
            Some(Cell::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns the row as a JSON object.
    pub fn json(&self) -> Value {
        let fields = self
            .0
            .iter()
            .map(|(name, value)| (name.clone(), value.json()));
        Value::Object(fields.collect::<Map<_, _>>())
    }
}

impl Cell {
    /// Returns the value as JSON.
    pub fn json(&self) -> Value {
        match self {
            Self::Integer(number) => (*number).into(),
            Self::Real(number) => (*number).into(),
            Self::Text(text) => text.clone().into(),
        }
    }
}
