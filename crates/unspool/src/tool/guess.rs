//! Guesses the category of an unknown tool from its name.

use crate::event::Category;

/// Guesses the category from the words in a tool's name. Only whole words
/// count: `terminal` contains `rm`, but removes no file.
pub fn guess_category(name: &str) -> Category {
    const WORDS: &[(Category, &[&str])] = &[
        (Category::Read, &["read", "view", "cat", "open"]),
        (Category::Write, &["write", "create"]),
        (Category::Edit, &["edit", "replace", "patch"]),
        (Category::Delete, &["delete", "remove", "rm"]),
        (Category::Move, &["move", "rename"]),
        (Category::Search, &["grep", "search"]),
        (Category::List, &["glob", "list", "ls", "find"]),
        (
            Category::Execute,
            &["shell", "bash", "exec", "run", "terminal", "command", "cmd"],
        ),
        (Category::Fetch, &["fetch", "web", "http"]),
        (Category::Plan, &["plan", "todo"]),
        (Category::Task, &["task", "agent", "spawn", "delegate"]),
        (Category::Think, &["think"]),
    ];
    let name = words(name);
    let is_named = |verbs: &&str| name.iter().any(|word| is_form(word, verbs));
    WORDS
        .iter()
        .find(|(_, verbs)| verbs.iter().any(is_named))
        .map_or(Category::Other, |(category, _)| *category)
}

/// Splits a name in snake, kebab or camel case into lower-case words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let is_start = !c.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
        if is_start {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}

/// Returns true if `word` equals or extends `of`: `execute`, `thinking`,
/// `readfile`. Very short words must be equal.
fn is_form(word: &str, of: &str) -> bool {
    word == of || (of.len() > 3 && word.starts_with(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_matched_by_whole_words() {
        for (name, category) in [
            ("run_in_terminal", Category::Execute),
            ("executeTerminalCommand", Category::Execute),
            ("run_terminal_cmd", Category::Execute),
            ("dispatch_agent", Category::Task),
            ("str_replace_editor", Category::Edit),
            ("rm-file", Category::Delete),
            ("readfile", Category::Read),
            ("HTTPRequest", Category::Fetch),
            ("confirm", Category::Other),
            ("format_code", Category::Other),
            ("preview", Category::Other),
            ("runtime_info", Category::Other),
        ] {
            assert_eq!(guess_category(name), category, "{name}");
        }
    }
}
