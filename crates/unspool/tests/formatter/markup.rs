//! Spells out colours, so that one expectation covers coloured and plain text:
//! `«c* Ran» go test .` is a bold colorful word, then plain text.
//!
//! The colour and attributes come between `«` and the first blank: `a` accent,
//! `c` colorful, `g` green, `r` red, none for ordinary text; `*` bold, `/`
//! italic. Blanks have no colour: those between two words in the same style are
//! inside the marks, all others outside. Any other code fails.

/// The expected palette entries.
pub(crate) struct Colors {
    pub(crate) normal: u8,
    pub(crate) accent: u8,
    pub(crate) colorful: u8,
    pub(crate) green: u8,
    pub(crate) red: u8,
}

pub(crate) const WHITE_ON_BLACK: Colors = Colors {
    normal: 231,
    accent: 247,
    colorful: 75,
    green: 29,
    red: 167,
};

/// Converts escape codes to markup.
pub(crate) fn of(text: &str, colors: &Colors) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| marked(line, colors)).collect();
    lines.join("\n")
}

/// Removes the markup.
pub(crate) fn removed(expected: &str) -> String {
    let mut pieces = expected.split('«');
    let mut text = pieces.next().expect("a first piece").to_owned();
    for piece in pieces {
        let (_, rest) = piece.split_once(' ').expect("a blank behind the look");
        text.push_str(rest);
    }
    text.replace('»', "")
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Look {
    color: Option<char>,
    bold: bool,
    italic: bool,
}

impl Look {
    fn opening(self) -> String {
        let bold = self.bold.then_some('*');
        let italic = self.italic.then_some('/');
        let look = self.color.into_iter().chain(bold).chain(italic);
        format!("«{} ", look.collect::<String>())
    }

    fn apply(&mut self, codes: &str, colors: &Colors) {
        let mut codes = codes.split(';').map(|code| code.parse().expect("a number"));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                3 => self.italic = true,
                22 => self.bold = false,
                23 => self.italic = false,
                38 => {
                    assert_eq!(codes.next(), Some(5), "a colour of the palette");
                    self.color = colors.letter(codes.next().expect("an entry"));
                }
                39 => self.color = None,
                other => panic!("the code {other}"),
            }
        }
    }
}

impl Colors {
    fn letter(&self, entry: u8) -> Option<char> {
        let known = [
            (self.accent, 'a'),
            (self.colorful, 'c'),
            (self.green, 'g'),
            (self.red, 'r'),
        ];
        let letter = known.iter().find(|(known, _)| *known == entry);
        assert!(
            letter.is_some() || entry == self.normal,
            "the colour {entry}"
        );
        letter.map(|(_, letter)| *letter)
    }
}

fn marked(line: &str, colors: &Colors) -> String {
    let mut look = Look::default();
    let mut pieces = line.split('\u{1b}');
    let first = pieces.next().expect("a first piece");
    let mut cells: Vec<(char, Look)> = first.chars().map(|c| (c, look)).collect();
    for piece in pieces {
        let (codes, text) = piece
            .strip_prefix('[')
            .and_then(|rest| rest.split_once('m'))
            .expect("colours and attributes only");
        look.apply(codes, colors);
        cells.extend(text.chars().map(|c| (c, look)));
    }
    assert!(look == Look::default(), "{line:?} leaves its look on");
    joined(&cells)
}

fn joined(cells: &[(char, Look)]) -> String {
    let mut line = String::new();
    let mut gap = String::new();
    let mut open = Look::default();
    for (character, look) in cells {
        assert!(!"«»".contains(*character), "the text has marks of its own");
        if *character == ' ' {
            gap.push(' ');
            continue;
        }
        if *look != open && open != Look::default() {
            line.push('»');
        }
        line.push_str(&std::mem::take(&mut gap));
        if *look != open && *look != Look::default() {
            line.push_str(&look.opening());
        }
        open = *look;
        line.push(*character);
    }
    if open != Look::default() {
        line.push('»');
    }
    line + &gap
}

#[test]
fn codes_become_markup_and_markup_can_be_removed() {
    let text = "\u{1b}[38;5;29m• \u{1b}[1;38;5;75mRan\u{1b}[0m go \u{1b}[3ma b \u{1b}[0m ";
    let expected = "«g •» «c* Ran» go «/ a b»  ";
    assert_eq!(of(text, &WHITE_ON_BLACK), expected);
    assert_eq!(removed(expected), "• Ran go a b  ");
}

#[test]
#[should_panic(expected = "the colour 9")]
fn unknown_colours_fail() {
    of("\u{1b}[38;5;9mx\u{1b}[0m", &WHITE_ON_BLACK);
}

#[test]
#[should_panic(expected = "leaves its look on")]
fn looks_end_with_their_line() {
    of("\u{1b}[1mx\ny\u{1b}[0m", &WHITE_ON_BLACK);
}
