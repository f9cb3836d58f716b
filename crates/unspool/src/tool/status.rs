//! Reads the sections of codalotl's checks, such as
//! `<test-status ok="false">…</test-status>`. Their text is not escaped.

/// A section of a check's result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Status<'a> {
    /// The name of the tag without `-status`: `test`, `lint`, `diagnostics`.
    pub(crate) name: &'a str,
    /// The outcome, if known.
    pub(crate) ok: Option<bool>,
    /// The text between the tags.
    pub(crate) text: &'a str,
}

/// Splits a result into its sections; returns none if it contains anything else.
pub(crate) fn statuses(text: &str) -> Vec<Status<'_>> {
    let mut rest = text.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let Some((status, after)) = status(rest) else {
            return Vec::new();
        };
        found.push(status);
        rest = after.trim_start();
    }
    found
}

/// Reads the section at the start of a text; returns it with the text after it.
fn status(text: &str) -> Option<(Status<'_>, &str)> {
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
    let name = name.strip_suffix("-status")?;
    let close = format!("</{name}-status>");
    let is_end = |at: usize| {
        let before = rest.get(..at).unwrap_or_default();
        let after = rest.get(at + close.len()..).unwrap_or_default();
        (before.is_empty() || before.ends_with('\n'))
            && (after.is_empty() || after.starts_with(['\n', '\r']))
    };
    let (end, _) = rest.match_indices(&close).find(|(at, _)| is_end(*at))?;
    let status = Status {
        name,
        ok: ok(attributes),
        text: rest.get(..end)?,
    };
    Some((status, rest.get(end + close.len()..)?))
}

fn ok(attributes: &str) -> Option<bool> {
    let value = attributes.split_once("ok=")?.1;
    let value = value.trim_start_matches(['"', '\'']);
    match value.split(['"', '\'', ' ']).next()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read_one_after_the_other() {
        let text = "<test-status ok=\"true\">\n$ go test .\nsaw </test-status> in a log\n</test-status>\n<lint-status ok=\"false\">\nx\n</lint-status>\n<lint-status ok=\"unknown\" message=\"no linters\"></lint-status>";
        let read: Vec<(&str, Option<bool>, &str)> = statuses(text)
            .into_iter()
            .map(|status| (status.name, status.ok, status.text.trim()))
            .collect();
        assert_eq!(
            read,
            [
                (
                    "test",
                    Some(true),
                    "$ go test .\nsaw </test-status> in a log"
                ),
                ("lint", Some(false), "x"),
                ("lint", None, ""),
            ]
        );
    }

    #[test]
    fn other_texts_have_no_sections() {
        for text in [
            "",
            "plain",
            "<r>\nx\n</r>",
            "<test-status ok=\"true\">\nx",
            "<test-status>\nx\n</test-status>\nmore",
            "Applied.\n<lint-status ok=\"false\">\nx\n</lint-status>",
        ] {
            assert_eq!(statuses(text), [], "{text}");
        }
    }
}
