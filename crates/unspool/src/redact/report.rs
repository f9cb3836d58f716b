//! Counts replacements.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of replacements by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub(super) counts: BTreeMap<&'static str, Count>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) different: usize,
    pub(super) places: usize,
}

impl Report {
    /// Returns true if nothing was replaced.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl fmt::Display for Report {
    /// Formats like `2 GitHub tokens (in 5 places), 1 email`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (kind, count)) in self.counts.iter().enumerate() {
            let comma = if position > 0 { ", " } else { "" };
            let many = match (count.different, kind.strip_suffix("ory")) {
                (1, _) => (*kind).to_owned(),
                (_, Some(stem)) => format!("{stem}ories"),
                _ if kind.ends_with("sh") => format!("{kind}es"),
                _ => format!("{kind}s"),
            };
            write!(f, "{comma}{} {many}", count.different)?;
            if count.places > count.different {
                write!(f, " (in {} places)", count.places)?;
            }
        }
        Ok(())
    }
}
