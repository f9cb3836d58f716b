//! Finds secrets in the columns of tables: a header names the column, and the
//! rows below contain the values.

use std::ops::Range;

use super::guess::{self, Strength};
use super::names;

/// Calls `found` with the range and kind of each secret.
pub(super) fn each(text: &str, mut found: impl FnMut(Range<usize>, &'static str)) {
    if !text.contains("--") || !text.contains('|') {
        return;
    }
    // Columns of the current table, by number.
    let mut secret: Vec<(usize, &'static str)> = Vec::new();
    let mut header: &str = "";
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if is_rule(line) {
            secret = secret_columns(header);
        } else if !line.contains('|') {
            secret.clear();
        } else if !secret.is_empty() {
            for (range, cell) in cells(line) {
                for (_, kind) in secret.iter().filter(|(number, _)| *number == cell) {
                    let value = line.get(range.clone()).unwrap_or_default();
                    if is_secret(kind, value) {
                        found(start + range.start..start + range.end, kind);
                    }
                }
            }
        }
        header = line;
    }
}

/// Returns true for the line below the header of a table.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3
        && line.contains("--")
        && line.contains(['|', '+'])
        && line.bytes().all(|byte| b"|+-: ".contains(&byte))
}

fn secret_columns(header: &str) -> Vec<(usize, &'static str)> {
    cells(header)
        .filter_map(|(range, number)| {
            let name = header.get(range)?.replace(' ', "_");
            let is_secret = names::is_secret_name(&name);
            let kind = names::kind_of_name(&name).filter(|_| is_secret)?;
            Some((number, kind))
        })
        .collect()
}

/// Returns the trimmed cells of a line with their numbers.
fn cells(line: &str) -> impl Iterator<Item = (Range<usize>, usize)> {
    let mut at = 0;
    line.split('|').enumerate().map(move |(number, cell)| {
        let start = at + (cell.len() - cell.trim_start_matches([' ', '`', '*']).len());
        let length = cell.trim_matches([' ', '`', '*', '\r', '\n']).len();
        at += cell.len() + 1;
        (start..start + length, number)
    })
}

fn is_secret(kind: &str, value: &str) -> bool {
    if guess::is_placeholder(value)
        || guess::is_label(value)
        || guess::is_code(value)
        || guess::is_reference(value)
        || value.contains(char::is_whitespace)
    {
        return false;
    }
    match guess::strength(value) {
        Strength::Random => true,
        Strength::Mixed => kind == "password" && value.len() >= 5 || value.len() >= 8,
        Strength::Word => false,
    }
}
