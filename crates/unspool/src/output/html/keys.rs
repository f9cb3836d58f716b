//! The keys of a page. They are those of `unspool view`; the terminal app
//! compares its table with this one.

/// A key of a page.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The names of the keys, as the browser reports them.
    pub keys: &'static [&'static str],
    /// Description for the help.
    pub words: &'static str,
    /// True if the terminal app has no such command.
    pub is_page_only: bool,
}

const fn key(keys: &'static [&'static str], words: &'static str) -> Key {
    Key {
        keys,
        words,
        is_page_only: false,
    }
}

const fn page_only(keys: &'static [&'static str], words: &'static str) -> Key {
    Key {
        is_page_only: true,
        ..key(keys, words)
    }
}

/// All keys. The help shows two in a row.
pub const KEYS: &[Key] = &[
    key(&["j"], "one line down"),
    key(&["k"], "one line up"),
    key(&["J"], "next entry"),
    key(&["K"], "previous entry"),
    key(&["p"], "next prompt"),
    key(&["P"], "previous prompt"),
    key(&["e"], "next error"),
    key(&["E"], "previous error"),
    key(&["d"], "next edit"),
    key(&["D"], "previous edit"),
    key(&["g"], "to the start"),
    key(&["G"], "to the end"),
    key(&["l"], "show more of the entry"),
    key(&["h"], "show less of the entry"),
    key(&["a"], "expand all"),
    key(&["z"], "fold all"),
    key(&["n"], "next match"),
    key(&["N"], "previous match"),
    key(&["/"], "search"),
    key(&["Escape"], "end the search"),
    key(&["Enter", "o"], "fold or unfold the selection"),
    key(&["="], "reset folding"),
    key(&["b"], "a page up"),
    key(&["f"], "filter by kind"),
    key(&["y"], "copy the entry"),
    key(&["s"], "toggle side-by-side changes"),
    page_only(&["c"], "outline"),
    page_only(&["T"], "light or dark"),
    key(&["?"], "all keys"),
];

/// Returns the rows of the help.
pub(super) fn help() -> String {
    let row = |key: &Key| {
        let shown = |name: &&str| match *name {
            "Escape" => "<kbd>Esc</kbd>".to_owned(),
            name => format!("<kbd>{name}</kbd>"),
        };
        let keys: Vec<String> = key.keys.iter().map(shown).collect();
        let (keys, words) = (keys.join(" "), key.words);
        format!("<div><dt>{keys}</dt><dd>{words}</dd></div>\n")
    };
    KEYS.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the keys that the script handles.
    fn handled() -> Vec<String> {
        let script = super::super::SCRIPT;
        let table = script.split("const KEYS = {").nth(1).unwrap();
        let table = table.split("\n  };").next().unwrap();
        let mut names = Vec::new();
        let mut depth = 0;
        let mut name = String::new();
        for character in table.chars() {
            match character {
                '{' | '(' => depth += 1,
                '}' | ')' => depth -= 1,
                ':' if depth == 0 => {
                    names.push(name.trim().trim_matches('"').to_owned());
                }
                _ => {}
            }
            if depth == 0 && character == ',' {
                name.clear();
            } else {
                name.push(character);
            }
        }
        names
    }

    #[test]
    fn the_script_handles_the_keys_of_the_table() {
        let mut handled = handled();
        let mut listed: Vec<&str> = KEYS.iter().flat_map(|key| key.keys).copied().collect();
        handled.sort_unstable();
        listed.sort_unstable();
        assert_eq!(handled, listed);
    }
}
