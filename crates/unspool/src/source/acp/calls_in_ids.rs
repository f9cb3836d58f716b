//! Names of tools in the ids of calls. Gemini CLI and its forks write
//! `TOOL__ID`, where the id is the provider's, or `TOOL_TIME_NUMBER` if it gave
//! none; older versions write `TOOL-TIME-NUMBER`.
//!
//! Names of servers' tools and ids may contain `__` too. The name is then the one
//! that the id repeats, that the title ends, that is known, or the longest.

/// Maximum length of a tool's name; the API accepts half of it.
const NAME_LENGTH: usize = 128;

/// Returns the tool's name in the id of a call. With `is_gemini`, the name need not
/// be known.
pub(super) fn tool<'a>(id: &'a str, title: &str, is_gemini: bool) -> Option<&'a str> {
    let made_up = |name: &str, rest: &str| {
        let repeated = rest.strip_prefix(name);
        repeated.is_some_and(|rest| rest.starts_with('_')) || rest.starts_with("synth_")
    };
    let served = server_tool(title);
    let is_served = |name: &str| served.as_deref().is_some_and(|tool| name.ends_with(tool));
    let is_known = |name: &str| crate::source::category(name) != crate::event::Category::Other;
    let find = |fits: &dyn Fn(&str, &str) -> bool| {
        let mut splits = splits(id);
        splits.find(|(name, rest)| fits(name, rest))
    };
    let found = find(&made_up)
        .or_else(|| find(&|name, _| is_served(name)))
        .or_else(|| find(&|name, _| is_known(name)))
        .or_else(|| {
            splits(id)
                .last()
                .filter(|(name, _)| is_gemini || is_foreign(name))
        });
    match found {
        Some((name, _)) => Some(name),
        None => timed(id).filter(|name| is_gemini || is_known(name)),
    }
}

/// Returns true for the prefixes of tools that are not Gemini's own.
fn is_foreign(name: &str) -> bool {
    name.starts_with("mcp_") || name.starts_with("discovered_tool_")
}

/// Returns the parts before and after each `__`, where the first can be a name.
fn splits(id: &str) -> impl Iterator<Item = (&str, &str)> {
    let places = (1..=NAME_LENGTH).map_while(|at| id.split_at_checked(at));
    places.filter_map(|(name, rest)| {
        let rest = rest.strip_prefix("__")?;
        (is_name(name) && !rest.is_empty()).then_some((name, rest))
    })
}

/// Reads `TOOL-TIME-NUMBER` or `TOOL-TIME`, with the time in milliseconds.
fn timed(id: &str) -> Option<&str> {
    let is_time = |text: &str| text.len() >= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, last) = id.rsplit_once('-')?;
    let name = if is_time(last) {
        rest
    } else {
        let (name, time) = rest.rsplit_once('-')?;
        is_time(time).then_some(name)?
    };
    (is_name(name) && name.len() <= NAME_LENGTH).then_some(name)
}

/// Returns the name in a title `NAME (SERVER MCP Server)`, as ids spell it.
fn server_tool(title: &str) -> Option<String> {
    let (name, server) = title.rsplit_once(" (")?;
    server.strip_suffix(" MCP Server)")?;
    let spelled = name.chars().map(|c| if is_part(c) { c } else { '_' });
    Some(spelled.collect()).filter(|name: &String| !name.is_empty())
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')
}

/// Returns true for a word that can be a tool's name in an id.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.contains(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_before_any_provider_id() {
        for (id, name) in [
            ("glob__c1-91c2", Some("glob")),
            ("glob__glob_1794767867452_0", Some("glob")),
            (
                "run_shell_command__call_00__x__y",
                Some("run_shell_command"),
            ),
            ("mcp_docs_find__c1-91c2", Some("mcp_docs_find")),
            ("mcp_gate_git__list__abc", Some("mcp_gate_git__list")),
            ("mcp__a__mcp__a_1_0", Some("mcp__a")),
            ("mcp_a_b___c1", Some("mcp_a_b_")),
            ("mcp_a__b__synth_p__q_1_0", Some("mcp_a__b")),
            ("read_many_files-1794766834418-1", Some("read_many_files")),
            ("glob-1794766834418", Some("glob")),
            ("glob-1794766834418-8f3a", Some("glob")),
            ("toolu_01", None),
            ("call__abc", None),
            ("__glob__x", None),
            ("glob__", None),
            ("glob", None),
            ("", None),
            ("a b__c", None),
            ("\u{1b}[31mglob__c", None),
            ("é__é_1", None),
        ] {
            assert_eq!(tool(id, "", false), name, "{id}");
        }
    }

    #[test]
    fn a_known_agent_or_title_decides_about_unknown_names() {
        assert_eq!(tool("weather__c1", "", false), None);
        assert_eq!(tool("weather__c1", "", true), Some("weather"));
        assert_eq!(tool("weather-1794766834418-1", "", true), Some("weather"));
        let id = "mcp_gate_git__list__a__b";
        assert_eq!(
            tool(id, "git__list (gate MCP Server)", true),
            Some("mcp_gate_git__list")
        );
        assert_eq!(tool(id, "", true), Some("mcp_gate_git__list__a"));
    }

    #[test]
    fn a_hostile_id_takes_no_more_time() {
        let id = "_".repeat(1_000_000) + "a__b";
        assert_eq!(tool(&id, "", true), None);
        let id = "a__".repeat(1_000_000);
        assert_eq!(tool(&id, "", true), Some("a"));
    }
}
