//! Keeps redacted events until the end of a run, when all of its secrets are
//! known.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;
use unspool::Event;

/// Larger runs are kept in a temporary file.
const IN_MEMORY: usize = 1 << 20;

/// Events in the order in which they were written, as JSON lines.
pub(super) struct Spool(SpooledTempFile);

impl Spool {
    pub(super) fn new() -> Self {
        Self(SpooledTempFile::new(IN_MEMORY))
    }

    pub(super) fn push(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }

    /// Passes all events to `take`, each with the number of bytes up to it and in all.
    pub(super) fn read(
        mut self,
        mut take: impl FnMut(Event, u64, u64) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let total = self.0.stream_position()?;
        self.0.seek(SeekFrom::Start(0))?;
        let mut done = 0;
        for line in BufReader::new(self.0).lines() {
            let line = line?;
            done += line.len() as u64 + 1;
            take(Event::from_json(&line)?, done, total)?;
        }
        Ok(())
    }
}
