//! Source code → lines in which its parts have roles.
//!
//! The grammars are those of bat; their scopes are mapped to [`Syntax`](crate::doc::Syntax) roles,
//! so that the theme decides about colours. They are loaded when the first code
//! block needs them. Parsing is slow (about a megabyte a second), so long lines
//! and what lies beyond the first [`LIMIT`] bytes of a block stay plain.
//! Without the feature `highlight` everything stays plain.
//!
//! Called for code blocks of answers and for the contents of files.

#[cfg(feature = "highlight")]
mod scopes;

use crate::doc::{Line, Span, Style};

/// How many bytes of a block are highlighted.
pub const LIMIT: usize = 64 * 1024;

/// The longest line that is highlighted.
#[cfg(feature = "highlight")]
const LONGEST_LINE: usize = 1000;

/// Characters of a language's name.
const LONGEST_NAME: usize = 32;

/// The lines of a clean text. `language` is what a fence or a file extension
/// says; an unknown one leaves the text plain.
pub fn lines(text: &str, language: &str) -> Vec<Line> {
    let mut highlighter = Highlighter::new(language);
    text.lines().map(|line| highlighter.line(line)).collect()
}

/// Highlights line by line, for code that is still being written.
#[derive(Clone)]
pub struct Highlighter {
    #[cfg(feature = "highlight")]
    state: Option<scopes::State>,
    /// How many bytes were seen.
    #[cfg(feature = "highlight")]
    seen: usize,
}

impl Highlighter {
    /// For a language as a fence or a file extension names it.
    #[cfg_attr(
        not(feature = "highlight"),
        expect(unused_variables, reason = "nothing to find")
    )]
    pub fn new(language: &str) -> Self {
        Self {
            #[cfg(feature = "highlight")]
            state: scopes::State::new(token(language)),
            #[cfg(feature = "highlight")]
            seen: 0,
        }
    }

    /// The next line, clean and without its line end.
    pub fn line(&mut self, line: &str) -> Line {
        #[cfg(feature = "highlight")]
        if let Some(spans) = self.highlighted(line) {
            return spans;
        }
        plain(line)
    }

    #[cfg(feature = "highlight")]
    fn highlighted(&mut self, line: &str) -> Option<Line> {
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

fn plain(line: &str) -> Line {
    if line.is_empty() {
        return Line::new();
    }
    vec![Span::new(line, Style::default())]
}

/// The name of the language in what stands behind a fence, if it can be one:
/// nothing but letters, figures and the signs of `c++`, `c#` and `objective-c`.
pub(super) fn language(info: &str) -> String {
    let token = token(info.trim());
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "+#-_.".contains(c);
    if token.len() <= LONGEST_NAME && token.chars().all(is_of_name) {
        token.to_owned()
    } else {
        String::new()
    }
}

/// The first word of what stands behind a fence: `rust,ignore`, `{.python}`,
/// `ts title="a.ts"`.
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

    fn role_of(lines: &[Line], text: &str) -> Role {
        let span = lines.iter().flatten().find(|span| span.text.trim() == text);
        span.unwrap_or_else(|| panic!("{text} in {lines:?}"))
            .style
            .role
    }

    #[test]
    fn rust_has_its_parts() {
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
    fn text_is_never_changed() {
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
    fn the_languages_of_answers_are_known() {
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
    fn keys_of_json_are_told_from_strings() {
        let lines = lines(r#"{"a": "b"}"#, "json");
        assert_eq!(role_of(&lines, "\"a\""), Role::Code(Syntax::Attribute));
        assert_eq!(role_of(&lines, "\"b\""), Role::Code(Syntax::String));
    }

    #[test]
    fn diffs_are_green_and_red() {
        let lines = lines("+new\n-old", "diff");
        assert_eq!(lines[0].last().expect("a span").style.role, Role::Green);
        assert_eq!(lines[1].last().expect("a span").style.role, Role::Red);
    }

    #[test]
    fn long_blocks_and_lines_end_plain() {
        let line = "let a = 1;\n";
        let lines = lines(&line.repeat(2 * LIMIT / line.len()), "rust");
        assert!(lines[0].len() > 1);
        assert_eq!(lines[lines.len() - 1].len(), 1);
        let long = format!("let a = {};", "1".repeat(2000));
        assert_eq!(Highlighter::new("rust").line(&long).len(), 1);
    }
}
