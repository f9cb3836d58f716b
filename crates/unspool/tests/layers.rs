//! Checks that no module imports against the direction of the pipeline.

use std::path::Path;

/// Each stage, and the modules that it may import.
const ALLOWED: &[(&str, &[&str])] = &[
    ("construct", &[]),
    ("json", &[]),
    ("event", &["json"]),
    ("frame", &["json"]),
    ("tool", &["event", "json"]),
    ("patch", &["event"]),
    (
        "source",
        &[
            "frame", "event", "json", "tool", "patch", "terminal", "source",
        ],
    ),
    ("reader", &["frame", "event", "json", "source"]),
    ("sanitize", &[]),
    ("palette", &[]),
    ("terminal", &["palette"]),
    ("session", &["event", "tool"]),
    ("stats", &["event"]),
    ("redact", &["event"]),
    ("transcript", &["event", "session", "stats"]),
    ("timeline", &["event", "session", "transcript"]),
    (
        "doc",
        &[
            "session", "event", "json", "tool", "patch", "sanitize", "palette", "terminal",
        ],
    ),
    ("theme", &["doc", "palette"]),
    ("layout", &["doc"]),
    ("output", &["layout", "doc", "theme", "sanitize"]),
    ("answer", &["event", "sanitize"]),
    (
        "formatter",
        &[
            "event", "session", "doc", "layout", "output", "theme", "sanitize",
        ],
    ),
];

/// Files that only exist in tests, which may import everything.
const TEST_ONLY: &[&str] = &["tests.rs", "source/replay.rs"];

#[test]
fn modules_import_only_earlier_stages() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let pattern = format!("{}/**/*.rs", src.display());
    let mut checked = 0;
    for path in glob::glob(&pattern).expect("a valid pattern").flatten() {
        let relative = path.strip_prefix(&src).expect("a path below src");
        let stage = relative
            .iter()
            .next()
            .expect("a name")
            .to_string_lossy()
            .replace(".rs", "");
        if stage == "lib" {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(name, _)| *name == stage);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{stage} has no place in the picture"));
        if TEST_ONLY.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let code = std::fs::read_to_string(&path).expect("a readable file");
        let code = code
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        for import in code.split("crate::").skip(1) {
            let module: String = import
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            assert!(
                module == stage || allowed.contains(&module.as_str()),
                "{} uses crate::{module}",
                relative.display()
            );
        }
        checked += 1;
    }
    assert!(checked > 15, "only {checked} files found");
}
