//! Generates the seeds of a target from the recordings: `seeds TARGET FOLDER`,
//! in the directory `fuzz`. `run` compiles it without the flags of the targets,
//! so it uses only the standard library.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Bytes of a recording per seed.
const LENGTH: usize = 3000;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, folder] = arguments.as_slice() else {
        return Err(io::Error::other("seeds TARGET FOLDER"));
    };
    fs::create_dir_all(folder)?;
    let seeds = match target.as_str() {
        "reader" => streams(&[7])?,
        "events" => streams(&[60])?,
        "html" => streams(&[])?,
        "markdown" | "wrap" => texts(&[60, 67])?,
        "capture" => strings(&["\\u001b", "\\r"], &[5])?,
        "patch" => changes()?,
        _ => return Err(io::Error::other(format!("no seeds for {target}"))),
    };
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(Path::new(folder).join(format!("{number:05}")), seed)?;
    }
    println!("{} seeds for {target}", seeds.len());
    Ok(())
}

/// Returns the first bytes of each recording, and the last ones with the
/// provider's number; then events of unspool's own format. `header` follows the
/// number.
fn streams(header: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let providers = providers()?;
    let number = |name: &str| -> io::Result<u8> {
        let place = providers.iter().position(|provider| provider == name);
        let place = place.ok_or_else(|| io::Error::other(format!("no provider {name}")))?;
        u8::try_from(place + 1).map_err(io::Error::other)
    };
    let mut seeds = Vec::new();
    let mut add = |number: u8, bytes: &[u8]| seeds.push([&[number], header, bytes].concat());
    for folder in files("../tests/corpus", 0)? {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !folder.is_dir() {
            continue;
        }
        let number = number(&name)?;
        for file in files(folder, usize::MAX)? {
            let bytes = fs::read(&file)?;
            if has_extension(&file, &["jsonl", "json", "txt", "md"]) {
                add(0, &bytes[..bytes.len().min(LENGTH)]);
                add(number, &bytes[bytes.len().saturating_sub(LENGTH)..]);
            }
        }
    }
    let own = number("own")?;
    for file in files("../tests/corpus", usize::MAX)?.iter().step_by(5) {
        if has_extension(file, &["snap"]) {
            let text = fs::read_to_string(file)?;
            let (_, events) = text.split_once("\n---\n").unwrap_or_default();
            add(own, &events.as_bytes()[..events.len().min(LENGTH)]);
        }
    }
    Ok(seeds)
}

/// Returns the providers in the order of their table.
fn providers() -> io::Result<Vec<String>> {
    let source = fs::read_to_string("../crates/unspool/src/source.rs")?;
    let table = source.split("pub const BUILTIN").nth(1).unwrap_or_default();
    let names: Vec<String> = table
        .lines()
        .take_while(|line| *line != "];")
        .filter_map(|line| line.trim().strip_suffix("::PROVIDER,"))
        .map(str::to_owned)
        .collect();
    if names.is_empty() {
        return Err(io::Error::other("no table of providers in source.rs"));
    }
    Ok(names)
}

/// Returns golden answers and documentation pages.
fn texts(header: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for folder in ["../tests/answers", "../docs", ".."] {
        let depth = if folder == ".." { 0 } else { usize::MAX };
        for file in files(folder, depth)? {
            if has_extension(&file, &["md", "txt", "snap"]) {
                let bytes = fs::read(&file)?;
                seeds.push([header, &bytes[..bytes.len().min(LENGTH / 2)]].concat());
            }
        }
    }
    Ok(seeds)
}

/// Returns the decoded strings of the recordings that contain one of the marks.
fn strings(marks: &[&str], header: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for file in files("../tests/corpus", usize::MAX)? {
        if !has_extension(&file, &["jsonl", "json"]) {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let strings = text.split(['"', '\n']);
        let wanted = strings.filter(|string| marks.iter().any(|sign| string.contains(sign)));
        found.extend(wanted.map(str::to_owned));
    }
    found.sort();
    found.dedup();
    // Take about 400: many are prefixes of others.
    let step = found.len() / 400 + 1;
    let decode = |string: &String| [header, decoded(string).as_bytes()].concat();
    Ok(found.iter().step_by(step).map(decode).collect())
}

fn changes() -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = strings(&["*** Begin Patch", "@@ -", "diff --git"], &[])?;
    seeds.push(b"a\nb\nc\n\0a\nd\nc\n".to_vec());
    seeds.push(b"fn a() {\r\n}\r\n\0fn b() {\r\n}".to_vec());
    Ok(seeds)
}

/// Decodes the common JSON escapes and that of ESC.
fn decoded(string: &str) -> String {
    let mut text = string.to_owned();
    for (escape, character) in [
        ("\\n", "\n"),
        ("\\r", "\r"),
        ("\\t", "\t"),
        ("\\u001b", "\u{1B}"),
        ("\\u0007", "\u{7}"),
        ("\\b", "\u{8}"),
        ("\\\\", "\\"),
    ] {
        text = text.replace(escape, character);
    }
    let mut end = text.len().min(LENGTH);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let name = path.file_name().unwrap_or_default();
    extensions.contains(&extension.as_ref()) && name != "README.md"
}

/// Returns the files in a directory down to a depth, in order.
fn files(folder: impl AsRef<Path>, depth: usize) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && depth > 0 {
            found.extend(files(path, depth - 1)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
