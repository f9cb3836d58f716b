//! Limits the open rows that may be drawn, so that they stay on the screen
//! after a resize.
//!
//! When a terminal becomes narrower, it wraps rows that are too wide before the
//! program is notified. The last row of the screen keeps its position (also in
//! Alacritty and tmux, and also if that row is empty), so each additional row
//! pushes one row at the top into the scrollback. Finished rows belong there;
//! an open row would stay there forever and appear twice.
//!
//! Therefore open rows may take at most half of the screen, and if wrapped to a
//! sixth of the width they may add only as many rows as there are finished rows
//! above. If there are too few above, on a nearly empty screen, some rows are
//! drawn anyway: the last two, or up to four short ones, but cut so that the
//! screen can still lose half of its width.

/// Assumed factor by which a terminal becomes narrower at once.
const NARROWER: usize = 6;
/// Minimum assumed width, unless the terminal is narrower already.
const NARROWEST: usize = 10;
/// Rows that are always drawn, as far as half of the width allows.
const LEAST: usize = 2;
/// Rows that are always drawn if all of them are short.
const LEAST_SHORT: usize = 4;

/// The open rows that may be drawn, counted from the last one upwards.
#[derive(Clone, Debug)]
pub struct RowBudget {
    height: usize,
    narrow: usize,
    half: usize,
    /// Rows above the open ones.
    above: usize,
    /// Rows accepted so far, and the additional rows they would take at the
    /// assumed width and at half of the width.
    rows: usize,
    more_if_narrow: usize,
    more_if_half: usize,
}

impl RowBudget {
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

    /// Accepts the next row upwards; returns the cells of it that may be drawn,
    /// or `None` if no further row fits.
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

/// Returns the additional rows that a row takes on a screen of this width.
pub(super) fn more_rows(cells: usize, columns: usize) -> usize {
    cells.div_ceil(columns.max(1)).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the accepted cells of each row, from the last one upwards.
    fn accepted(mut budget: RowBudget, rows: &[usize]) -> Vec<usize> {
        rows.iter().map_while(|row| budget.take(*row)).collect()
    }

    #[test]
    fn accepted_rows_stay_on_the_screen() {
        // A full screen: six additional rows each.
        let full = accepted(RowBudget::new(80, 24, 23), &[9, 80, 80, 80, 80]);
        assert_eq!(full, [9, 80, 80, 80]);
        assert_eq!(accepted(RowBudget::new(80, 24, 23), &[9; 40]).len(), 12);
        // A nearly empty screen: half of the width, for the last two.
        assert_eq!(accepted(RowBudget::new(80, 24, 1), &[9, 80, 80]), [9, 80]);
        assert_eq!(accepted(RowBudget::new(80, 24, 0), &[9, 80, 80]), [9, 40]);
        assert_eq!(accepted(RowBudget::new(80, 24, 0), &[80, 80, 80]), [40, 40]);
        // Some short rows are always accepted; very short ones are free.
        assert_eq!(
            accepted(RowBudget::new(80, 24, 0), &[9, 40, 40, 40, 40]).len(),
            4
        );
        assert_eq!(accepted(RowBudget::new(80, 24, 0), &[9, 80, 40]).len(), 3);
        assert_eq!(accepted(RowBudget::new(80, 24, 0), &[10; 8]).len(), 8);
        // Never more than half of the screen.
        assert_eq!(accepted(RowBudget::new(80, 1, 9), &[5, 5]), [5]);
        assert_eq!(accepted(RowBudget::new(1, 4, 9), &[1, 1, 1, 1]), [1, 1]);
    }
}
