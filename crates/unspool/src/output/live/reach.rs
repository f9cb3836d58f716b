//! How much of what is open can be painted without getting out of reach.
//!
//! When a terminal becomes narrower, it wraps the rows that are too wide, before
//! anybody is told. The last row of the screen stays where it is (so do Alacritty
//! and tmux, also when that row is empty), hence each row more pushes one into
//! the scrollback at the top. As long as rows of others stand above the open
//! ones, it is those that go, which is where they belong. An open row that got
//! there would stay for ever and be there twice in the end.
//!
//! So open rows may become, on a screen of a sixth of the width, only as many
//! more as stand above them, and they take half of the screen at most. Where
//! there are too few above, on a screen that is nearly empty, some are painted
//! all the same: the last two, and up to four that are short; but only so much of
//! them that half of the width can be taken away at once.

/// A terminal may become so many times narrower at once.
const NARROWER: usize = 6;
/// The narrowest one that is reckoned with, if the terminal is not narrower now.
const NARROWEST: usize = 10;
/// Rows that are painted in any case, as far as half of the width allows.
const LEAST: usize = 2;
/// The same, if all of them are no longer than that.
const LEAST_SHORT: usize = 4;

/// The open rows that may be painted, counted from the last one upwards.
#[derive(Clone, Debug)]
pub struct Reach {
    height: usize,
    narrow: usize,
    half: usize,
    /// Rows above the open ones.
    above: usize,
    /// Rows that were taken so far, and how many more they would be on the
    /// narrow screen and on one of half the width.
    rows: usize,
    more_if_narrow: usize,
    more_if_half: usize,
}

impl Reach {
    pub(super) fn new(width: usize, height: usize, above: usize) -> Self {
        Self {
            height,
            narrow: (width / NARROWER).max(NARROWEST).min(width).max(1),
            half: (width / 2).max(1),
            above,
            rows: 0,
            more_if_narrow: 0,
            more_if_half: 0,
        }
    }

    /// Takes up the row above those before: how many cells of it may be painted.
    /// `None` when there is no room for it, nor for any above it.
    pub fn take(&mut self, cells: usize) -> Option<usize> {
        if self.rows >= (self.height / 2).max(1) {
            return None;
        }
        let room = (self.height - self.rows - 1).min(self.above);
        let fits = self.more_if_narrow + more_rows(cells, self.narrow) <= room;
        let is_short = cells <= self.half && self.more_if_half == 0;
        if !fits && self.rows >= if is_short { LEAST_SHORT } else { LEAST } {
            return None;
        }
        let left = room.saturating_sub(self.more_if_half);
        let cells = if fits {
            cells
        } else {
            cells.min((left + 1) * self.half)
        };
        self.rows += 1;
        self.more_if_narrow += more_rows(cells, self.narrow);
        self.more_if_half += more_rows(cells, self.half);
        Some(cells)
    }
}

/// How many rows more than one a row takes on a screen of so many columns.
pub(super) fn more_rows(cells: usize, columns: usize) -> usize {
    cells.div_ceil(columns.max(1)).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much of each row is painted, from the last one upwards.
    fn taken(mut reach: Reach, rows: &[usize]) -> Vec<usize> {
        rows.iter().map_while(|row| reach.take(*row)).collect()
    }

    #[test]
    fn what_is_painted_stays_in_reach() {
        // A full screen: six rows more for each.
        let full = taken(Reach::new(80, 24, 23), &[9, 80, 80, 80, 80]);
        assert_eq!(full, [9, 80, 80, 80]);
        assert_eq!(taken(Reach::new(80, 24, 23), &[9; 40]).len(), 12);
        // A screen that is nearly empty: half of the width, for the last two.
        assert_eq!(taken(Reach::new(80, 24, 1), &[9, 80, 80]), [9, 80]);
        assert_eq!(taken(Reach::new(80, 24, 0), &[9, 80, 80]), [9, 40]);
        assert_eq!(taken(Reach::new(80, 24, 0), &[80, 80, 80]), [40, 40]);
        // Some short rows in any case; very short ones cost nothing.
        assert_eq!(taken(Reach::new(80, 24, 0), &[9, 40, 40, 40, 40]).len(), 4);
        assert_eq!(taken(Reach::new(80, 24, 0), &[9, 80, 40]).len(), 3);
        assert_eq!(taken(Reach::new(80, 24, 0), &[10; 8]).len(), 8);
        // Never more than half of the screen.
        assert_eq!(taken(Reach::new(80, 1, 9), &[5, 5]), [5]);
        assert_eq!(taken(Reach::new(1, 4, 9), &[1, 1, 1, 1]), [1, 1]);
    }
}
