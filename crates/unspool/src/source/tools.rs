//! The categories of tools by name: those that many agents share, and those that
//! each agent lists in its descriptor.

use super::{BUILTIN, ToolNames};
use crate::event::Category;
use crate::tool::SHARED;

/// Returns the category of a tool that an agent's documentation or a recorded run
/// names; `other` for every other name.
///
/// All agents' tools are known to every source, because adapters, proxies and
/// protocols pass on the calls of other agents.
///
/// ```
/// use unspool::event::Category;
/// use unspool::source::category;
///
/// assert_eq!(category("Bash"), Category::Execute);
/// assert_eq!(category("run_shell_command"), Category::Execute);
/// assert_eq!(category("no_such_tool"), Category::Other);
/// ```
pub fn category(name: &str) -> Category {
    let tables = BUILTIN.iter().map(|provider| provider.tools);
    in_tables(std::iter::once(SHARED).chain(tables), name).unwrap_or(Category::Other)
}

/// Returns the category of a tool, by the agent's own table first.
pub(super) fn category_for(own: ToolNames, name: &str) -> Category {
    in_tables(std::iter::once(own), name).unwrap_or_else(|| category(name))
}

fn in_tables(tables: impl Iterator<Item = ToolNames>, name: &str) -> Option<Category> {
    let lower = name.to_ascii_lowercase();
    tables
        .flatten()
        .find(|(_, names)| names.contains(&lower.as_str()))
        .map(|(category, _)| *category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_older_versions_are_known() {
        assert_eq!(category("shell_command"), Category::Execute);
        assert_eq!(category("codebase_investigator"), Category::Task);
        assert_eq!(category("delegate_to_agent"), Category::Task);
    }

    #[test]
    fn no_two_agents_give_one_name_to_different_categories() {
        let mut known: Vec<(&str, Category)> = Vec::new();
        let tables = BUILTIN.iter().map(|provider| provider.tools);
        for (category, names) in std::iter::once(SHARED).chain(tables).flatten() {
            for name in *names {
                let other = known.iter().find(|(one, _)| one == name);
                assert!(other.is_none_or(|(_, one)| one == category), "{name}");
                known.push((name, *category));
            }
        }
    }

    #[test]
    fn the_agents_own_table_comes_first() {
        let own: ToolNames = &[(Category::Fetch, &["read"])];
        assert_eq!(category_for(own, "Read"), Category::Fetch);
        assert_eq!(category_for(own, "Bash"), Category::Execute);
    }
}
