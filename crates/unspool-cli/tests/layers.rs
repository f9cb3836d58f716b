//! The picture of crates and modules in ARCHITECTURE.md, compared with the tree.
//!
//! The block labelled `modules` has a section for each crate: a line with the
//! crates that it depends on, and below it its top-level modules in layers. A module
//! may import those of the lines below its own, and nothing else of its crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate as the picture has it.
#[derive(Default)]
struct Pictured {
    dependencies: BTreeSet<String>,
    /// Each module, with the number of its line: imports lead to higher numbers.
    layers: BTreeMap<String, usize>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Parses the picture, by the names of the crates.
fn picture() -> BTreeMap<String, Pictured> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let block = text.split("```text modules\n").nth(1);
    let block = block.expect("ARCHITECTURE.md has a block labelled `text modules`");
    let block = block.split("```").next().unwrap_or_default();
    let mut crates: BTreeMap<String, Pictured> = BTreeMap::new();
    let mut current = String::new();
    for (number, line) in block.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(' ') {
            let (name, dependencies) = line.split_once('→').unwrap_or((line, ""));
            name.trim().clone_into(&mut current);
            let dependencies = dependencies.split(',').map(str::trim);
            let dependencies = dependencies.filter(|name| !name.is_empty());
            let pictured = crates.entry(current.clone()).or_default();
            pictured.dependencies = dependencies.map(str::to_owned).collect();
            continue;
        }
        let pictured = crates.get_mut(&current).expect("modules below a crate");
        for module in line.split_whitespace() {
            let before = pictured.layers.insert(module.to_owned(), number);
            assert!(before.is_none(), "{current} has {module} twice");
        }
    }
    crates
}

/// The folders of the crates, by name.
fn crates() -> BTreeMap<String, PathBuf> {
    let pattern = root().join("crates/*/Cargo.toml");
    let manifests = glob::glob(&pattern.to_string_lossy()).expect("a valid pattern");
    let folders = manifests.flatten().filter_map(|manifest| {
        let folder = manifest.parent()?.to_owned();
        Some((folder.file_name()?.to_string_lossy().into_owned(), folder))
    });
    folders.collect()
}

/// The names below a heading of a crate's manifest.
fn dependencies(folder: &Path, heading: &str) -> BTreeSet<String> {
    let manifest: toml::Table = read(&folder.join("Cargo.toml"))
        .parse()
        .expect("valid TOML");
    let table = manifest.get(heading).and_then(toml::Value::as_table);
    table
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

/// The top-level modules of a crate, by the files in its folder.
fn modules(source: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(source).expect("a folder of sources").flatten();
    let names = entries.filter_map(|entry| {
        let path = entry.path();
        let is_module = path.extension().is_some_and(|extension| extension == "rs");
        Some(path.file_stem()?.to_string_lossy().into_owned()).filter(|_| is_module)
    });
    names
        .filter(|name| name != "lib" && name != "main")
        .collect()
}

#[test]
fn architecture_names_every_crate_and_module() {
    let (picture, crates) = (picture(), crates());
    let pictured: Vec<&String> = picture.keys().collect();
    let there: Vec<&String> = crates.keys().collect();
    assert_eq!(pictured, there, "crates of the picture, and of the tree");
    for (name, folder) in &crates {
        let pictured: BTreeSet<String> = picture[name].layers.keys().cloned().collect();
        assert_eq!(pictured, modules(&folder.join("src")), "modules of {name}");
    }
}

#[test]
fn crates_depend_on_each_other_as_pictured() {
    let (picture, crates) = (picture(), crates());
    for (name, folder) in &crates {
        let all = dependencies(folder, "dependencies");
        let ours: BTreeSet<String> = all
            .iter()
            .filter(|one| crates.contains_key(*one))
            .cloned()
            .collect();
        assert_eq!(picture[name].dependencies, ours, "dependencies of {name}");
        let has_clap = all.iter().any(|one| one.starts_with("clap"));
        assert_eq!(has_clap, name == "unspool-cli", "{name} and clap");
    }
}

/// The order that a change of the picture has to keep.
#[test]
fn crates_depend_downwards() {
    const BELOW: &[(&str, &[&str])] = &[
        ("fake-agent", &[]),
        ("unspool", &[]),
        ("unspool-acp", &["unspool"]),
        ("unspool-sessions", &["unspool"]),
        (
            "unspool-tui",
            &["unspool", "unspool-acp", "unspool-sessions"],
        ),
        (
            "unspool-cli",
            &["unspool", "unspool-acp", "unspool-sessions", "unspool-tui"],
        ),
    ];
    for (name, pictured) in picture() {
        let below = BELOW.iter().find(|(known, _)| *known == name);
        let (_, below) = below.unwrap_or_else(|| panic!("{name} has no place in the order"));
        for dependency in &pictured.dependencies {
            assert!(
                below.contains(&dependency.as_str()),
                "{name} → {dependency}"
            );
        }
    }
}

#[test]
fn modules_import_only_the_layers_below_them() {
    let picture = picture();
    let mut checked = 0;
    for (name, folder) in crates() {
        let source = Source::new(&folder.join("src"));
        let layers = &picture[&name].layers;
        for file in source.files() {
            let module = file.modules.first().expect("a module").as_str();
            for import in source.imports(&file) {
                assert!(
                    import == module || layers[&import] > layers[module],
                    "{name}: {} imports {import}, which is not below {module} in ARCHITECTURE.md",
                    file.path.display()
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 300, "only {checked} files found");
}

/// The sources of a crate.
struct Source {
    folder: PathBuf,
    modules: BTreeSet<String>,
    /// Names that the root re-exports, and the modules that they come from.
    exported: BTreeMap<String, String>,
}

/// A file, and the modules that lead to it.
struct File {
    path: PathBuf,
    modules: Vec<String>,
}

impl Source {
    fn new(folder: &Path) -> Self {
        let modules = modules(folder);
        let main = ["lib.rs", "main.rs"].map(|name| folder.join(name));
        let main = main.iter().find(|path| path.exists()).expect("a root");
        let mut exported = BTreeMap::new();
        for line in code(&read(main)).split("pub use ").skip(1) {
            let Some((module, names)) = line
                .split(';')
                .next()
                .and_then(|line| line.split_once("::"))
            else {
                continue;
            };
            let words = names
                .split(|c: char| !is_word(c))
                .filter(|word| !word.is_empty());
            exported.extend(words.map(|word| (word.to_owned(), module.to_owned())));
        }
        Self {
            folder: folder.to_owned(),
            modules,
            exported,
        }
    }

    /// The files of all modules, without those that are compiled for tests alone.
    fn files(&self) -> Vec<File> {
        let pattern = self.folder.join("**/*.rs");
        let paths = glob::glob(&pattern.to_string_lossy()).expect("a valid pattern");
        let files = paths.flatten().map(|path| {
            let relative = path.strip_prefix(&self.folder).expect("a path below src");
            let modules = relative.with_extension("");
            let modules = modules
                .iter()
                .map(|part| part.to_string_lossy().into_owned());
            File {
                modules: modules.collect(),
                path,
            }
        });
        files
            .filter(|file| !self.is_root(file) && !self.is_for_tests(file))
            .collect()
    }

    fn is_root(&self, file: &File) -> bool {
        file.modules.len() == 1 && !self.modules.contains(&file.modules[0])
    }

    /// Returns true if one of the modules that lead to a file is declared below
    /// `#[cfg(test)]`.
    fn is_for_tests(&self, file: &File) -> bool {
        (1..file.modules.len()).any(|depth| {
            let above: PathBuf = file.modules[..depth].iter().collect();
            let above = self.folder.join(above).with_extension("rs");
            let declared = format!("#[cfg(test)]\nmod {};", file.modules[depth]);
            fs::read_to_string(above).is_ok_and(|text| text.contains(&declared))
        })
    }

    /// The top-level modules that a file imports. Panics if it imports what the root
    /// itself defines: the root imports everything.
    fn imports(&self, file: &File) -> BTreeSet<String> {
        let text = read(&file.path);
        let text = code(
            text.split("#[cfg(test)]\nmod tests")
                .next()
                .unwrap_or_default(),
        );
        let to_root = "super::".repeat(file.modules.len());
        let mut found = BTreeSet::new();
        for start in ["crate::", &to_root] {
            for name in names_after(&text, start) {
                let exported = || self.exported.get(&name).cloned();
                let module = Some(name.clone()).filter(|name| self.modules.contains(name));
                match module.or_else(exported) {
                    Some(module) => found.extend([module]),
                    None if start == "crate::" => {
                        panic!("{} imports {name} from the root", file.path.display())
                    }
                    // A module within a file may be meant.
                    None => {}
                }
            }
        }
        found
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A text without the lines that are comments.
fn code(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first words of the paths that start with `start`, also within braces.
fn names_after(text: &str, start: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(start) {
        let (before, rest) = text.split_at(at);
        let before = before.chars().next_back();
        if before.is_some_and(|c| is_word(c) || c == ':') {
            continue;
        }
        let rest = rest.strip_prefix(start).unwrap_or_default();
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_words(list)),
            None => names.push(rest.chars().take_while(|c| is_word(*c)).collect()),
        }
    }
    names
}

/// The first word of each path in a list, up to the brace that ends it.
fn first_words(list: &str) -> Vec<String> {
    let (mut depth, mut current, mut paths) = (0, String::new(), Vec::new());
    for c in list.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => paths.push(std::mem::take(&mut current)),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                current.push(c);
            }
        }
    }
    paths.push(current);
    let first = |path: &String| path.trim().chars().take_while(|c| is_word(*c)).collect();
    paths
        .iter()
        .map(first)
        .filter(|name: &String| !name.is_empty())
        .collect()
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::one::A;\nuse crate::{two, three::{B, C}, four as d};\nlet x = crate::five::f(other_crate::six);";
    assert_eq!(
        names_after(text, "crate::"),
        ["one", "two", "three", "four", "five"]
    );
}

/// Only a whole response comes at once; its page says so, and how the others differ.
#[test]
fn pages_say_when_events_arrive() {
    let page = |name: &str| {
        let text = read(&root().join("docs/agents").join(name));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let burst = "all events are emitted together, after the response is complete";
    assert!(page("openai.md").contains(burst));
    for (name, cadence) in [
        ("claude-code.md", "word by word"),
        ("codex.md", "a message arrives when it is complete"),
        ("gemini-cli.md", "always streams words"),
        ("opencode.md", "a text arrives when it is complete"),
    ] {
        let text = page(name);
        assert!(text.contains(cadence), "{name}");
        assert!(!text.contains(burst), "{name}");
    }
}
