//! Highlights source code: lines whose tokens have
//! [`Syntax`](crate::doc::Syntax) roles.
//!
//! Uses the grammars of bat, loaded at the first code block. Parsing is slow
//! (about a megabyte a second), so long lines and everything after the first
//! [`LIMIT`] bytes of a block stay plain. Without the feature `highlight`, all
//! code stays plain.

#[cfg(feature = "highlight")]
mod scopes;

use crate::doc::{Line, Span, Style};

/// Bytes of a block that are highlighted.
pub const LIMIT: usize = 64 * 1024;

/// Longer lines stay plain.
#[cfg(feature = "highlight")]
const LONGEST_LINE: usize = 1000;

/// Maximum length of a language name.
#[cfg(feature = "markdown")]
const LONGEST_NAME: usize = 32;

/// Highlights a sanitised text. `language` is a fence's info string or a file
/// extension; an unknown one leaves the text plain.
pub fn lines(text: &str, language: &str) -> Vec<Line> {
    let mut highlighter = Highlighter::new(language);
    text.lines().map(|line| highlighter.line(line)).collect()
}

/// Splits a sanitised text into lines without highlighting.
pub fn plain_lines(text: &str) -> Vec<Line> {
    text.lines().map(plain).collect()
}

/// Highlights code line by line, so that it can continue while the code
/// arrives.
#[derive(Clone)]
pub struct Highlighter {
    #[cfg(feature = "highlight")]
    state: Option<scopes::State>,
    /// True if the first line decides the language.
    #[cfg(feature = "highlight")]
    is_unknown: bool,
    /// Bytes processed so far.
    #[cfg(feature = "highlight")]
    seen: usize,
}

impl Highlighter {
    /// Creates a highlighter for a fence's info string or a file extension.
    #[cfg_attr(
        not(feature = "highlight"),
        expect(unused_variables, reason = "nothing to find")
    )]
    pub fn new(language: &str) -> Self {
        Self {
            #[cfg(feature = "highlight")]
            state: scopes::State::new(token(language)),
            #[cfg(feature = "highlight")]
            is_unknown: language.trim().is_empty(),
            #[cfg(feature = "highlight")]
            seen: 0,
        }
    }

    /// Creates a highlighter that leaves code plain.
    pub fn off() -> Self {
        Self {
            #[cfg(feature = "highlight")]
            state: None,
            #[cfg(feature = "highlight")]
            is_unknown: false,
            #[cfg(feature = "highlight")]
            seen: 0,
        }
    }

    /// Highlights the next line, given without its newline.
    pub fn line(&mut self, line: &str) -> Line {
        #[cfg(feature = "highlight")]
        if let Some(spans) = self.highlighted(line) {
            return spans;
        }
        plain(line)
    }

    #[cfg(feature = "highlight")]
    fn highlighted(&mut self, line: &str) -> Option<Line> {
        if std::mem::take(&mut self.is_unknown) {
            self.state = first_line_language(line).and_then(scopes::State::new);
        }
        self.seen = self.seen.saturating_add(line.len() + 1);
        if self.seen > LIMIT {
            self.state = None;
        }
        if line.len() > LONGEST_LINE {
            return None;
        }
        self.state.as_mut()?.line(line)
    }
}

/// Guesses the language of code from its first line.
#[cfg(feature = "highlight")]
fn first_line_language(line: &str) -> Option<&'static str> {
    const STARTS: &[(&str, &str)] = &[
        ("<?xml", "xml"),
        ("<?php", "php"),
        ("<!doctype html", "html"),
        ("<html", "html"),
        ("diff --git ", "diff"),
        ("diff --cc ", "diff"),
        ("Index: ", "diff"),
        ("--- a/", "diff"),
        ("*** Begin Patch", "diff"),
        ("{\"", "json"),
        ("[{", "json"),
        ("%YAML", "yaml"),
        ("FROM ", "dockerfile"),
        ("syntax = \"proto", "proto"),
    ];
    let line = line.trim();
    if let Some(interpreter) = line.strip_prefix("#!") {
        return interpreter_language(interpreter);
    }
    if line == "{" {
        return Some("json");
    }
    let starts = |start: &str| {
        let head = line.get(..start.len());
        head.is_some_and(|head| {
            if start.starts_with('<') {
                head.eq_ignore_ascii_case(start)
            } else {
                head == start
            }
        })
    };
    let known = STARTS.iter().find(|(start, _)| starts(start));
    known.map(|(_, language)| *language)
}

/// Returns the language of a program named after `#!`.
#[cfg(feature = "highlight")]
fn interpreter_language(command: &str) -> Option<&'static str> {
    let mut words = command
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .filter(|word| !word.starts_with('-') && !word.contains('='));
    let name = words.find(|word| *word != "env")?;
    Some(
        match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "sh" | "bash" | "zsh" | "dash" | "ksh" => "bash",
            "fish" => "fish",
            "python" | "pypy" => "python",
            "node" | "nodejs" | "bun" => "javascript",
            "deno" | "ts-node" | "tsx" => "typescript",
            "ruby" => "ruby",
            "perl" => "perl",
            "php" => "php",
            "lua" => "lua",
            "awk" | "gawk" => "awk",
            "make" => "make",
            "Rscript" => "r",
            _ => return None,
        },
    )
}

fn plain(line: &str) -> Line {
    if line.is_empty() {
        return Line::new();
    }
    vec![Span::new(line, Style::default())]
}

/// Returns the language name of an info string, or an empty string if it
/// contains other characters than letters, digits and those of `c++`, `c#` and
/// `objective-c`.
#[cfg(feature = "markdown")]
pub(super) fn language(info: &str) -> String {
    let token = token(info.trim());
    let is_name_character = |c: char| c.is_ascii_alphanumeric() || "+#-_.".contains(c);
    if token.len() <= LONGEST_NAME && token.chars().all(is_name_character) {
        token.to_owned()
    } else {
        String::new()
    }
}

/// Extensions whose language has another name in fences. Of the others the extension
/// itself is one.
const LANGUAGES: [(&str, &[&str]); 16] = [
    ("", &["txt", "text", "log", "lock", "out"]),
    ("bash", &["sh", "bash", "zsh"]),
    ("c", &["h"]),
    ("cpp", &["cc", "cxx", "hh", "hpp"]),
    ("csharp", &["cs"]),
    ("elixir", &["ex", "exs"]),
    ("haskell", &["hs"]),
    ("html", &["htm"]),
    ("javascript", &["js", "mjs", "cjs"]),
    ("kotlin", &["kt", "kts"]),
    ("markdown", &["md", "mdx"]),
    ("python", &["py", "pyi"]),
    ("ruby", &["rb"]),
    ("rust", &["rs"]),
    ("typescript", &["ts", "mts", "cts"]),
    ("yaml", &["yml"]),
];

/// Maximum length of an extension that names a language.
const LONGEST_EXTENSION: usize = 10;

/// Returns the name that fences use for the language of a file; empty if the path
/// says nothing about it.
pub(super) fn language_of_path(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension,
        _ if name == "Dockerfile" || name == "Makefile" => name,
        _ => "",
    };
    let extension = extension.to_ascii_lowercase();
    let is_name = extension.len() <= LONGEST_EXTENSION
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_name {
        return String::new();
    }
    let has = |(_, extensions): &&(&str, &[&str])| extensions.contains(&extension.as_str());
    match LANGUAGES.iter().find(has) {
        Some((language, _)) => (*language).to_owned(),
        None => extension,
    }
}

/// Returns the first word of an info string: `rust,ignore`, `{.python}`, `ts
/// title="a.ts"`.
#[cfg(any(feature = "markdown", feature = "highlight"))]
fn token(info: &str) -> &str {
    let info = info.trim_start_matches(['{', '.', ' ']);
    info.split([' ', ',', '{', '}', ':', ';', '\t'])
        .next()
        .unwrap_or_default()
}

#[cfg(all(test, feature = "highlight"))]
mod tests {
    use super::*;
    use crate::doc::{Role, Syntax};

    #[test]
    fn the_first_line_decides_an_unknown_language() {
        for (line, language) in [
            ("#!/bin/sh", Some("bash")),
            ("#!/usr/bin/env -S python3.12 -u", Some("python")),
            ("#!/usr/bin/env node", Some("javascript")),
            ("#!/opt/odd", None),
            ("#!", None),
            ("<?xml version=\"1.0\"?>", Some("xml")),
            ("<!DOCTYPE html>", Some("html")),
            ("diff --git a/x b/x", Some("diff")),
            ("{", Some("json")),
            ("  {\"a\": 1}", Some("json")),
            ("{ x: 1 }", None),
            ("fn main() {", None),
            ("é", None),
            ("", None),
        ] {
            assert_eq!(first_line_language(line), language, "{line}");
            if let Some(language) = language {
                assert!(scopes::State::new(language).is_some(), "{language}");
            }
        }
        let known = lines("{\n  \"a\": 1\n}", "");
        assert_eq!(role_of(&known, "1"), Role::Code(Syntax::Number));
        let later = lines("x\n#!/bin/sh\nif true", "");
        assert!(
            later
                .iter()
                .flatten()
                .all(|span| span.style.role == Role::Normal)
        );
        let named = lines("{\n  \"a\": 1\n}", "text");
        assert!(
            named
                .iter()
                .flatten()
                .all(|span| span.style.role == Role::Normal)
        );
    }

    fn role_of(lines: &[Line], text: &str) -> Role {
        let span = lines.iter().flatten().find(|span| span.text.trim() == text);
        span.unwrap_or_else(|| panic!("{text} in {lines:?}"))
            .style
            .role
    }

    #[test]
    fn rust_tokens_get_their_roles() {
        let code = "// hi\nfn main() {\n    let s = \"x\".len() + 42;\n}";
        let lines = lines(code, "rust,ignore");
        assert_eq!(lines.len(), 4);
        assert_eq!(role_of(&lines, "// hi"), Role::Code(Syntax::Comment));
        assert_eq!(role_of(&lines, "fn"), Role::Code(Syntax::Keyword));
        assert_eq!(role_of(&lines, "main"), Role::Code(Syntax::Function));
        assert_eq!(role_of(&lines, "\"x\""), Role::Code(Syntax::String));
        assert_eq!(role_of(&lines, "42"), Role::Code(Syntax::Number));
    }

    #[test]
    fn highlighting_preserves_text() {
        for language in [
            "rust", "python", "ts", "bash", "json", "diff", "html", "", "nonsense",
        ] {
            let code = "a <b> = \"c\n  - d\n+ e # f\n\n}} 'g\n漢字 \"🙂\"";
            let shown: Vec<String> = lines(code, language)
                .iter()
                .map(|line| line.iter().map(|span| span.text.as_str()).collect())
                .collect();
            assert_eq!(shown.join("\n"), code, "{language}");
        }
    }

    #[test]
    fn common_languages_have_a_grammar() {
        for language in [
            "rust",
            "rs",
            "python",
            "py",
            "ts",
            "tsx",
            "typescript",
            "js",
            "javascript",
            "jsx",
            "json",
            "jsonc",
            "bash",
            "sh",
            "shell",
            "zsh",
            "console",
            "go",
            "golang",
            "c",
            "cpp",
            "c++",
            "java",
            "kotlin",
            "swift",
            "ruby",
            "php",
            "html",
            "css",
            "sql",
            "yaml",
            "yml",
            "toml",
            "diff",
            "patch",
            "dockerfile",
            "make",
            "makefile",
            "markdown",
            "md",
            "xml",
            "lua",
            "zig",
            "elixir",
            "haskell",
            "csharp",
            "cs",
            "powershell",
            "vue",
            "svelte",
        ] {
            assert!(Highlighter::new(language).state.is_some(), "{language}");
        }
    }

    #[test]
    fn a_path_names_its_language() {
        for (path, language) in [
            ("/work/src/main.rs", "rust"),
            ("a.b/c.test.TSX", "tsx"),
            ("Cargo.toml", "toml"),
            ("build/Makefile", "makefile"),
            ("notes.txt", ""),
            (".gitignore", ""),
            ("v1.2", ""),
            ("README", ""),
            ("a.b`\nc", ""),
            ("src/a very long na…", ""),
        ] {
            assert_eq!(language_of_path(path), language, "{path}");
        }
    }

    #[test]
    fn json_keys_and_strings_have_different_roles() {
        let lines = lines(r#"{"a": "b"}"#, "json");
        assert_eq!(role_of(&lines, "\"a\""), Role::Code(Syntax::Attribute));
        assert_eq!(role_of(&lines, "\"b\""), Role::Code(Syntax::String));
    }

    #[test]
    fn diff_lines_are_green_and_red() {
        let lines = lines("+new\n-old", "diff");
        assert_eq!(lines[0].last().expect("a span").style.role, Role::Green);
        assert_eq!(lines[1].last().expect("a span").style.role, Role::Red);
    }

    #[test]
    fn long_lines_and_the_tail_of_long_blocks_stay_plain() {
        let line = "let a = 1;\n";
        let lines = lines(&line.repeat(2 * LIMIT / line.len()), "rust");
        assert!(lines[0].len() > 1);
        assert_eq!(lines[lines.len() - 1].len(), 1);
        let long = format!("let a = {};", "1".repeat(2000));
        assert_eq!(Highlighter::new("rust").line(&long).len(), 1);
    }
}
