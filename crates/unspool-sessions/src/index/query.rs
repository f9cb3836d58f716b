//! Translates what a person typed into a query of FTS5.

use super::passages::apart;
use crate::error::{Result, bail};

/// The words to search for.
#[derive(Debug)]
pub struct Query {
    terms: Vec<String>,
    without: Vec<String>,
}

impl Query {
    /// Makes a query in which each of `words` must occur, and none of `without`. A
    /// string of several words is a phrase, and a trailing `*` matches a prefix. Fails
    /// if there is no word.
    pub fn new(words: &[String], without: &[String]) -> Result<Self> {
        let terms: Vec<String> = words.iter().filter_map(|word| term(word)).collect();
        if terms.is_empty() {
            bail!("nothing to search for: a word has letters or figures");
        }
        Ok(Self {
            terms,
            without: without.iter().filter_map(|word| term(word)).collect(),
        })
    }

    /// Returns the words, each by itself.
    pub(super) fn terms(&self) -> &[String] {
        &self.terms
    }

    /// Returns a query for a line with all words.
    pub(super) fn all(&self) -> String {
        self.terms.join(" AND ")
    }

    /// Returns a query for a passage with all words.
    pub(super) fn together(&self) -> String {
        let mut all = self.terms.join(" AND ");
        for word in &self.without {
            all = format!("({all}) NOT {word}");
        }
        all
    }

    /// Returns a query for a line with any of the words.
    pub(super) fn any(&self) -> String {
        self.terms.join(" OR ")
    }
}

/// Quotes a word for FTS5, so that nothing in it is an operator.
fn term(word: &str) -> Option<String> {
    let (word, is_beginning) = match word.strip_suffix('*') {
        Some(beginning) => (beginning, "*"),
        None => (word, ""),
    };
    let has_words = word.chars().any(char::is_alphanumeric);
    has_words.then(|| format!("\"{}\"{is_beginning}", apart(word).replace('"', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Query::new(&words, &[]).unwrap().together()
    }

    #[test]
    fn words_are_quoted() {
        assert_eq!(query(&["fix", "test*"]), "\"fix\" AND \"test\"*");
        assert_eq!(query(&["a\" OR x:*"]), "\"a  OR x:\"*");
        assert_eq!(query(&["漢字"]), "\"漢\u{200b}字\"");
        assert!(Query::new(&["->".to_owned()], &[]).is_err());
    }
}
