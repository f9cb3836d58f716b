//! Fuzzy search over the rows of a list, best match first.
//!
//! Each word of the query is matched against each field separately: `^` anchors
//! at the start of a field, `$` at its end, and no match spans two fields.
//! Visible fields are matched fuzzily, hidden ones only literally, because a
//! fuzzy match in hidden text would look arbitrary.
//!
//! Extending a query searches only the previous matches; shortening it reuses
//! earlier results.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};
use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum number of characters matched per field.
const LONGEST: usize = 400;

/// Number of earlier queries whose results are kept.
const PAST: usize = 32;

/// The texts of a row that are matched.
pub(crate) struct Fields {
    /// Visible texts.
    pub(crate) seen: Vec<Utf32String>,
    /// Hidden texts.
    pub(crate) hidden: Vec<Utf32String>,
}

/// Converts a text to one character per grapheme cluster, as the matcher counts
/// them.
pub(crate) fn field(text: &str) -> Utf32String {
    if text.is_ascii() {
        let cut = text.get(..LONGEST).unwrap_or(text);
        return Utf32String::Ascii(cut.into());
    }
    let first = |cluster: &str| cluster.chars().next();
    let clusters = text.graphemes(true).take(LONGEST);
    Utf32String::Unicode(clusters.filter_map(first).collect())
}

/// A word of the query, as matched against visible and hidden fields.
struct Word {
    seen: Atom,
    hidden: Atom,
    /// Scores of rows, as far as they are computed.
    known: Vec<Option<u32>>,
}

/// The rows and those that match the query.
pub(crate) struct Finder {
    rows: Vec<Fields>,
    query: String,
    words: Vec<Word>,
    found: Vec<usize>,
    /// Prefixes of the current query with their results, shortest first.
    past: Vec<(String, Vec<usize>)>,
    matcher: Matcher,
}

impl Finder {
    /// Creates a finder. The empty query matches all rows in order.
    pub(crate) fn new(rows: Vec<Fields>) -> Self {
        Self {
            found: (0..rows.len()).collect(),
            rows,
            query: String::new(),
            past: Vec::new(),
            words: Vec::new(),
            matcher: Matcher::new(Config::DEFAULT),
        }
    }

    /// Returns the matching rows, best first, ties in their original order.
    pub(crate) fn found(&self) -> &[usize] {
        &self.found
    }

    /// Returns the current query.
    pub(crate) fn query(&self) -> &str {
        &self.query
    }

    /// Returns the number of rows.
    pub(crate) fn total(&self) -> usize {
        self.rows.len()
    }

    /// Sets the query and updates the matches.
    pub(crate) fn search(&mut self, query: &str) {
        if query == self.query {
            return;
        }
        let before = std::mem::replace(&mut self.query, query.to_owned());
        let found = std::mem::take(&mut self.found);
        self.past.push((before, found));
        self.past
            .retain(|(past, _)| query.starts_with(past.as_str()));
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        self.read(pattern.atoms);
        let is_known = |(past, _): &mut (String, Vec<usize>)| past == query;
        self.found = match self.past.pop_if(is_known) {
            Some((_, found)) => found,
            None => self.looked_up(query),
        };
        if self.past.len() > PAST {
            self.past.remove(0);
        }
    }

    /// Returns the rows that match, out of those that may.
    fn looked_up(&mut self, query: &str) -> Vec<usize> {
        // A longer `!word` matches more rows, and the meaning of `$` and `\`
        // depends on what follows.
        let narrows = !query.contains(['!', '$', '\\']);
        let looked_at = match self.past.last() {
            Some((_, found)) if narrows => found.clone(),
            _ => (0..self.rows.len()).collect(),
        };
        let mut scored: Vec<(Reverse<u32>, usize)> = Vec::with_capacity(looked_at.len());
        for at in looked_at {
            if let Some(score) = self.score(at) {
                scored.push((Reverse(score), at));
            }
        }
        scored.sort_unstable();
        scored.into_iter().map(|(_, at)| at).collect()
    }

    /// Parses the query, keeping the scores of words that it had before.
    fn read(&mut self, atoms: Vec<Atom>) {
        let mut before = std::mem::take(&mut self.words).into_iter();
        for atom in atoms {
            let same = before.next().filter(|word| word.seen == atom);
            let new = || word(atom, self.rows.len());
            self.words.push(same.unwrap_or_else(new));
        }
    }

    fn score(&mut self, at: usize) -> Option<u32> {
        let fields = self.rows.get(at)?;
        let mut score = 0;
        for word in &mut self.words {
            let known = word.known.get(at).copied().flatten();
            let found = match known {
                Some(known) => known,
                None => word.score(fields, &mut self.matcher)?,
            };
            if let Some(place) = word.known.get_mut(at) {
                *place = Some(found);
            }
            score += found;
        }
        Some(score)
    }

    /// Returns the matching clusters for each visible field of a row.
    pub(crate) fn marks(&mut self, at: usize) -> Vec<Vec<u32>> {
        let Some(fields) = self.rows.get(at) else {
            return Vec::new();
        };
        let mut marks = vec![Vec::new(); fields.seen.len()];
        for word in self.words.iter().filter(|word| !word.seen.negative) {
            let mut best: Option<(u16, usize, Vec<u32>)> = None;
            for (number, field) in fields.seen.iter().enumerate() {
                let mut indices = Vec::new();
                let score = word
                    .seen
                    .indices(field.slice(..), &mut self.matcher, &mut indices);
                if let Some(score) = score
                    && best.as_ref().is_none_or(|(most, ..)| score > *most)
                {
                    best = Some((score, number, indices));
                }
            }
            if let Some((_, number, indices)) = best
                && let Some(marks) = marks.get_mut(number)
            {
                marks.extend(indices);
            }
        }
        for marks in &mut marks {
            marks.sort_unstable();
        }
        marks
    }
}

fn word(seen: Atom, rows: usize) -> Word {
    let mut hidden = seen.clone();
    if hidden.kind == AtomKind::Fuzzy {
        hidden.kind = AtomKind::Substring;
    }
    Word {
        seen,
        hidden,
        known: vec![None; rows],
    }
}

impl Word {
    /// Returns the score of a row, or `None` if it does not match.
    fn score(&self, fields: &Fields, matcher: &mut Matcher) -> Option<u32> {
        let seen = fields.seen.iter().map(|field| (&self.seen, field));
        let hidden = fields.hidden.iter().map(|field| (&self.hidden, field));
        let mut scores = seen
            .chain(hidden)
            .map(|(atom, field)| atom.score(field.slice(..), matcher));
        if self.seen.negative {
            return scores.all(|score| score.is_some()).then_some(0);
        }
        scores.flatten().max().map(u32::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finder() -> Finder {
        let rows = [
            (["claude", "~/shop", "Fix the flaky test"], "4f2a9c"),
            (["codex", "~/shop/api", "Füge einen Test hinzu"], "77aa01"),
            (["qwen", "~/notes", "日本語のテスト fix"], "beef00"),
            (["claude", "~/api", "Explain the parser"], "fixed5"),
        ];
        let fields = rows.map(|(seen, id)| Fields {
            seen: seen.iter().map(|text| field(text)).collect(),
            hidden: vec![field(id)],
        });
        Finder::new(fields.into_iter().collect())
    }

    fn found(query: &str) -> Vec<usize> {
        let mut finder = finder();
        finder.search(query);
        finder.found().to_vec()
    }

    #[test]
    fn the_query_syntax_is_that_of_fzf() {
        assert_eq!(found(""), [0, 1, 2, 3]);
        assert_eq!(found("flkytst"), [0]);
        assert_eq!(found("claude api"), [3]);
        assert_eq!(found("api claude"), [3]);
        assert_eq!(found("'shop !codex"), [0]);
        assert_eq!(found("^exp"), [3]);
        assert_eq!(found("test$"), [0]);
        assert_eq!(found("fuge"), [1], "accents may be left out");
        assert_eq!(found("テスト"), [2]);
        assert_eq!(found("nowhere"), [0_usize; 0]);
    }

    #[test]
    fn a_match_does_not_span_fields() {
        assert_eq!(found("claudeshop"), [0_usize; 0]);
    }

    #[test]
    fn hidden_fields_are_matched_literally() {
        assert_eq!(found("77aa"), [1]);
        assert_eq!(found("7a1"), [0_usize; 0]);
    }

    #[test]
    fn the_best_match_comes_first() {
        assert_eq!(found("fix"), [0, 2, 3]);
    }

    /// Typing and deleting letter by letter gives the same results as one search.
    #[test]
    fn a_query_that_grows_and_shrinks_finds_the_same() {
        for query in ["claude !sh", "test$ fix", "fix \\ x", "^cl 'api", "!a$b"] {
            let mut finder = finder();
            let ends: Vec<usize> = query.char_indices().map(|(at, _)| at).collect();
            for end in ends.iter().chain(ends.iter().rev()) {
                let part = query.get(..*end).unwrap();
                finder.search(part);
                assert_eq!(finder.found(), found(part), "{part:?}");
            }
        }
    }

    #[test]
    fn matching_clusters_are_reported() {
        let mut finder = finder();
        finder.search("'test cla");
        assert_eq!(
            finder.marks(0),
            [vec![0, 1, 2], vec![], vec![14, 15, 16, 17]]
        );
        finder.search("フッ");
        assert_eq!(finder.found().len(), 0);
        finder.search("fix");
        assert_eq!(finder.marks(2)[2], [8, 9, 10], "by cluster, not by byte");
        assert_eq!(finder.marks(3), vec![Vec::<u32>::new(); 3]);
    }

    #[test]
    fn endless_fields_are_cut() {
        assert_eq!(field(&"a".repeat(1_000_000)).len(), LONGEST);
        assert_eq!(field(&"漢".repeat(1_000_000)).len(), LONGEST);
        assert_eq!(field("e\u{301}x").len(), 2);
    }
}
