//! Hostile text in every string of every event: nothing harmful reaches the
//! output.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde_json::Value;
use unspool::layout;

use crate::samples::samples;
use crate::{answers, entries, events, formatter};

/// Fields that are not free text.
const WORDS: &[&str] = &["/kind", "/time", "/id", "/category", "/status", "/level"];

/// Placeholder for the hostile text until the line is written.
const MARK: &str = "@@HOSTILE@@";

/// Returns hostile texts as contents of JSON strings, some of them not UTF-8.
fn texts() -> Vec<Vec<u8>> {
    // A letter precedes each character, so that none can be part of an emoji or
    // of a word's spelling.
    let escaped = |characters: &mut dyn Iterator<Item = char>| {
        let text: String = characters.flat_map(|c| ['x', c]).collect();
        inside(&text)
    };
    let mut texts = vec![
        escaped(&mut ('\0'..='\u{7F}')),
        escaped(&mut ('\u{80}'..='\u{FF}')),
        escaped(&mut spoofing()),
        // Lone surrogates, invalid UTF-8, and C1 controls as single bytes,
        // which old terminals obey.
        br"a\ud800b\udfffc\udc00\ud800d\ud83d".to_vec(),
        b"a\xFFb\xFE\x80c\xC0\xAFd\xED\xA0\x80e\xF4\x90\x80\x80f\x9B2Jg\x9D0;t\x9Ch\xE2\x80"
            .to_vec(),
    ];
    let sequences = [
        &[
            "\u{1B}]0;title\u{7}",
            "\u{1B}]52;c;ZXZpbA==\u{1B}\\",
            "\u{1B}]8;;https://evil.example/\u{1B}\\text\u{1B}]8;;\u{1B}\\",
            "\u{1B}P+q544e\u{1B}\\",
            "\u{1B}P$qm\u{1B}\\",
            "\u{1B}Pq#0;2;0;0;0#0~~@@vv$-\u{1B}\\",
            "\u{1B}[?1049h\u{1B}[>4;1m\u{1B}[=1c\u{1B}[6n\u{1B}[31;38:2::1:2:3m\u{1B}[2J\u{1B}[1;1H",
            "\u{1B}c\u{1B}(0\u{1B}#8\u{1B}_apc\u{1B}\\\u{1B}^pm\u{1B}\\\u{1B}Xsos\u{1B}\\",
            "\u{90}dcs\u{9C}\u{9D}0;x\u{9C}\u{9B}31m",
            "\u{1B}[?2004h\u{1B}[200~rm -rf /\n\u{1B}[201~\u{9B}200~",
            "\u{1B}[c\u{1B}[>c\u{1B}Z\u{1B}[5n\u{1B}[?6n\u{1B}[18t\u{1B}[?u\u{1B}]10;?\u{7}\u{1B}]4;1;?\u{7}",
            "\u{1B}]9;notify\u{7}\u{1B}]777;notify;a;b\u{7}\u{1B}]1337;File=inline=1:AAAA\u{7}\u{1B}_Gf=24;AAAA\u{1B}\\",
        ],
        &[
            "\r\n\r\u{8}\u{8}\u{85}\u{2028}\u{2029}\u{B}\u{C}",
            "[a](https://example.com/\u{1B}]52;c;eA==\u{7}\u{202E}) <https://example.com/\u{9B}x>",
            "[b](<https://example.com/ \u{7} ü \u{200B}> \"\u{1B}[1m\") ![i](\u{1B}[2J.png)",
            "\n```\u{1B}[31m\n\u{1B}]0;x\u{7}\n```\n<script>\u{1B}[1m</script>\n|a|\n|-|\n|\u{1B}[2J\t|\n",
            "&#27;]0;x&#7; &#x9b;2J &#x202e; &zwnj; &ZeroWidthSpace; &#0; &shy;",
        ][..],
    ];
    texts.extend(sequences.map(|sequences| inside(&sequences.join(" z "))));
    texts
}

/// Returns the text as the content of a JSON string.
pub(crate) fn inside(text: &str) -> Vec<u8> {
    let json = serde_json::to_vec(text).unwrap();
    json[1..json.len() - 1].to_vec()
}

/// Invisible characters and those that reorder text.
const SPOOFING: [RangeInclusive<char>; 19] = [
    '\u{AD}'..='\u{AD}',
    '\u{34F}'..='\u{34F}',
    '\u{61C}'..='\u{61C}',
    '\u{115F}'..='\u{1160}',
    '\u{17B4}'..='\u{17B5}',
    '\u{180B}'..='\u{180F}',
    '\u{200B}'..='\u{200F}',
    '\u{2028}'..='\u{202E}',
    '\u{2060}'..='\u{206F}',
    '\u{3164}'..='\u{3164}',
    '\u{FE00}'..='\u{FE0F}',
    '\u{FEFF}'..='\u{FEFF}',
    '\u{FFA0}'..='\u{FFA0}',
    '\u{FFF9}'..='\u{FFFB}',
    '\u{1BCA0}'..='\u{1BCA3}',
    '\u{1D173}'..='\u{1D17A}',
    '\u{E0001}'..='\u{E0001}',
    '\u{E0020}'..='\u{E007F}',
    '\u{E0100}'..='\u{E010F}',
];

fn spoofing() -> impl Iterator<Item = char> {
    SPOOFING.into_iter().flatten()
}

fn is_harmful(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control() && character != '\n';
    }
    character.is_control() || SPOOFING.iter().any(|range| range.contains(&character))
}

/// Collects the paths of all strings of a value, except field names.
pub(crate) fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                leaves(value, &format!("{path}/{key}"), found);
            }
        }
        _ => {}
    }
}

/// Returns the lines of a sample with a hostile text in one of its strings:
/// alone, or within the original text.
pub(crate) fn poisoned(
    sample: &[Value],
    at: usize,
    path: &str,
    alone: bool,
    text: &[u8],
) -> Vec<u8> {
    let mut lines = Vec::new();
    for (index, event) in sample.iter().enumerate() {
        let mut event = event.clone();
        if index == at {
            let leaf = event.pointer_mut(path).unwrap();
            let words = leaf.as_str().unwrap().to_owned();
            *leaf = if alone {
                MARK.into()
            } else {
                format!("{words} {MARK} {words}").into()
            };
        }
        let line = event.to_string();
        for (index, piece) in line.split(MARK).enumerate() {
            if index > 0 {
                lines.extend_from_slice(text);
            }
            lines.extend_from_slice(piece.as_bytes());
        }
        lines.push(b'\n');
    }
    lines
}

/// Removes SGR sequences and OSC 8 links; fails at any other sequence.
fn without_codes(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1B}') {
        plain.push_str(before);
        rest = if let Some(sgr) = after.strip_prefix('[') {
            let parameters = sgr.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
            parameters
                .strip_prefix('m')
                .ok_or("a sequence that is not SGR")?
        } else if let Some(link) = after.strip_prefix("]8;;") {
            let (address, after) = link.split_once("\u{1B}\\").ok_or("a link without an end")?;
            if !address.chars().all(|c| c.is_ascii_graphic()) {
                return Err(format!("the address {address:?}"));
            }
            after
        } else {
            return Err(format!("ESC before {:?}", after.chars().next()));
        };
    }
    plain.push_str(rest);
    Ok(plain)
}

fn check(lines: &[u8]) {
    let shown = String::from_utf8_lossy(lines);
    let events = events(lines);
    let (plain, coloured) = (formatter(true), formatter(false));
    for entry in entries(&events) {
        for width in [0, 31, 80] {
            let text = plain.format_entry(&entry, width);
            if let Some(harmful) = text.chars().find(|c| is_harmful(*c)) {
                panic!("{harmful:?} at width {width} of\n{shown}\nin {text:?}");
            }
            let cells = text.lines().map(layout::width).max().unwrap_or(0);
            assert!(
                width == 0 || cells <= width,
                "{cells} at {width} of\n{shown}"
            );
            let colours = coloured.format_entry(&entry, width);
            match without_codes(&colours) {
                Ok(stripped) => assert_eq!(stripped, text, "width {width} of\n{shown}"),
                Err(error) => panic!("{error} at width {width} of\n{shown}\nin {colours:?}"),
            }
        }
    }
    let text = answers(&events);
    if let Some(harmful) = text.chars().find(|c| is_harmful(*c)) {
        panic!("{harmful:?} in an answer of\n{shown}\nin {text:?}");
    }
}

/// Returns every string of every sample: the sample, the event's index and the
/// path.
pub(crate) fn cases(samples: &[Vec<Value>]) -> Vec<(&Vec<Value>, usize, String)> {
    let mut cases = Vec::new();
    let mut seen = HashSet::new();
    for sample in samples {
        for (at, event) in sample.iter().enumerate() {
            let mut paths = Vec::new();
            leaves(event, "", &mut paths);
            // Words of closed sets are tested once per kind.
            let is_word = |path: &str| WORDS.contains(&path);
            paths.retain(|path| {
                !is_word(path) || seen.insert((event["kind"].to_string(), path.clone()))
            });
            cases.extend(paths.into_iter().map(|path| (sample, at, path)));
        }
    }
    assert!(cases.len() > 400, "only {} strings", cases.len());
    cases
}

#[test]
fn no_field_lets_harmful_text_through() {
    let (samples, texts) = (samples(), texts());
    let cases = cases(&samples);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for part in cases.chunks(cases.len().div_ceil(cores)) {
            let texts = &texts;
            scope.spawn(move || {
                for (sample, at, path) in part {
                    for text in texts {
                        check(&poisoned(sample, *at, path, true, text));
                        check(&poisoned(sample, *at, path, false, text));
                    }
                }
            });
        }
    });
}

/// The events' contract lists the kinds and the words of closed sets: the
/// samples must contain them all.
#[test]
fn the_samples_are_complete() {
    let contract = include_str!("../../../../docs/events.md");
    let samples = samples();
    let has = |field: &str, word: &str| {
        samples.iter().flatten().any(|event| {
            let text = event.to_string();
            text.contains(&format!("\"{field}\":\"{word}\""))
        })
    };
    let rows = |title: &str| -> Vec<(String, Vec<String>)> {
        let table = contract.split(title).nth(1).unwrap();
        let lines = table.lines().skip_while(|line| !line.starts_with("|---"));
        let words = |cell: &str| -> Vec<String> {
            cell.split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect()
        };
        lines
            .skip(1)
            .take_while(|line| line.starts_with('|'))
            .map(|line| {
                let (name, rest) = line.trim_start_matches('|').split_once('|').unwrap();
                (words(name)[0].clone(), words(rest))
            })
            .collect()
    };
    let kinds = rows("## Kinds");
    assert_eq!(kinds.len(), 17);
    for (kind, fields) in kinds {
        assert!(has("kind", &kind), "{kind}");
        for field in fields.iter().filter(|field| *field != "text") {
            let field = format!("\"{field}\":");
            let found = samples.iter().flatten().any(|event| {
                (event["kind"] == kind.as_str() || kind == "reasoning")
                    && event.to_string().contains(&field)
            });
            assert!(found, "{kind} without {field}");
        }
    }
    for (field, words) in rows("Closed sets of words") {
        let field = field.rsplit(['.', ']']).next().unwrap().to_owned();
        for word in words {
            assert!(has(&field, &word), "{field} {word}");
        }
    }
}
