//! Fits a comment into its size limit.
//!
//! Pieces are omitted whole, so that no fence or `<details>` is cut: first the
//! largest bodies, then the oldest tool calls, then the oldest prose, and
//! finally the last blocks of the last answer. Memory stays below a multiple of
//! the limit.

/// Bytes reserved for the note about omissions.
const RESERVE: usize = 200;

/// Multiple of the limit kept in memory.
const KEPT: usize = 4;

/// Replaces the end of a shortened answer.
const CUT: &str = "*…*";

/// A part of the comment that is shown or omitted as a whole.
pub(super) struct Piece {
    /// Blocks of prose; empty for folded pieces.
    blocks: Vec<String>,
    /// The heading of a folded piece without its body.
    line: String,
    summary: String,
    body: String,
    /// True for prose, which is omitted last.
    is_prose: bool,
    is_answer: bool,
    /// The extent to which it is shown.
    extent: Extent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Full,
    /// Shown without its body.
    HeadingOnly,
    Omitted,
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
            extent: Extent::Full,
        }
    }

    /// Creates a folded piece: its heading as a line and as a summary, and its
    /// body.
    pub(super) fn folded(line: String, summary: String, body: String) -> Self {
        Self {
            blocks: Vec::new(),
            line,
            summary,
            body,
            is_prose: false,
            is_answer: false,
            extent: Extent::Full,
        }
    }

    fn is_folded(&self) -> bool {
        self.extent == Extent::Full && !self.body.is_empty()
    }

    /// Returns true if it is a single line, which is grouped with adjacent
    /// ones.
    fn is_line(&self) -> bool {
        self.blocks.is_empty() && !self.is_folded()
    }

    fn text(&self) -> String {
        match self.extent {
            Extent::Omitted => String::new(),
            Extent::Full if !self.blocks.is_empty() => self.blocks.join("\n\n") + "\n",
            Extent::Full if !self.body.is_empty() => format!(
                "<details><summary>{}</summary>\n\n{}\n\n</details>\n",
                self.summary, self.body
            ),
            Extent::HeadingOnly | Extent::Full => format!("{}\n", self.line),
        }
    }

    /// Returns its size in bytes, with the empty line before it.
    fn size(&self) -> usize {
        match self.extent {
            Extent::Omitted => 0,
            Extent::Full if !self.blocks.is_empty() => {
                self.blocks
                    .iter()
                    .map(|block| block_size(block))
                    .sum::<usize>()
                    + 2
            }
            Extent::Full if !self.body.is_empty() => self.summary.len() + self.body.len() + 50,
            Extent::HeadingOnly | Extent::Full => self.line.len() + 2,
        }
    }
}

/// Returns the size of a block in bytes, with the empty line after it.
fn block_size(block: &str) -> usize {
    block.len() + 2
}

/// The pieces of a comment.
pub(super) struct Kept {
    limit: usize,
    pieces: Vec<Piece>,
    size: usize,
    /// Number of omitted bodies.
    bodies: usize,
    /// Number of omitted pieces.
    omitted: usize,
}

impl Kept {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            pieces: Vec::new(),
            size: 0,
            bodies: 0,
            omitted: 0,
        }
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.size += piece.size();
        self.pieces.push(piece);
        let most = self.limit.saturating_mul(KEPT);
        if self.size > most.saturating_mul(2) {
            self.shrink(most);
            self.pieces.retain(|piece| piece.extent != Extent::Omitted);
        }
    }

    /// Renders the comment below `top`.
    pub(super) fn text(mut self, top: String) -> String {
        let room = self.limit.saturating_sub(top.len() + RESERVE);
        self.shrink(room);
        let mut text = top;
        let mut before_is_line = false;
        for piece in self
            .pieces
            .iter()
            .filter(|piece| piece.extent != Extent::Omitted)
        {
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
        let counts = [
            counted(self.bodies, "output"),
            counted(self.omitted, "entry"),
        ];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        if counts.is_empty() {
            return String::new();
        }
        let counts = counts.join(" and ").replace("entrys", "entries");
        format!(
            "\n<sub>Left out to fit {} bytes: {counts}.</sub>\n",
            self.limit
        )
    }

    /// Omits pieces until the rest fits.
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
            self.reduce(index, Extent::HeadingOnly, room);
        }
        for prose in [false, true] {
            let answer = self.pieces.iter().rposition(|piece| piece.is_answer);
            for index in 0..self.pieces.len() {
                let is_candidate = self
                    .pieces
                    .get(index)
                    .is_some_and(|piece| piece.is_prose == prose);
                if is_candidate && Some(index) != answer {
                    self.reduce(index, Extent::Omitted, room);
                }
            }
        }
        self.shorten_last(room);
    }

    fn reduce(&mut self, index: usize, extent: Extent, room: usize) {
        let Some(piece) = self.pieces.get_mut(index) else {
            return;
        };
        if self.size <= room || piece.extent == Extent::Omitted {
            return;
        }
        self.size -= piece.size();
        if extent == Extent::Omitted {
            self.omitted += 1;
            self.bodies -= usize::from(piece.extent == Extent::HeadingOnly);
        } else {
            self.bodies += 1;
        }
        piece.extent = extent;
        piece.body = String::new();
        self.size += piece.size();
    }

    /// Removes blocks from the end of the last answer.
    fn shorten_last(&mut self, room: usize) {
        let last = self.pieces.iter_mut().rfind(|piece| piece.is_answer);
        let Some(piece) = last.filter(|piece| piece.extent == Extent::Full) else {
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
            piece.extent = Extent::Omitted;
            self.omitted += 1;
        } else {
            piece.blocks.push(CUT.to_owned());
        }
        self.size = others + piece.size();
    }
}
