//! Makes untrusted text safe for terminals and visible to readers.
//!
//! Agents pass on files, web pages and program output. A control character
//! could move the cursor, write the clipboard or hide text; a bidi override
//! could show code in another order than a compiler reads it. Everything that
//! enters a document is sanitised here, after which no invisible character is
//! left:
//!
//! | in | out |
//! |---|---|
//! | tab | four spaces |
//! | `\r\n`, lone `\r` | a line end |
//! | other C0, DEL, C1 | `\x1B` |
//! | bidi controls, other invisible characters, noncharacters | `\u{202E}` |
//! | joiners, selectors and tags that form an emoji or belong to the spelling | as they are |
//!
//! In prose, every kind of blank is a blank. In a command or path only U+0020
//! is, so [`exact`] also shows the others by their code points.
//!
//! Text without special characters costs one scan of its bytes. Used by `doc`
//! for all input, and by `output` as a last resort.
//!
//! ```
//! use unspool::sanitize;
//!
//! assert_eq!(sanitize::line("\x1b]0;owned\x07"), r"\x1B]0;owned\x07");
//! assert_eq!(sanitize::line("user\u{202e}nimda"), r"user\u{202E}nimda");
//! ```

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;

/// The replacement of a tab.
const TAB: &str = "    ";

/// Sanitises text of any number of lines, which end in `\n`.
pub fn text(input: &str) -> Cow<'_, str> {
    clean(input, "\n")
}

/// Sanitises text as one line: newlines become spaces.
pub fn line(input: &str) -> Cow<'_, str> {
    clean(input, " ")
}

/// Shows every blank except U+0020 as `\u{00A0}`, for commands and paths: these
/// blanks look like spaces, but shells treat them as letters. The ideographic
/// space stays next to Chinese, Japanese and Korean text, where it is usual.
/// Does not sanitise anything else.
///
/// ```
/// use unspool::sanitize;
///
/// assert_eq!(sanitize::exact("rm a\u{A0}b"), r"rm a\u{00A0}b");
/// ```
pub fn exact(input: &str) -> Cow<'_, str> {
    if input.is_ascii() || !input.contains(is_unusual_blank) {
        return Cow::Borrowed(input);
    }
    let mut output = String::with_capacity(input.len() + 16);
    let mut previous = '\0';
    let mut characters = input.chars().peekable();
    while let Some(character) = characters.next() {
        let is_usual = character == '\u{3000}'
            && (is_cjk(previous) || characters.peek().copied().is_some_and(is_cjk));
        if is_unusual_blank(character) && !is_usual {
            push_replacement(&mut output, character, "");
        } else {
            output.push(character);
        }
        previous = character;
    }
    Cow::Owned(output)
}

/// Returns true for Unicode word separators other than U+0020, and for the
/// blank Braille pattern.
fn is_unusual_blank(character: char) -> bool {
    matches!(
        character,
        '\u{A0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{2800}' | '\u{3000}'
    )
}

/// Returns true for Chinese, Japanese and Korean letters, symbols and
/// punctuation.
fn is_cjk(character: char) -> bool {
    is_han(character) || matches!(character, '\u{3001}'..='\u{33FF}' | '\u{AC00}'..='\u{D7A3}')
}

fn clean<'a>(input: &'a str, line_end: &str) -> Cow<'a, str> {
    if is_printable_ascii(input.as_bytes()) {
        return Cow::Borrowed(input);
    }
    let keeps_line_feeds = line_end == "\n";
    let mut output = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(next) = next_candidate(input, at, keeps_line_feeds) {
        let (before, rest) = input.split_at(next);
        let Some(character) = rest.chars().next() else {
            break;
        };
        // Replaced text is no longer part of an emoji or word.
        let before = if copied == next { "" } else { before };
        at = next + character.len_utf8();
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        if !is_harmless(character, before, after) {
            output.push_str(input.get(copied..next).unwrap_or_default());
            if character == '\r' && after.starts_with('\n') {
                at += 1;
            }
            push_replacement(&mut output, character, line_end);
            copied = at;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(input);
    }
    output.push_str(input.get(copied..).unwrap_or_default());
    Cow::Owned(output)
}

/// Checks in one pass without branches, which is enough for most text.
fn is_printable_ascii(bytes: &[u8]) -> bool {
    let is_odd = |byte: u8| u8::from(byte.wrapping_sub(b' ') >= 0x7F - b' ');
    bytes.iter().fold(0, |odd, byte| odd | is_odd(*byte)) == 0
}

/// Returns the position of the next character to check. Only first bytes of
/// characters are candidates, so it is always a character boundary.
fn next_candidate(input: &str, from: usize, keeps_line_feeds: bool) -> Option<usize> {
    let bytes = input.as_bytes().get(from..)?;
    bytes
        .iter()
        .position(|&byte| CANDIDATES[usize::from(byte)] && !(keeps_line_feeds && byte == b'\n'))
        .map(|offset| from + offset)
}

/// Control characters, and the first bytes of all characters that
/// [`is_invisible`] or the C1 range contains.
const CANDIDATES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    let leads = [
        0x7F, 0xC2, 0xCD, 0xD8, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4usize,
    ];
    let mut index = 0;
    while index < leads.len() {
        table[leads[index]] = true;
        index += 1;
    }
    table
};

fn push_replacement(output: &mut String, character: char, line_end: &str) {
    let code = u32::from(character);
    // Writing to a String cannot fail.
    let _ = match character {
        '\t' => output.write_str(TAB),
        '\n' | '\r' => output.write_str(line_end),
        _ if character.is_control() => write!(output, "\\x{code:02X}"),
        _ => write!(output, "\\u{{{code:04X}}}"),
    };
}

/// Returns true if a character may stay, given its neighbours.
fn is_harmless(character: char, before: &str, after: &str) -> bool {
    if character.is_control() {
        return false;
    }
    if !is_invisible(character) {
        return true;
    }
    let previous = before.chars().next_back();
    match character {
        '\u{200C}' => previous.is_some_and(is_joining_letter),
        '\u{200D}' => {
            previous.is_some_and(is_joining_letter)
                || (previous.is_some_and(ends_emoji) && joins(before, after))
        }
        '\u{180B}'..='\u{180F}' => previous.is_some_and(is_mongolian),
        '\u{FE0E}' | '\u{FE0F}' => previous.is_some_and(|c| is_pictograph(c) || is_han(c)),
        '\u{FE00}'..='\u{FE0D}' => previous.is_some_and(|c| is_han(c) || is_symbol(c)),
        '\u{E0100}'..='\u{E01EF}' => previous.is_some_and(is_han),
        '\u{E0020}'..='\u{E007F}' => is_in_flag(character, before, after),
        _ => false,
    }
}

/// Returns true for characters that can hide or reorder text: bidi controls,
/// line separators, default-ignorable code points (most of `Cf`) and
/// noncharacters, which pages must not contain.
fn is_invisible(character: char) -> bool {
    u32::from(character) & 0xFFFE == 0xFFFE
        || matches!(
            character,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'..='\u{1160}'
                | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{3164}'
                | '\u{FDD0}'..='\u{FDEF}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF0}'..='\u{FFFB}'
                | '\u{13430}'..='\u{1343F}'
                | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// Returns true if a joiner between these texts forms one character. Otherwise
/// a line may break after it, where it joins nothing.
fn joins(before: &str, after: &str) -> bool {
    let (Some(next), Some(start)) = (
        after.chars().next().filter(|next| is_pictograph(*next)),
        before
            .char_indices()
            .rev()
            .map(|(at, _)| at)
            .take(MODIFIERS)
            .last(),
    ) else {
        return false;
    };
    let mut text = before.get(start..).unwrap_or_default().to_owned();
    text.push('\u{200D}');
    text.push(next);
    let last = text.graphemes(true).next_back();
    last.is_some_and(|last| last.contains('\u{200D}'))
}

/// Number of characters checked before a joiner.
const MODIFIERS: usize = 8;

/// Returns true if a pictograph with its modifiers can end in this character.
fn ends_emoji(character: char) -> bool {
    is_pictograph(character) || character == '\u{FE0F}'
}

/// Returns true for characters with an emoji form, including keycaps and skin
/// tones. Slightly wider than the Unicode property, which is harmless here.
fn is_pictograph(character: char) -> bool {
    matches!(
        character,
        '#' | '*' | '0'..='9' | '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '〰' | '〽' | '㊗' | '㊙'
    ) || is_symbol(character)
        || matches!(character, '\u{1F000}'..='\u{1FAFF}')
}

fn is_symbol(character: char) -> bool {
    matches!(character, '\u{2190}'..='\u{2BFF}')
}

/// Returns true for scripts whose spelling uses joiners and non-joiners: Arabic
/// to Malayalam, Tibetan, Myanmar, Khmer, Mongolian.
fn is_joining_letter(character: char) -> bool {
    matches!(
        character,
        '\u{620}'..='\u{DFF}' | '\u{F00}'..='\u{109F}' | '\u{1780}'..='\u{17B3}'
            | '\u{17B6}'..='\u{17FF}' | '\u{1820}'..='\u{18AF}'
    )
}

fn is_mongolian(character: char) -> bool {
    matches!(character, '\u{1820}'..='\u{18AF}')
}

fn is_han(character: char) -> bool {
    matches!(
        character,
        '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}'
    )
}

/// Maximum length of a region name in a flag, such as `gbeng`.
const FLAG_NAME: usize = 6;

/// Returns true if a tag character belongs to a flag: a black flag, a few tags
/// and the closing tag. Longer runs carry hidden text.
fn is_in_flag(character: char, before: &str, after: &str) -> bool {
    const END: char = '\u{E007F}';
    let is_tag = |c: &char| matches!(c, '\u{E0020}'..='\u{E007E}');
    let mut back = before.chars().rev();
    let names = back.by_ref().take(FLAG_NAME + 1).take_while(is_tag).count();
    let starts = before.chars().rev().nth(names) == Some('\u{1F3F4}');
    let rest = after.chars().take(FLAG_NAME + 1).take_while(is_tag).count();
    let ends = character == END || after.chars().nth(rest) == Some(END);
    starts && ends && names + rest <= FLAG_NAME
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_sanitised() {
        for byte in 0..=u8::MAX {
            let input = format!("a{}b", char::from(byte));
            let expected = match byte {
                b'\t' => "a    b".to_owned(),
                b'\n' | b'\r' => "a\nb".to_owned(),
                0..0x20 | 0x7F..=0x9F => format!("a\\x{byte:02X}b"),
                0xAD => "a\\u{00AD}b".to_owned(),
                _ => input.clone(),
            };
            assert_eq!(text(&input), expected);
            assert_eq!(line(&input), expected.replace('\n', " "));
        }
    }

    #[test]
    fn invalid_bytes_are_visible_once_decoded() {
        for byte in 0x80..=u8::MAX {
            let bytes = [b'a', byte, b'b'];
            let decoded = String::from_utf8_lossy(&bytes);
            assert_eq!(text(&decoded), "a\u{FFFD}b");
        }
    }

    #[test]
    fn escape_sequences_are_escaped() {
        assert_eq!(
            text("\u{1B}]52;c;ZXZpbA==\u{7}\u{9B}2J"),
            "\\x1B]52;c;ZXZpbA==\\x07\\x9B2J"
        );
    }

    #[test]
    fn all_line_ends_are_normalised() {
        assert_eq!(text("a\r\nb\rc\r\r\nd\n"), "a\nb\nc\n\nd\n");
        assert_eq!(line("a\r\nb\rc\nd"), "a b c d");
        assert_eq!(line("a\nb"), "a b");
    }

    #[test]
    fn bidi_controls_and_invisible_characters_are_shown() {
        let ranges = [
            0xAD..=0xAD,
            0x34F..=0x34F,
            0x61C..=0x61C,
            0x115F..=0x1160,
            0x17B4..=0x17B5,
            0x180B..=0x180F,
            0x200B..=0x200F,
            0x2028..=0x202E,
            0x2060..=0x206F,
            0x3164..=0x3164,
            0xFDD0..=0xFDEF,
            0xFE00..=0xFE0F,
            0xFEFF..=0xFEFF,
            0xFFA0..=0xFFA0,
            0xFFF0..=0xFFFB,
            0xFFFE..=0xFFFF,
            0x2FFFE..=0x2FFFF,
            0x13430..=0x1343F,
            0x1BCA0..=0x1BCA3,
            0x1D173..=0x1D17A,
            0xE0000..=0xE0FFF,
            0x0010_FFFE..=0x0010_FFFF,
        ];
        for code in ranges.into_iter().flatten() {
            let Some(character) = char::from_u32(code) else {
                continue;
            };
            assert_eq!(
                text(&format!("a{character}b")),
                format!("a\\u{{{code:04X}}}b"),
            );
        }
    }

    #[test]
    fn no_character_slips_past_the_first_byte_test() {
        for character in '\0'..=char::MAX {
            if character.is_control() || is_invisible(character) {
                let mut buffer = [0; 4];
                let first = character.encode_utf8(&mut buffer).as_bytes()[0];
                assert!(CANDIDATES[usize::from(first)], "{character:?}");
            }
        }
    }

    #[test]
    fn emoji_and_joiners_in_words_stay() {
        for kept in [
            "👩‍👩‍👧",
            "❤️‍🔥",
            "👩🏽‍💻",
            "1️⃣",
            "☺︎",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "می‌خواهم",
            "क्‍ष",
            "葛\u{E0100}",
            "│ └ • … ⋮ —",
            "日本語　テスト",
        ] {
            assert!(matches!(text(kept), Cow::Borrowed(_)), "{kept}");
        }
    }

    #[test]
    fn unusual_blanks_are_shown_in_commands() {
        for character in '\0'..=char::MAX {
            let is_blank = character.is_whitespace() && !character.is_control();
            let is_separator = matches!(character, '\u{2028}' | '\u{2029}' | ' ');
            let is_odd = is_blank && !is_separator || character == '\u{2800}';
            let input = format!("a{character}b");
            let code = u32::from(character);
            let expected = if is_odd {
                format!("a\\u{{{code:04X}}}b")
            } else {
                input.clone()
            };
            assert_eq!(exact(&input), expected);
            if is_odd {
                assert_eq!(text(&input), input, "prose keeps it");
            }
        }
    }

    #[test]
    fn the_ideographic_space_stays_in_cjk_text() {
        for kept in ["メモ\u{3000}一.txt", "\u{3000}はじめに\n", "회의\u{3000}a"] {
            assert_eq!(exact(kept), kept);
        }
        assert_eq!(exact("rm\u{3000}-rf a"), r"rm\u{3000}-rf a");
        assert_eq!(exact("字\u{3000}\u{3000}a"), "字\u{3000}\\u{3000}a");
    }

    #[test]
    fn hidden_text_after_an_emoji_is_shown() {
        assert_eq!(text("😀\u{FE0F}\u{FE0F}"), "😀\u{FE0F}\\u{FE0F}");
        assert_eq!(text("😀\u{E0101}"), "😀\\u{E0101}");
        assert_eq!(text("👩\u{200D}x"), "👩\\u{200D}x");
        // These have an emoji form but are not joined to anything.
        for odd in ["#", "7", "→"] {
            let shown = format!("{odd}\\u{{200D}}👧");
            assert_eq!(text(&format!("{odd}\u{200D}👧")), shown);
        }
        assert_eq!(text("🏴\u{E0068}\u{E0069}"), "🏴\\u{E0068}\\u{E0069}");
        assert_eq!(
            text("x\u{FE0F}\u{200D}🌈"),
            "x\\u{FE0F}\\u{200D}🌈",
            "what is shown by its number joins nothing"
        );
    }

    proptest! {
        /// Documents are sanitised when built and again when written: a change
        /// would alter the width of lines.
        #[test]
        fn sanitising_is_idempotent(
            pieces in prop::collection::vec(
                prop::sample::select(&[
                    "a", "7", "#", "👩", "🌈", "🏴", "葛", "ب", "क\u{94D}", "\u{1820}", "\u{180B}",
                    "\u{180E}", "\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}", "\u{FE00}",
                    "\u{E0067}", "\u{E007F}", "\u{E0100}", "\u{20E3}", "\u{1F3FD}", "\u{7}", "\r",
                    "\n", "\t", "\u{9B}", "\u{202E}",
                ]),
                0..12,
            ),
        ) {
            let input = pieces.concat();
            let once = text(&input).into_owned();
            prop_assert_eq!(&text(&once), &once);
            let once = line(&input).into_owned();
            prop_assert_eq!(&line(&once), &once);
        }
    }
}
