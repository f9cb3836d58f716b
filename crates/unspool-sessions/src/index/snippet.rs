//! Excerpts: the lines of a passage that contain the words, with the lines around
//! them. The lines are searched through a small index of their own, so that they match
//! as the passage did.

use rusqlite::Connection;

use super::passages::{BOUNDARY, Passage, Passages};
use super::{Hit, Query};
use crate::row::Opener;

/// Maximum number of lines in an excerpt of a passage.
const LINES: usize = 2;
/// Maximum number of characters before the first match of a line.
const BEFORE: usize = 40;
/// Maximum number of characters of the indentation.
const DEEPEST: usize = 40;
/// Characters of a line that are searched: a longer line is data.
const LONGEST: usize = 4000;
/// Maximum number of characters of the lines around, and after the match.
const AROUND: usize = 200;
/// Marks around a match: control characters never occur in a line.
const OPEN: char = '\u{2}';
const CLOSE: char = '\u{3}';

/// The kind of text that a line is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Prompts, answers, thoughts, plans, notices.
    Said,
    /// Tool calls.
    Done,
    /// Tool output.
    Shown,
}

impl Column {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Done => "call",
            Self::Shown => "output",
        }
    }
}

/// A line that matches.
#[derive(Debug)]
pub struct Excerpt {
    /// The kind of text that the line is from.
    pub column: Column,
    /// The line before it.
    pub before: Option<String>,
    /// The pieces of the line; true marks a match.
    pub line: Vec<(String, bool)>,
    /// The line after it.
    pub after: Option<String>,
}

impl Excerpt {
    /// Returns the text from the first match to the last, as it is in the session.
    pub fn found(&self) -> String {
        let first = self.line.iter().position(|(_, is_match)| *is_match);
        let last = self.line.iter().rposition(|(_, is_match)| *is_match);
        let pieces = first
            .zip(last)
            .and_then(|(first, last)| self.line.get(first..=last));
        let pieces = pieces.unwrap_or_default();
        pieces.iter().map(|(text, _)| text.as_str()).collect()
    }
}

/// Reads the matching lines of a hit. Empty if the session can no longer be read.
pub fn excerpt(hit: &Hit<'_>, query: &Query) -> Vec<Excerpt> {
    let mut place = 0;
    let mut found = None;
    let _ = Passages::of(hit.row, &mut Opener::default(), |passage| {
        if place == hit.place {
            found = Some(passage);
            return false;
        }
        place += 1;
        true
    });
    found
        .and_then(|passage| matching(&passage, query).ok())
        .unwrap_or_default()
}

fn matching(passage: &Passage, query: &Query) -> rusqlite::Result<Vec<Excerpt>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE lines USING fts5 (line, tokenize = 'unicode61 remove_diacritics 2')",
    )?;
    let columns = [
        (Column::Said, &passage.said),
        (Column::Done, &passage.done),
        (Column::Shown, &passage.shown),
    ];
    let mut lines: Vec<(Column, String)> = Vec::new();
    for (column, text) in columns {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let marks = [OPEN, CLOSE];
            let line: String = line.chars().take(LONGEST).collect();
            let line = (column, line.replace(marks, " "));
            // A title often repeats the prompt.
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
    }
    let mut insert = connection.prepare("INSERT INTO lines (rowid, line) VALUES (?1, ?2)")?;
    for (at, (_, line)) in lines.iter().enumerate() {
        insert.execute(rusqlite::params![super::to_sql(at), line])?;
    }
    let found = best(&connection, query)?;
    let is_found = |at: usize| found.iter().any(|(other, _)| *other == at);
    let excerpt = |(at, marked): &(usize, String)| {
        let column = lines.get(*at)?.0;
        let beside = |at: usize| {
            let (other, line) = lines.get(at)?;
            let short = line.chars().filter(|c| *c != BOUNDARY).take(AROUND);
            (*other == column && !is_found(at)).then(|| short.collect())
        };
        // A line between two matches is shown after the first.
        let before = at.checked_sub(1);
        let is_told = at.checked_sub(2).is_some_and(is_found);
        Some(Excerpt {
            column,
            before: before.filter(|_| !is_told).and_then(beside),
            line: pieces(marked),
            after: beside(at + 1),
        })
    };
    Ok(found.iter().filter_map(excerpt).collect())
}

/// Returns the best lines without duplicates, in their order: position and marked text.
/// Lines with all words are preferred to lines with some.
fn best(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<(usize, String)>> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for words in [query.all(), query.any()] {
        add_best(connection, &words, &mut found)?;
    }
    found.sort_unstable();
    Ok(found)
}

/// Appends the lines that match a query to those that were found.
fn add_best(
    connection: &Connection,
    words: &str,
    found: &mut Vec<(usize, String)>,
) -> rusqlite::Result<()> {
    let mut select = connection.prepare(
        "SELECT rowid, highlight(lines, 0, char(2), char(3)) FROM lines WHERE lines MATCH ?1
         ORDER BY rank, rowid",
    )?;
    let mut rows = select.query([words])?;
    while let Some(row) = rows.next()?
        && found.len() < LINES
    {
        let (place, marked): (i64, String) = (row.get(0)?, row.get(1)?);
        let place = usize::try_from(place).unwrap_or_default();
        let is_new = |(at, known): &(usize, String)| *at != place && *known != marked;
        if found.iter().all(is_new) {
            found.push((place, marked));
        }
    }
    Ok(())
}

/// Splits a marked line into pieces, starting shortly before the first match.
fn pieces(marked: &str) -> Vec<(String, bool)> {
    let marked = marked.replace(BOUNDARY, "");
    let mut pieces: Vec<(String, bool)> = Vec::new();
    for (at, piece) in marked.split(OPEN).enumerate() {
        match piece.split_once(CLOSE) {
            Some((found, rest)) if at > 0 => {
                pieces.push((found.to_owned(), true));
                pieces.push((rest.to_owned(), false));
            }
            _ => pieces.push((piece.to_owned(), false)),
        }
    }
    if let Some((first, false)) = pieces.first_mut() {
        let text = first.trim_start();
        let indent: String = first
            .chars()
            .take_while(|c| c.is_whitespace())
            .take(DEEPEST)
            .collect();
        let length = text.chars().count();
        let tail: String = text
            .chars()
            .skip((length + 1).saturating_sub(BEFORE))
            .collect();
        *first = if length > BEFORE {
            format!("{indent}…{tail}")
        } else {
            indent + text
        };
    }
    // The text after the match is cut too.
    let mut left = BEFORE + AROUND;
    for (text, _) in &mut pieces {
        let length = text.chars().count();
        if length > left {
            let head: String = text.chars().take(left.saturating_sub(1)).collect();
            *text = if left > 0 { head + "…" } else { head };
        }
        left = left.saturating_sub(length);
    }
    pieces.retain(|(text, _)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_as_the_index_finds_them() {
        let passage = Passage {
            said: "Please fix\nthe Café tests\nnow".to_owned(),
            shown: "漢\u{200B}字\u{200B}は".to_owned(),
            ..Passage::default()
        };
        let find = |word: &str| {
            let query = Query::new(&[word.to_owned()], &[]).unwrap();
            matching(&passage, &query).unwrap()
        };
        let cafe = find("cafe");
        assert_eq!(cafe.len(), 1);
        assert_eq!(cafe[0].before.as_deref(), Some("Please fix"));
        assert_eq!(cafe[0].after.as_deref(), Some("now"));
        let line = &cafe[0].line;
        assert_eq!(line[1], ("Café".to_owned(), true));
        assert_eq!(line[2], (" tests".to_owned(), false));
        assert_eq!(find("字")[0].line[1], ("字".to_owned(), true));
        assert!(find("nothing").is_empty());
    }

    #[test]
    fn a_line_with_all_words_is_preferred() {
        let passage = Passage {
            said: "retry retry retry\nretry again retry\nthe flaky retry of a long line of many words\nflaky flaky"
                .to_owned(),
            ..Passage::default()
        };
        let words = ["retry".to_owned(), "flaky".to_owned()];
        let query = Query::new(&words, &[]).unwrap();
        let lines = matching(&passage, &query).unwrap();
        let line =
            |one: &Excerpt| -> String { one.line.iter().map(|(text, _)| text.as_str()).collect() };
        let shown: Vec<String> = lines.iter().map(line).collect();
        assert!(
            shown.iter().any(|line| line.starts_with("the flaky retry")),
            "{shown:?}"
        );
    }

    #[test]
    fn no_line_is_shown_twice() {
        let shown = |said: &str| -> Vec<String> {
            let passage = Passage {
                said: said.to_owned(),
                ..Passage::default()
            };
            let query = Query::new(&["fix".to_owned()], &[]).unwrap();
            let found = matching(&passage, &query).unwrap();
            let lines = found.iter().flat_map(|one| {
                let line = one.line.iter().map(|(text, _)| text.as_str()).collect();
                [one.before.clone(), Some(line), one.after.clone()]
            });
            lines.flatten().collect()
        };
        let cases = [
            ("a\nfix it\nfix it\nb", &["a", "fix it", "b"][..]),
            ("a\nfix it\nfix that\nb", &["a", "fix it", "fix that", "b"]),
            (
                "a\nfix it\nb\nfix that\nc",
                &["a", "fix it", "b", "fix that", "c"],
            ),
            ("a\nfix it\nb\nc\nfix it", &["a", "fix it", "b"]),
        ];
        for (said, expected) in cases {
            assert_eq!(shown(said), expected, "{said}");
        }
    }

    #[test]
    fn text_far_before_a_match_is_cut() {
        let marked = format!("{}\u{2}hit\u{3} end", "x".repeat(100));
        let pieces = pieces(&marked);
        assert_eq!(pieces[0].0.chars().count(), BEFORE);
        assert!(pieces[0].0.starts_with('…'));
        assert_eq!(pieces[1], ("hit".to_owned(), true));
    }

    #[test]
    fn a_line_keeps_its_indentation() {
        let line =
            |marked: &str| -> String { pieces(marked).into_iter().map(|(text, _)| text).collect() };
        assert_eq!(line("        if \u{2}hit\u{3} {"), "        if hit {");
        assert_eq!(line("\t\u{2}hit\u{3}"), "\thit");
        let far = line(&format!("    {}\u{2}hit\u{3}", "x".repeat(100)));
        assert!(far.starts_with("    …x") && far.ends_with("xhit"), "{far}");
        let deep = line(&format!("{}\u{2}hit\u{3}", " ".repeat(400)));
        assert_eq!(deep, " ".repeat(DEEPEST) + "hit");
    }

    #[test]
    fn the_text_of_all_matches_is_found() {
        let passage = Passage {
            shown: "    the flaky old test of x".to_owned(),
            ..Passage::default()
        };
        let words = ["flaky".to_owned(), "test".to_owned()];
        let query = Query::new(&words, &[]).unwrap();
        let found = matching(&passage, &query).unwrap();
        assert_eq!(found[0].found(), "flaky old test");
    }

    #[test]
    fn text_far_after_a_match_is_cut() {
        let marked = format!("a \u{2}hit\u{3} {}", "\u{2}hit\u{3} again ".repeat(100));
        let line: String = pieces(&marked).into_iter().map(|(text, _)| text).collect();
        assert_eq!(line.chars().count(), BEFORE + AROUND);
        assert!(
            line.starts_with("a hit hit again") && line.ends_with('…'),
            "{line}"
        );
    }
}
