//! What a comment has room for.
//!
//! Pieces are left out whole, so that no fence and no `<details>` is ever cut:
//! first the largest bodies, then the oldest headings of calls, then the oldest
//! words, and of the last answer its last blocks. Memory is bounded while pieces
//! come: a few times the limit is kept.

/// Room for the words that say what was left out.
const RESERVE: usize = 200;

/// How many times the limit is kept while pieces come.
const KEPT: usize = 4;

/// What stands for the end of an answer that was cut.
const CUT: &str = "*…*";

/// Something that is shown whole or not at all.
pub(super) struct Piece {
    /// Blocks of words; empty for what is folded.
    blocks: Vec<String>,
    /// The line that stands for what is folded, without its body.
    line: String,
    summary: String,
    body: String,
    /// Whether these are words that a reader came for.
    is_prose: bool,
    is_answer: bool,
    /// What became of it.
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Shown,
    /// Without its body.
    Bare,
    Gone,
}

impl Piece {
    pub(super) fn prose(blocks: Vec<String>, is_prose: bool, is_answer: bool) -> Self {
        Self {
            blocks,
            line: String::new(),
            summary: String::new(),
            body: String::new(),
            is_prose,
            is_answer,
            fate: Fate::Shown,
        }
    }

    /// A heading, as a line and as the summary of what is folded below it.
    pub(super) fn folded(line: String, summary: String, body: String) -> Self {
        Self {
            blocks: Vec::new(),
            line,
            summary,
            body,
            is_prose: false,
            is_answer: false,
            fate: Fate::Shown,
        }
    }

    fn is_folded(&self) -> bool {
        self.fate == Fate::Shown && !self.body.is_empty()
    }

    /// Whether it is one line, which stands together with others.
    fn is_line(&self) -> bool {
        self.blocks.is_empty() && !self.is_folded()
    }

    fn text(&self) -> String {
        match self.fate {
            Fate::Gone => String::new(),
            Fate::Shown if !self.blocks.is_empty() => self.blocks.join("\n\n") + "\n",
            Fate::Shown if !self.body.is_empty() => format!(
                "<details><summary>{}</summary>\n\n{}\n\n</details>\n",
                self.summary, self.body
            ),
            Fate::Bare | Fate::Shown => format!("{}\n", self.line),
        }
    }

    /// Bytes that it takes, with the empty line before it.
    fn size(&self) -> usize {
        match self.fate {
            Fate::Gone => 0,
            Fate::Shown if !self.blocks.is_empty() => {
                self.blocks
                    .iter()
                    .map(|block| block_size(block))
                    .sum::<usize>()
                    + 2
            }
            Fate::Shown if !self.body.is_empty() => self.summary.len() + self.body.len() + 50,
            Fate::Bare | Fate::Shown => self.line.len() + 2,
        }
    }
}

/// Bytes that a block takes, with the empty line behind it.
fn block_size(block: &str) -> usize {
    block.len() + 2
}

/// The pieces of a comment.
pub(super) struct Kept {
    limit: usize,
    pieces: Vec<Piece>,
    size: usize,
    /// Bodies that are left out.
    bodies: usize,
    /// Pieces that are left out.
    gone: usize,
}

impl Kept {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            pieces: Vec::new(),
            size: 0,
            bodies: 0,
            gone: 0,
        }
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.size += piece.size();
        self.pieces.push(piece);
        let most = self.limit.saturating_mul(KEPT);
        if self.size > most.saturating_mul(2) {
            self.shrink(most);
            self.pieces.retain(|piece| piece.fate != Fate::Gone);
        }
    }

    /// The whole comment below its top.
    pub(super) fn text(mut self, top: String) -> String {
        let room = self.limit.saturating_sub(top.len() + RESERVE);
        self.shrink(room);
        let mut text = top;
        let mut before_is_line = false;
        for piece in self.pieces.iter().filter(|piece| piece.fate != Fate::Gone) {
            if !(before_is_line && piece.is_line()) {
                text.push('\n');
            }
            text.push_str(&piece.text());
            before_is_line = piece.is_line();
        }
        text + &self.note()
    }

    fn note(&self) -> String {
        let counted = |count: usize, noun: &str| {
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {noun}{plural}"))
        };
        let words = [counted(self.bodies, "output"), counted(self.gone, "entry")];
        let words: Vec<String> = words.into_iter().flatten().collect();
        if words.is_empty() {
            return String::new();
        }
        let words = words.join(" and ").replace("entrys", "entries");
        format!(
            "\n<sub>Left out to fit {} bytes: {words}.</sub>\n",
            self.limit
        )
    }

    /// Leaves out as little as makes the rest fit.
    fn shrink(&mut self, room: usize) {
        if self.size <= room {
            return;
        }
        let mut by_size: Vec<usize> = (0..self.pieces.len()).collect();
        by_size.retain(|index| self.pieces.get(*index).is_some_and(Piece::is_folded));
        by_size.sort_by_key(|index| {
            std::cmp::Reverse(self.pieces.get(*index).map_or(0, |piece| piece.body.len()))
        });
        for index in by_size {
            self.leave_out(index, Fate::Bare, room);
        }
        for prose in [false, true] {
            let answer = self.pieces.iter().rposition(|piece| piece.is_answer);
            for index in 0..self.pieces.len() {
                let is_wanted = self
                    .pieces
                    .get(index)
                    .is_some_and(|piece| piece.is_prose == prose);
                if is_wanted && Some(index) != answer {
                    self.leave_out(index, Fate::Gone, room);
                }
            }
        }
        self.shorten_last(room);
    }

    fn leave_out(&mut self, index: usize, fate: Fate, room: usize) {
        let Some(piece) = self.pieces.get_mut(index) else {
            return;
        };
        if self.size <= room || piece.fate == Fate::Gone {
            return;
        }
        self.size -= piece.size();
        if fate == Fate::Gone {
            self.gone += 1;
            self.bodies -= usize::from(piece.fate == Fate::Bare);
        } else {
            self.bodies += 1;
        }
        piece.fate = fate;
        piece.body = String::new();
        self.size += piece.size();
    }

    /// Takes the last blocks from the last answer.
    fn shorten_last(&mut self, room: usize) {
        let last = self.pieces.iter_mut().rfind(|piece| piece.is_answer);
        let Some(piece) = last.filter(|piece| piece.fate == Fate::Shown) else {
            return;
        };
        if self.size <= room || piece.blocks.is_empty() {
            return;
        }
        let others = self.size - piece.size();
        let mut size = piece.size() + block_size(CUT);
        while others + size > room
            && let Some(block) = piece.blocks.pop()
        {
            size -= block_size(&block);
        }
        if piece.blocks.is_empty() {
            piece.fate = Fate::Gone;
            self.gone += 1;
        } else {
            piece.blocks.push(CUT.to_owned());
        }
        self.size = others + piece.size();
    }
}
