//! Names of tools outside the protocol's own field: in an adapter's `_meta` and in
//! titles.

use crate::event::Category;
use crate::json::Json;
use crate::tool;

/// Returns the tool's name in `_meta`: `toolName` or `tool_name`, there or in the
/// adapter's own object, or the `name` of an object for the tool.
pub(super) fn in_meta(meta: Json<'_>) -> Option<String> {
    let fields = meta.object();
    let own = |json: Json<'_>| {
        let named = [json.get("toolName"), json.get("tool_name")];
        let name = named.into_iter().find_map(Json::str)?;
        (!name.is_empty()).then(|| name.into_owned())
    };
    let nested = fields.iter().filter(|(_, value)| value.is_object());
    own(meta).or_else(|| {
        nested.into_iter().find_map(|(key, value)| {
            own(value)
                .or_else(|| own(value.get("toolCall")))
                .or_else(|| {
                    is_tool_key(key)
                        .then(|| value.get("name").str())?
                        .map(Into::into)
                })
        })
    })
}

/// Returns the kind of the tool in `_meta`, where it is finer than the protocol's.
pub(super) fn kind_in_meta(meta: Json<'_>) -> Option<Category> {
    let fields = meta.object();
    let kinds = fields.iter().filter(|(key, _)| is_tool_key(key));
    kinds.into_iter().find_map(|(_, value)| {
        let category = crate::source::category(&value.get("kind").str()?);
        (category != Category::Other).then_some(category)
    })
}

fn is_tool_key(key: &str) -> bool {
    key == "tool" || key.ends_with("/tool")
}

/// Returns the tool's name in a first title: alone, or before its argument as in
/// `shell · ls`, `terminal: ls` and `patch (replace): a.rs`. Only a known name is
/// one, except before a dot, which nothing else puts there.
pub(super) fn in_title(title: &str) -> Option<&str> {
    if let Some((name, _)) = title.split_once(" · ") {
        return is_word(name).then_some(name);
    }
    let name = title.split_once(": ").map_or(title, |(name, _)| name);
    let name = name.split_once(" (").map_or(name, |(name, _)| name);
    let is_known = crate::source::category(&snake_case(name)) != Category::Other;
    // Tools are in lower case where words before a colon are not all tools.
    let is_tool = || name != title && !name.contains(char::is_uppercase);
    let means_tool = || is_tool() && tool::guess_category(name) != Category::Other;
    (is_word(name) && (is_known || means_tool())).then_some(name)
}

/// Returns the argument after the tool's name in a title.
pub(super) fn argument(title: &str) -> Option<&str> {
    in_title(title)?;
    let (_, argument) = title.split_once(" · ").or_else(|| title.split_once(": "))?;
    (!argument.is_empty()).then_some(argument)
}

/// Returns true for a word that could be a tool's name.
pub(super) fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_part)
}

pub(super) fn snake_case(word: &str) -> String {
    let mut snake = String::with_capacity(word.len() + 4);
    for (at, c) in word.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_name_the_tool_in_different_fields() {
        let named = |meta| in_meta(Json::parse(meta).unwrap());
        let name = Some("shell".to_owned());
        for meta in [
            r#"{"toolName":"shell"}"#,
            r#"{"tool_name":"shell","effect_kind":"x"}"#,
            r#"{"claudeCode":{"toolName":"shell"}}"#,
            r#"{"some":1,"goose":{"toolCall":{"toolName":"shell","extensionName":"e"}}}"#,
            r#"{"x.ai/tool":{"name":"shell","kind":"execute"}}"#,
        ] {
            assert_eq!(named(meta), name, "{meta}");
        }
        assert_eq!(named(r#"{"progress":{"name":"shell"}}"#), None);
        assert_eq!(named(r#"{"toolName":"","a":[]}"#), None);
        assert_eq!(named("[]"), None);
        let kind = |meta| kind_in_meta(Json::parse(meta).unwrap());
        let list = r#"{"x.ai/tool":{"name":"list_dir","kind":"list"}}"#;
        assert_eq!(kind(list), Some(Category::List));
        assert_eq!(kind(r#"{"x.ai/tool":{"kind":"hologram"}}"#), None);
    }

    #[test]
    fn titles_name_the_tool_before_its_argument() {
        for (title, name, arg) in [
            ("Glob", Some("Glob"), None),
            ("shell · ls · x", Some("shell"), Some("ls · x")),
            ("hologram · x", Some("hologram"), Some("x")),
            ("terminal: ls -la", Some("terminal"), Some("ls -la")),
            ("search: TODO", Some("search"), Some("TODO")),
            ("patch (replace): a.rs", Some("patch"), Some("a.rs")),
            ("Hologram", None, None),
            ("Check callers of remove", None, None),
            ("note: shell", None, None),
            ("Running: ls", None, None),
            ("", None, None),
        ] {
            assert_eq!((in_title(title), argument(title)), (name, arg), "{title}");
        }
    }
}
