//! What a person asks for → what the index is asked.

use super::passages::apart;
use crate::error::{Result, bail};

/// Words that are looked for.
pub struct Query {
    terms: Vec<String>,
    without: Vec<String>,
}

impl Query {
    /// Each word must occur. Several words in one are a phrase, and one that
    /// ends in `*` is the beginning of words. Fails if there is nothing to look
    /// for.
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

    /// The words, each by itself.
    pub(super) fn terms(&self) -> &[String] {
        &self.terms
    }

    /// All words, for the line that is shown.
    pub(super) fn all(&self) -> String {
        self.terms.join(" AND ")
    }

    /// All words in one passage.
    pub(super) fn together(&self) -> String {
        let mut all = self.terms.join(" AND ");
        for word in &self.without {
            all = format!("({all}) NOT {word}");
        }
        all
    }

    /// Any of the words, for the line that is shown.
    pub(super) fn any(&self) -> String {
        self.terms.join(" OR ")
    }
}

/// A word as FTS5 wants it: in quotes, so that nothing in it is obeyed.
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
