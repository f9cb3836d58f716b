//! Writes cards as one self-contained HTML page.
//!
//! The page is written card by card, so memory holds only one. It loads no
//! resources, and its content security policy allows only its own script and
//! style, by hash, so text that escaped `escape` could still do nothing. The
//! page can be read and folded without its script, which adds search, filters,
//! an outline and keys.
//!
//! ```
//! use unspool::doc::{card, entry::Detail};
//! use unspool::output::{html::Html, About};
//! use unspool::session::{Entry, Item, Text};
//!
//! let about = About { title: "A run".to_owned(), facts: Vec::new() };
//! let mut page = Html::new(Vec::new(), &about, None)?;
//! let text = Text::new("<b>shown</b>");
//! if let Some(card) = card::card(&Entry::new(Item::Text(text)), &Detail::default()) {
//!     page.card(&card)?;
//! }
//! let page = String::from_utf8(page.finish(&[])?).unwrap_or_default();
//! assert!(page.contains("&lt;b&gt;shown"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod block;
mod colors;
mod diff;
mod entry;
mod escape;
pub mod keys;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::About;
use crate::doc::card::Card;
use crate::sanitize;
use escape::{attribute, text};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
const CONTROLS: &str = include_str!("html/controls.html");

/// The colour scheme of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Scheme {
    Light,
    Dark,
}

/// Writes a page.
pub struct Html<W> {
    out: W,
    /// Number of cards written.
    count: usize,
    /// The agent of the last card: empty for the root agent.
    speaker: String,
    /// Bytes of cards written.
    written: usize,
    /// A buffer reused for each card.
    buffer: String,
}

impl<W: Write> Html<W> {
    /// Starts a page in a colour scheme, or in that of the reader's system.
    /// Fails if the writer does, like the methods below.
    pub fn new(mut out: W, about: &About, scheme: Option<Scheme>) -> io::Result<Self> {
        let style = STYLE.to_owned() + &colors::style();
        let mut page = String::new();
        head(&mut page, about, scheme, &style);
        top(&mut page, about);
        out.write_all(page.as_bytes())?;
        Ok(Self {
            out,
            count: 0,
            speaker: String::new(),
            written: 0,
            buffer: page,
        })
    }

    /// Writes a card.
    pub fn card(&mut self, card: &Card) -> io::Result<()> {
        self.count += 1;
        self.buffer.clear();
        let speaker = card.speaker().unwrap_or_default();
        let is_other = self.speaker != speaker;
        entry::write(&mut self.buffer, card, self.count, is_other);
        if is_other {
            speaker.clone_into(&mut self.speaker);
        }
        self.written += self.buffer.len();
        self.out.write_all(self.buffer.as_bytes())
    }

    /// Returns the bytes of cards written. Highlighted code takes many
    /// elements, so very large pages are better without it.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Ends the page with statistics: names and values.
    pub fn finish(mut self, figures: &[(String, String)]) -> io::Result<W> {
        let page = &mut self.buffer;
        page.clear();
        if self.count == 0 {
            page.push_str("<p class=\"empty\">Nothing happened.</p>\n");
        }
        page.push_str("</main>\n<footer>\n");
        facts(page, figures);
        page.push_str("<p class=\"credit\">Written by unspool.</p>\n</footer>\n<script>");
        page.push_str(SCRIPT);
        page.push_str("</script>\n</body>\n</html>\n");
        self.out.write_all(page.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn head(page: &mut String, about: &About, scheme: Option<Scheme>, style: &str) {
    let scheme = match scheme {
        None => "",
        Some(Scheme::Light) => " data-theme=\"light\"",
        Some(Scheme::Dark) => " data-theme=\"dark\"",
    };
    page.push_str("<!doctype html>\n<html lang=\"en\"");
    page.push_str(scheme);
    page.push_str(">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    attribute(page, &policy(style));
    page.push_str(
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    );
    page.push_str("<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    text(page, &sanitize::line(&about.title));
    page.push_str("</title>\n<style>");
    page.push_str(style);
    page.push_str("</style>\n</head>\n<body>\n");
}

/// Returns a policy that allows only the page's own style and script.
fn policy(style: &str) -> String {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(style),
        hash(SCRIPT),
    )
}

fn hash(content: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(content)))
}

fn top(page: &mut String, about: &About) {
    page.push_str("<a class=\"skip\" href=\"#run\">Skip to the run</a>\n<header>\n<h1>");
    text(page, &sanitize::line(&about.title));
    page.push_str("</h1>\n");
    facts(page, &about.facts);
    page.push_str("</header>\n");
    page.push_str(&CONTROLS.replace("{keys}", &keys::help()));
    page.push_str("<main id=\"run\" tabindex=\"-1\">\n");
}

fn facts(page: &mut String, facts: &[(String, String)]) {
    if facts.is_empty() {
        return;
    }
    page.push_str("<dl>\n");
    for (name, value) in facts {
        page.push_str("<div><dt>");
        text(page, name);
        page.push_str("</dt><dd>");
        text(page, &sanitize::line(value));
        page.push_str("</dd></div>\n");
    }
    page.push_str("</dl>\n");
}
