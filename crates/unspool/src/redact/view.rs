//! Normalised forms of a text, so that a secret is found whatever hides it:
//! without terminal sequences, with the escapes of JSON or of URLs decoded.
//!
//! A [`View`] maps each of its ranges back to the original text.

use std::ops::Range;

/// Levels of JSON strings within JSON strings that are decoded.
const LEVELS: usize = 3;

/// A normalised text.
pub(super) struct View {
    pub(super) text: String,
    /// Pieces in the order of `text`, without gaps.
    pieces: Vec<Piece>,
}

/// A part of the view and where it comes from.
struct Piece {
    /// Offset in the view.
    at: usize,
    /// Range in the original.
    from: Range<usize>,
    /// True if view and original are the same bytes here. Otherwise the range
    /// counts as a whole.
    is_verbatim: bool,
}

impl View {
    fn new() -> Self {
        Self {
            text: String::new(),
            pieces: Vec::new(),
        }
    }

    /// Appends a part of the original unchanged.
    fn copy(&mut self, original: &str, range: Range<usize>) {
        let Some(part) = original.get(range.clone()).filter(|part| !part.is_empty()) else {
            return;
        };
        self.piece(range, true);
        self.text.push_str(part);
    }

    /// Appends a character that replaces a range of the original.
    fn put(&mut self, c: char, range: Range<usize>) {
        self.piece(range, false);
        self.text.push(c);
    }

    fn piece(&mut self, from: Range<usize>, is_verbatim: bool) {
        self.pieces.push(Piece {
            at: self.text.len(),
            from,
            is_verbatim,
        });
    }

    /// Returns the pieces that a range of the view consists of. Those that are
    /// not verbatim count as a whole.
    fn parts(&self, range: &Range<usize>) -> impl Iterator<Item = Piece> {
        let first = self.pieces.partition_point(|piece| piece.at <= range.start);
        let first = first.saturating_sub(1);
        let Range { start, end } = *range;
        let pieces = self.pieces.iter().enumerate().skip(first);
        let inside = pieces.take_while(move |(_, piece)| piece.at < end);
        inside.map(move |(number, piece)| {
            let next = self.pieces.get(number + 1);
            let piece_end = next.map_or(self.text.len(), |next| next.at).min(end);
            let at = piece.at.max(start);
            let from = if piece.is_verbatim {
                let skipped = piece.from.start + (at - piece.at);
                skipped..skipped + piece_end.saturating_sub(at)
            } else {
                piece.from.clone()
            };
            Piece {
                at,
                from,
                is_verbatim: piece.is_verbatim,
            }
        })
    }

    /// Returns the ranges of the original that a range of the view shows.
    pub(super) fn original(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for Piece { from, .. } in self.parts(range) {
            match ranges.last_mut() {
                Some(last) if last.end == from.start => last.end = from.end,
                _ if from.is_empty() => {}
                _ => ranges.push(from),
            }
        }
        ranges
    }

    /// Maps this view of `base` back to the original of `base`.
    fn on(mut self, base: Option<&Self>) -> Self {
        let Some(base) = base else {
            return self;
        };
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            if piece.is_verbatim {
                pieces.extend(base.parts(&piece.from).map(|part| Piece {
                    at: piece.at + (part.at - piece.from.start),
                    ..part
                }));
                continue;
            }
            let mut parts = base.parts(&piece.from);
            let first = parts.next().map_or(0..0, |part| part.from);
            let last = parts.last().map_or(first.end, |part| part.from.end);
            pieces.push(Piece {
                at: piece.at,
                from: first.start..last.max(first.end),
                is_verbatim: false,
            });
        }
        self.pieces = pieces;
        self
    }
}

/// Returns the text without terminal sequences, or `None` if it has none. The
/// contents of operating system commands, such as links, follow at the end.
pub(super) fn without_sequences(text: &str) -> Option<View> {
    if !text.contains(['\u{1b}', '\u{9b}', '\u{8}']) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut view = View::new();
    let mut commands = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(start) = text
        .get(at..)
        .and_then(|rest| rest.find(['\u{1b}', '\u{9b}', '\u{8}']))
        .map(|found| at + found)
    {
        let (end, command) = sequence(bytes, start);
        view.copy(text, from..start);
        commands.extend(command);
        (from, at) = (end, end);
    }
    view.copy(text, from..text.len());
    for command in commands {
        view.put('\n', command.start..command.start);
        view.copy(text, command);
    }
    Some(view)
}

/// Returns the end of the sequence at `start`, and the content of an operating
/// system command.
fn sequence(bytes: &[u8], start: usize) -> (usize, Option<Range<usize>>) {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let skip = |mut at: usize, is: fn(u8) -> bool| {
        while at < bytes.len() && is(byte(at)) {
            at += 1;
        }
        at
    };
    let control_end = |at: usize| {
        let end = skip(at, |byte| matches!(byte, 0x20..=0x3f));
        end + usize::from(matches!(byte(end), 0x40..=0x7e))
    };
    match (byte(start), byte(start + 1)) {
        (0x8, _) => (start + 1, None),
        // U+009B is two bytes of UTF-8.
        (0xc2, _) | (_, b'[') => (control_end(start + 2), None),
        (_, b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = skip(start + 2, |byte| {
                byte != 0x7 && byte != 0x1b && byte != b'\n'
            });
            let after = match (byte(end), byte(end + 1)) {
                (0x7, _) => end + 1,
                (0x1b, b'\\') => end + 2,
                _ => end,
            };
            (after, Some(start + 2..end))
        }
        (_, 0x20..=0x2f) => {
            let end = skip(start + 1, |byte| matches!(byte, 0x20..=0x2f));
            (end + usize::from(matches!(byte(end), 0x30..=0x7e)), None)
        }
        (_, 0x30..=0x7e) => (start + 2, None),
        _ => (start + 1, None),
    }
}

/// The decoded forms of a text.
pub(super) struct Decoded {
    /// Escapes of JSON decoded once, twice and so on, as long as any are left.
    pub(super) escaped: Vec<View>,
    /// Escapes of URLs decoded.
    pub(super) percent: Option<View>,
}

/// Decodes the lines that contain escapes.
pub(super) fn decoded(text: &str, base: Option<&View>) -> Decoded {
    let mut views: Vec<View> = Vec::new();
    for _ in 0..LEVELS {
        let (from, base) = match views.last() {
            Some(last) => (last.text.as_str(), Some(last)),
            None => (text, base),
        };
        let Some(view) = unescaped(from, base) else {
            break;
        };
        views.push(view);
    }
    // Colours that were written as escapes.
    for view in &mut views {
        if let Some(stripped) = without_sequences(&view.text) {
            *view = stripped.on(Some(view));
        }
    }
    Decoded {
        escaped: views,
        percent: percent_decoded(text, base),
    }
}

fn unescaped(text: &str, base: Option<&View>) -> Option<View> {
    let view = lines_with(text, b'\\', |rest| match rest.as_bytes().get(1)? {
        b'n' => Some(('\n', 2)),
        b'r' => Some(('\r', 2)),
        b't' => Some(('\t', 2)),
        b'"' => Some(('"', 2)),
        b'\'' => Some(('\'', 2)),
        b'/' => Some(('/', 2)),
        b'\\' => Some(('\\', 2)),
        b'x' => Some((coded(rest, 2..4)?, 4)),
        b'0' if rest.starts_with("\\033") => Some(('\u{1b}', 4)),
        b'e' if rest.starts_with("\\e[") => Some(('\u{1b}', 2)),
        b'u' => Some((coded(rest, 2..6)?, 6)),
        _ => None,
    })?;
    Some(view.on(base))
}

fn percent_decoded(text: &str, base: Option<&View>) -> Option<View> {
    let view = lines_with(text, b'%', |rest| {
        let c = coded(rest, 1..3)?;
        (c.is_ascii() && c >= ' ').then_some((c, 3))
    })?;
    Some(view.on(base))
}

fn coded(rest: &str, digits: Range<usize>) -> Option<char> {
    let digits = rest.get(digits)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    char::from_u32(code).filter(|c| *c != '\0')
}

/// Decodes the lines in which `decode` finds something after `mark`: it returns
/// a character and the length of its escape. Other lines are left out.
fn lines_with(
    text: &str,
    mark: u8,
    decode: impl Fn(&str) -> Option<(char, usize)>,
) -> Option<View> {
    memchr::memchr(mark, text.as_bytes())?;
    let mut view = View::new();
    // The part of the current line that is not yet copied.
    let mut from = None;
    let mut line_end = 0;
    let mut at = 0;
    for found in memchr::memchr_iter(mark, text.as_bytes()) {
        if found < at {
            continue;
        }
        let Some((c, length)) = text.get(found..).and_then(&decode) else {
            continue;
        };
        if from.is_none() || found >= line_end {
            if let Some(from) = from {
                view.copy(text, from..line_end);
            }
            let before = text.as_bytes().get(..found).unwrap_or_default();
            let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
            from = Some(start);
            let rest = text.as_bytes().get(found..).unwrap_or_default();
            line_end = memchr::memchr(b'\n', rest).map_or(text.len(), |at| found + at + 1);
        }
        view.copy(text, from.unwrap_or_default()..found);
        at = found + length;
        view.put(c, found..at);
        from = Some(at);
    }
    view.copy(text, from?..line_end);
    Some(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_map_back_through_all_forms() {
        let text = "a \u{1b}[31mse\u{1b}[0mcret\u{1b}]8;;http://x\u{7} b";
        let view = without_sequences(text).unwrap();
        assert_eq!(view.text, "a secret b\n8;;http://x");
        let back = |range: Range<usize>| -> String {
            let ranges = view.original(&range);
            ranges
                .into_iter()
                .filter_map(|range| text.get(range))
                .collect()
        };
        assert_eq!(back(2..8), "secret");
        assert_eq!(back(14..22), "http://x");

        let text = "plain\n{\"a\":\"{\\\"b\\\":\\\"c\\\\nd\\\"}\"}\nplain";
        let views = decoded(text, None).escaped;
        assert_eq!(views[0].text, "{\"a\":\"{\"b\":\"c\\nd\"}\"}\n");
        assert_eq!(views[1].text, "{\"a\":\"{\"b\":\"c\nd\"}\"}\n");
        let at = views[1].text.find("c\nd").unwrap();
        let ranges = views[1].original(&(at..at + 3));
        assert_eq!(ranges.len(), 1);
        assert_eq!(text.get(ranges[0].clone()), Some("c\\\\nd"));

        let view = decoded("x\npass%3Dword%20x", None).percent.unwrap();
        assert_eq!(view.text, "pass=word x");
    }

    #[test]
    fn every_cut_of_a_sequence_is_read() {
        let text = "é\u{1b}]0;t\u{1b}\\\u{9b}1mx\u{1b}(B\u{1b}P1\u{1b}\\\\u00e9\\x4\\u12%4";
        let cuts = (0..=text.len()).filter_map(|at| text.get(..at));
        for cut in cuts {
            let base = without_sequences(cut);
            let shown = base.as_ref().map_or(cut, |view| view.text.as_str());
            let forms = decoded(shown, base.as_ref());
            for view in forms.escaped.into_iter().chain(forms.percent) {
                for range in view.original(&(0..view.text.len())) {
                    assert!(cut.get(range).is_some());
                }
            }
        }
    }
}
