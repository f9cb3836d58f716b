//! The category of a tool that nobody has heard of, out of its name alone.

use crate::event::Category;

/// The category of a tool whose name somebody made up, by the words in it.
/// Letters within a word say nothing: a terminal removes no file.
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
    let tells = |told: &&str| name.iter().any(|word| is_form(word, told));
    WORDS
        .iter()
        .find(|(_, told)| told.iter().any(tells))
        .map_or(Category::Other, |(category, _)| *category)
}

/// The words of a name in snake, kebab or camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
        if begins {
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

/// Whether a word is another one, or begins with it: `execute`, `thinking`,
/// `readfile`. That two or three letters are the beginning is chance.
fn is_form(word: &str, of: &str) -> bool {
    word == of || (of.len() > 3 && word.starts_with(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_names_are_told_by_whole_words() {
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
