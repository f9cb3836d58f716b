//! The event loop of a live run: agent output, signals and timers, until the end.
//!
//! Threads send updates into one channel. The loop drains the channel before it
//! paints. Threads share nothing else.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use unspool::doc::{Role, Span, Style, capture};
use unspool::output::Output;
use unspool::stats::Stats;
use unspool::{Event, Reader};
use unspool_sessions::driver::{Driver, Piece, Read};

use crate::terminal;
use crate::view::{self, View};

mod seen;

pub(crate) use seen::Seen;

/// Capacity of the channel; senders block when it is full.
const QUEUE: usize = 8;
/// Time to collect updates before painting.
const BATCH: Duration = Duration::from_millis(8);
/// Time an agent may keep writing after Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);

/// A message to the event loop.
pub(crate) enum Update {
    /// The next piece of the input.
    Piece(Piece),
    /// Text that is not agent output: its standard error, or our own message.
    Aside(String),
    /// The input ended.
    Ended(io::Result<()>),
    /// A signal arrived.
    Signal(i32),
}

/// Creates the channel of updates.
pub(crate) fn channel() -> (SyncSender<Update>, Receiver<Update>) {
    sync_channel(QUEUE)
}

/// Starts to send signals into the channel.
pub(crate) fn signals(sender: SyncSender<Update>) -> io::Result<()> {
    let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH];
    let mut signals = Signals::new(wanted)?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(Update::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// The reason that the loop ended.
pub(crate) enum End {
    /// The input ended, or could not be read further.
    Input(io::Result<()>),
    /// A signal ended it.
    Signal(i32),
}

/// Handles termination signals for what is being watched.
pub(crate) trait Subject {
    /// Handles the `count`th termination signal. Returns true to end the loop now.
    fn end(&mut self, signal: i32, count: usize) -> bool;
    /// Returns true if the loop waits for the input to end after this signal,
    /// without a time limit.
    fn waits_for_end(&self, _signal: i32) -> bool {
        false
    }
    /// Returns true if a signal that ends the loop also cuts off the run.
    fn is_cut_by_signals(&self) -> bool {
        true
    }
    /// Suspends the process; returns when it is resumed.
    fn suspend(&mut self);
}

/// A pipe on standard input. Its writer receives the terminal's signals itself.
pub(crate) struct Pipe;

impl Subject for Pipe {
    fn end(&mut self, signal: i32, count: usize) -> bool {
        signal != SIGINT || count > 1
    }

    fn suspend(&mut self) {
        stop_here();
    }
}

/// A recording, or a file that another process writes.
pub(crate) struct Recording;

impl Subject for Recording {
    fn end(&mut self, _signal: i32, _count: usize) -> bool {
        true
    }

    fn is_cut_by_signals(&self) -> bool {
        false
    }

    fn suspend(&mut self) {
        stop_here();
    }
}

/// Stops this process, as SIGTSTP does by default.
pub(crate) fn stop_here() {
    // If the process cannot be stopped, it continues.
    let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
}

/// The input, view and state of the event loop.
pub(crate) struct Watch<'a, 'v, W: Write> {
    pub(crate) updates: &'a Receiver<Update>,
    /// Creates a reader, at the start and after each restart.
    pub(crate) reader: &'a dyn Fn() -> Reader,
    pub(crate) view: &'a mut View<'v>,
    pub(crate) stats: &'a mut Stats,
    /// Events already shown, to skip when a file is read again.
    pub(crate) seen: Option<Seen>,
    pub(crate) out: W,
}

impl<W: Write> Watch<'_, '_, W> {
    /// Runs the loop to its end and shows the remaining entries. Errors are about
    /// the output.
    pub(crate) fn run(mut self, subject: &mut dyn Subject) -> io::Result<End> {
        let mut driver = Driver::new((self.reader)());
        let mut state = Ending::default();
        self.view.settle(&mut self.out)?;
        let end = loop {
            if let Some(end) = self.next(&mut driver, &mut state, subject)? {
                break end;
            }
            self.view.settle(&mut self.out)?;
        };
        if matches!(end, End::Input(_)) || subject.is_cut_by_signals() {
            driver.finish();
        }
        self.show(&mut driver)?;
        self.view.finish(&mut self.out)?;
        self.out.flush()?;
        Ok(end)
    }

    /// Processes the updates that are available.
    fn next(
        &mut self,
        driver: &mut Driver,
        state: &mut Ending,
        subject: &mut dyn Subject,
    ) -> io::Result<Option<End>> {
        let Some(first) = self.wait(driver, state) else {
            driver.release_if_idle();
            self.show(driver)?;
            return Ok(state.over(Instant::now()));
        };
        let began = Instant::now();
        let mut next = Some(first);
        while let Some(update) = next.take() {
            if let Some(end) = self.take(update, driver, state, subject)? {
                return Ok(Some(end));
            }
            if began.elapsed() < BATCH {
                next = match self.updates.try_recv() {
                    Ok(update) => Some(update),
                    Err(TryRecvError::Empty) => None,
                    Err(TryRecvError::Disconnected) => return Ok(Some(End::Input(Ok(())))),
                };
            }
        }
        Ok(state.over(Instant::now()))
    }

    /// Waits for an update or for the next frame.
    fn wait(&self, driver: &Driver, state: &Ending) -> Option<Update> {
        let due = [self.view.due(), state.deadline, driver.idle_at()]
            .into_iter()
            .flatten()
            .min();
        match due {
            None => self.updates.recv().ok().or(Some(Update::Ended(Ok(())))),
            Some(due) => {
                let timeout = due.saturating_duration_since(Instant::now());
                match self.updates.recv_timeout(timeout) {
                    Ok(update) => Some(update),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => Some(Update::Ended(Ok(()))),
                }
            }
        }
    }

    fn take(
        &mut self,
        update: Update,
        driver: &mut Driver,
        state: &mut Ending,
        subject: &mut dyn Subject,
    ) -> io::Result<Option<End>> {
        match update {
            Update::Piece(piece) => self.piece(piece, driver)?,
            Update::Aside(text) => self.aside(&text),
            Update::Ended(result) => {
                return Ok(Some(match state.signal {
                    Some(signal) => End::Signal(signal),
                    None => End::Input(result),
                }));
            }
            Update::Signal(SIGWINCH) => self.view.resize(),
            Update::Signal(SIGCONT) => {}
            Update::Signal(SIGTSTP) => {
                self.view.leave(&mut self.out)?;
                subject.suspend();
                self.view.resize();
            }
            Update::Signal(signal) => {
                state.signal.get_or_insert(signal);
                state.signals += 1;
                if subject.end(signal, state.signals) {
                    return Ok(Some(End::Signal(signal)));
                }
                if !subject.waits_for_end(signal) {
                    state.deadline.get_or_insert(Instant::now() + GRACE);
                }
            }
        }
        Ok(None)
    }

    /// Shows the new events of a piece. Events that were shown before a restart are not
    /// shown again.
    fn piece(&mut self, piece: Piece, driver: &mut Driver) -> io::Result<()> {
        let events = match driver.take(piece, || (self.reader)()) {
            Read::Next(events) => events,
            Read::Restarted(last) => {
                self.events(last)?;
                if let Some(seen) = &mut self.seen {
                    seen.restart();
                }
                return Ok(());
            }
            Read::Document(events) => {
                if let Some(seen) = &mut self.seen {
                    seen.restart_document();
                }
                events
            }
        };
        self.events(events)
    }

    fn show(&mut self, driver: &mut Driver) -> io::Result<()> {
        self.events(driver.events())
    }

    fn events(&mut self, events: impl IntoIterator<Item = Event>) -> io::Result<()> {
        events.into_iter().try_for_each(|event| self.event(event))
    }

    /// Shows text that is not agent output, dimmed if possible: on a live screen
    /// between finished lines, otherwise on standard error.
    fn aside(&mut self, text: &str) {
        let dim = Style::of(Role::Accent).dim();
        // Escape sequences are interpreted as in tool output.
        let mut lines = capture::lines(text);
        for span in lines.iter_mut().flatten() {
            span.style.dim = true;
            if span.style.role == Role::Normal {
                span.style.role = Role::Accent;
            }
        }
        if self.view.is_live() {
            for line in &mut lines {
                line.insert(0, Span::new("┆ ", dim));
            }
            self.view.aside(&lines);
        } else {
            // An error here cannot be reported anywhere.
            let mut text = Output::Plain.text(&lines);
            if terminal::is_github_actions() {
                let lines = text.split('\n').map(view::harmless);
                text = lines.collect::<Vec<_>>().join("\n");
            }
            let text = if terminal::dims_errors() {
                text.lines().map(terminal::dimmed).collect()
            } else {
                text
            };
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    fn event(&mut self, event: Event) -> io::Result<()> {
        if self
            .seen
            .as_mut()
            .is_some_and(|seen| seen.check_and_add(&event))
        {
            return Ok(());
        }
        self.stats.event(&event);
        self.view.event(event, &mut self.out)
    }
}

/// Termination signals received so far.
#[derive(Default)]
struct Ending {
    /// The first termination signal, and their number.
    signal: Option<i32>,
    signals: usize,
    /// Time at which the loop ends in any case.
    deadline: Option<Instant>,
}

impl Ending {
    fn over(&self, now: Instant) -> Option<End> {
        let over = self.deadline.is_some_and(|deadline| deadline <= now);
        self.signal.filter(|_| over).map(End::Signal)
    }
}
