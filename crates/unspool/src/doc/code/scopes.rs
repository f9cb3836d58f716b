//! Loads the syntect grammars and maps their scopes to roles.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::doc::{Line, Role, Span, Style, Syntax, append};

static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// The parser state within one code block.
#[derive(Clone)]
pub(super) struct State {
    parser: ParseState,
    stack: ScopeStack,
    buffer: String,
}

impl State {
    /// Returns `None` for a language without a grammar.
    pub(super) fn new(language: &str) -> Option<Self> {
        if language.is_empty() {
            return None;
        }
        let lower = language.to_ascii_lowercase();
        let alias = ALIASES.iter().find(|(name, _)| *name == lower);
        let name = alias.map_or(language, |(_, name)| name);
        let grammar = GRAMMARS.find_syntax_by_token(name)?;
        Some(Self {
            parser: ParseState::new(grammar),
            stack: ScopeStack::new(),
            buffer: String::new(),
        })
    }

    /// Highlights the next line; `None` if the grammar fails.
    pub(super) fn line(&mut self, line: &str) -> Option<Line> {
        self.buffer.clear();
        self.buffer.push_str(line);
        self.buffer.push('\n');
        let operations = self.parser.parse_line(&self.buffer, &GRAMMARS).ok()?;
        let mut spans = Line::new();
        let mut start = 0;
        for (end, operation) in &operations {
            self.push(line, start..*end, &mut spans);
            start = start.max(*end);
            self.stack.apply(operation).ok()?;
        }
        self.push(line, start..line.len(), &mut spans);
        Some(spans)
    }

    fn push(&self, line: &str, range: std::ops::Range<usize>, spans: &mut Line) {
        let range = range.start..range.end.min(line.len());
        if let Some(text) = line.get(range).filter(|text| !text.is_empty()) {
            let style = Style::of(role(&self.stack));
            append(spans, Span::new(text, style));
        }
    }
}

/// Common language names that no grammar lists.
const ALIASES: &[(&str, &str)] = &[
    ("console", "sh"),
    ("csharp", "cs"),
    ("golang", "go"),
    ("json5", "json"),
    ("jsonc", "json"),
    ("jsonl", "json"),
    ("mjs", "js"),
    ("patch", "diff"),
    ("powershell", "ps1"),
    ("shell", "sh"),
    ("shell-session", "sh"),
    ("shellsession", "sh"),
    ("terminal", "sh"),
];

/// Returns the role of the innermost scope that has one. A string inside a key
/// scope is an attribute.
fn role(stack: &ScopeStack) -> Role {
    let role = innermost(stack);
    let in_key = |scope: &Scope| KEYS.iter().any(|key| key.is_prefix_of(*scope));
    if role == Role::Code(Syntax::String) && stack.as_slice().iter().any(in_key) {
        return Role::Code(Syntax::Attribute);
    }
    role
}

static KEYS: LazyLock<Vec<Scope>> = LazyLock::new(|| {
    ["meta.mapping.key", "meta.structure.dictionary.key"]
        .iter()
        .filter_map(|scope| Scope::new(scope).ok())
        .collect()
});

fn innermost(stack: &ScopeStack) -> Role {
    stack
        .as_slice()
        .iter()
        .rev()
        .find_map(|scope| {
            CACHE.with_borrow_mut(|cache| {
                *cache.entry(*scope).or_insert_with(|| role_of_scope(*scope))
            })
        })
        .unwrap_or_default()
}

thread_local! {
    /// Caches the roles of scopes; the grammars have a few thousand.
    static CACHE: RefCell<HashMap<Scope, Option<Role>>> = RefCell::default();
}

fn role_of_scope(scope: Scope) -> Option<Role> {
    let known = ROLES.iter().find(|(prefix, _)| prefix.is_prefix_of(scope));
    known.map(|(_, role)| *role)
}

static ROLES: LazyLock<Vec<(Scope, Role)>> = LazyLock::new(|| {
    PREFIX_ROLES
        .iter()
        .filter_map(|(scope, role)| Some((Scope::new(scope).ok()?, *role)))
        .collect()
});

/// Roles by scope prefix; the first match wins.
const PREFIX_ROLES: &[(&str, Role)] = &[
    ("comment", Role::Code(Syntax::Comment)),
    (
        "punctuation.definition.comment",
        Role::Code(Syntax::Comment),
    ),
    ("constant.character.escape", Role::Code(Syntax::Constant)),
    ("constant.numeric", Role::Code(Syntax::Number)),
    ("constant", Role::Code(Syntax::Constant)),
    ("support.constant", Role::Code(Syntax::Constant)),
    ("variable.language", Role::Code(Syntax::Constant)),
    ("string.unquoted", Role::Normal),
    ("string", Role::Code(Syntax::String)),
    ("keyword.operator.word", Role::Code(Syntax::Keyword)),
    (
        "keyword.operator.logical.python",
        Role::Code(Syntax::Keyword),
    ),
    ("keyword.operator", Role::Code(Syntax::Operator)),
    ("keyword", Role::Code(Syntax::Keyword)),
    ("storage", Role::Code(Syntax::Keyword)),
    ("entity.name.function", Role::Code(Syntax::Function)),
    ("entity.name.macro", Role::Code(Syntax::Function)),
    ("support.function", Role::Code(Syntax::Function)),
    ("support.macro", Role::Code(Syntax::Function)),
    ("variable.function", Role::Code(Syntax::Function)),
    ("entity.name.tag", Role::Code(Syntax::Tag)),
    ("entity.other.attribute-name", Role::Code(Syntax::Attribute)),
    ("support.type.property-name", Role::Code(Syntax::Attribute)),
    ("meta.mapping.key", Role::Code(Syntax::Attribute)),
    ("variable.annotation", Role::Code(Syntax::Attribute)),
    ("meta.annotation", Role::Code(Syntax::Attribute)),
    ("entity.name.section", Role::Code(Syntax::Keyword)),
    ("entity.name", Role::Code(Syntax::Type)),
    ("entity.other.inherited-class", Role::Code(Syntax::Type)),
    ("support.type", Role::Code(Syntax::Type)),
    ("support.class", Role::Code(Syntax::Type)),
    ("markup.inserted", Role::Green),
    ("markup.deleted", Role::Red),
    ("meta.diff.range", Role::Accent),
    ("meta.diff.header", Role::Accent),
    ("markup.raw", Role::Accent),
    ("markup.heading", Role::Code(Syntax::Keyword)),
];
