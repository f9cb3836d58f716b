//! The terminal in full-screen mode: raw keys, alternate screen, mouse wheel and
//! signals.
//!
//! However it ends (return, panic, signal, hangup, Ctrl-Z), the terminal is
//! restored. While the screen is closed, signals have their default effect.
//! `Screen::next` waits for the terminal, signals and a [`Waker`] at the same
//! time. A frame is written as a whole, and not at all if it changes nothing.

mod job_control;
mod waker;

pub use job_control::is_in_foreground;
pub use waker::Waker;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    Event, KeyEventKind,
};
use ratatui::crossterm::style::{Print, force_color_output};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use ratatui::{Frame, Terminal, backend::CrosstermBackend};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;
use unspool::sanitize;

use waker::Woken;

/// Maximum delay of a signal in `wait_for_key`.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Enables reports of buttons and wheel, but not of motion, so selecting text
/// with Shift still works.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";
/// Start of synchronized output (mode 2026).
const FRAME_BEGIN: &[u8] = b"\x1b[?2026h";
const FRAME_END: &[u8] = b"\x1b[?2026l";
/// Pushes the window title onto the terminal's stack, and pops it.
const TITLE_PUSH: &str = "\u{1b}[22;2t";
const TITLE_POP: &str = "\u{1b}[23;2t";
/// Maximum size of a clipboard text, in bytes.
const LARGEST_COPY: usize = 1 << 20;

/// True while the terminal must be restored at exit.
static IS_OPEN: AtomicBool = AtomicBool::new(false);
/// True while focus reports are enabled.
static REPORTS_FOCUS: AtomicBool = AtomicBool::new(false);
/// True while the window has a title of ours.
static IS_TITLED: AtomicBool = AtomicBool::new(false);

/// True after a panic in any thread. Its message must not be painted over.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// The reason why [`Screen::next`] returned.
pub(crate) enum ScreenEvent {
    /// Keyboard, mouse or resize.
    Input(Event),
    /// The whole screen must be repainted.
    Repaint,
    /// A [`Waker`] was called.
    Woken,
    /// The time is up.
    Timeout,
    /// A signal asks the process to terminate.
    Signal(i32),
}

/// Returns pending input, if any.
pub(crate) fn pending_input() -> io::Result<Option<Event>> {
    if event::poll(Duration::ZERO)? {
        return event::read().map(Some);
    }
    Ok(None)
}

/// Collects the bytes of a frame before it is written.
#[derive(Clone, Default)]
struct FrameBytes(Arc<Mutex<Vec<u8>>>);

impl FrameBytes {
    fn take(&self) -> Vec<u8> {
        self.0
            .lock()
            .map(|mut bytes| std::mem::take(&mut *bytes))
            .unwrap_or_default()
    }
}

impl Write for FrameBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Ok(mut sheet) = self.0.lock() {
            sheet.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The terminal.
pub struct Screen {
    terminal: Option<Terminal<CrosstermBackend<FrameBytes>>>,
    sheet: FrameBytes,
    /// The last frame as written. Identical bytes need not be written again.
    last: Vec<u8>,
    /// The terminal to read keys from, if standard input is something else.
    keys: Option<File>,
    synchronises: bool,
    /// The window title.
    title: Option<String>,
    signals: Signals,
    woken: Woken,
}

impl Screen {
    /// Prepares the terminal, without taking it over yet.
    pub fn new() -> io::Result<Self> {
        // The theme decides on colours.
        force_color_output(true);
        let woken = Woken::new()?;
        let (before, waker) = (std::panic::take_hook(), woken.waker());
        std::panic::set_hook(Box::new(move |info| {
            // Set first, so that no frame is written after it.
            HAS_PANICKED.store(true, Ordering::SeqCst);
            restore();
            before(info);
            waker.wake();
        }));
        Ok(Self {
            terminal: None,
            sheet: FrameBytes::default(),
            last: Vec::new(),
            keys: keys()?,
            synchronises: false,
            title: None,
            signals: Signals::new(&woken.waker())?,
            woken,
        })
    }

    /// Enables synchronized output (mode 2026), if the terminal supports it.
    pub fn set_synchronized(&mut self, knows: bool) {
        self.synchronises = knows;
    }

    /// Returns a handle that wakes the screen from any thread.
    pub fn waker(&self) -> Waker {
        self.woken.waker()
    }

    /// Takes over the terminal.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        self.signals.take_over();
        enable_raw_mode()?;
        IS_OPEN.store(true, Ordering::Relaxed);
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            Print(MOUSE_ON)
        )?;
        if REPORTS_FOCUS.load(Ordering::Relaxed) {
            execute!(io::stdout(), EnableFocusChange)?;
        }
        self.last.clear();
        self.sheet.take();
        self.terminal = Some(Terminal::new(CrosstermBackend::new(self.sheet.clone()))?);
        self.write_title()
    }

    /// Writes bytes outside of a frame, such as a bell or a notification.
    pub(crate) fn send(bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Enables focus reports.
    pub(crate) fn watch_focus() -> io::Result<()> {
        REPORTS_FOCUS.store(true, Ordering::Relaxed);
        execute!(io::stdout(), EnableFocusChange)
    }

    /// Restores the terminal.
    pub(crate) fn close(&mut self) {
        self.leave();
        self.signals.give_back();
    }

    /// Restores the terminal, but keeps recording signals.
    pub(crate) fn leave(&mut self) {
        self.terminal = None;
        restore();
    }

    /// Runs another program on the restored terminal, including Ctrl-C.
    pub(crate) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        self.close();
        self.yield_interrupts();
        let outcome = work();
        self.open()?;
        Ok(outcome)
    }

    /// Leaves Ctrl-C to another program on the terminal, until the screen is
    /// opened again.
    pub fn yield_interrupts(&self) {
        let is_interruptible = &self.signals.is_interruptible;
        is_interruptible.store(false, Ordering::Relaxed);
    }

    /// Paints a frame and writes what changed.
    pub(crate) fn draw(&mut self, paint: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let Some(terminal) = &mut self.terminal else {
            return Ok(());
        };
        #[cfg(debug_assertions)]
        panic_if_asked();
        terminal.draw(paint)?;
        let bytes = self.sheet.take();
        if bytes == self.last {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        check_panic()?;
        if self.synchronises {
            let frame = [FRAME_BEGIN, &bytes, FRAME_END].concat();
            out.write_all(&frame)?;
        } else {
            out.write_all(&bytes)?;
        }
        self.last = bytes;
        out.flush()
    }

    /// Copies a text to the clipboard of the user's terminal (OSC 52). Returns
    /// false if it is too long.
    pub(crate) fn copy(text: &str) -> io::Result<bool> {
        if text.len() > LARGEST_COPY {
            return Ok(false);
        }
        let mut out = io::stdout().lock();
        write!(out, "\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))?;
        out.flush()?;
        Ok(true)
    }

    /// Sets the window title while the screen is open.
    pub(crate) fn title(&mut self, title: &str) -> io::Result<()> {
        let title = sanitize::line(title).into_owned();
        if self.title.as_ref() != Some(&title) {
            self.title = Some(title);
            self.write_title()?;
        }
        Ok(())
    }

    fn write_title(&self) -> io::Result<()> {
        let (Some(title), Some(_)) = (&self.title, &self.terminal) else {
            return Ok(());
        };
        let mut out = io::stdout().lock();
        if !IS_TITLED.swap(true, Ordering::Relaxed) {
            out.write_all(TITLE_PUSH.as_bytes())?;
        }
        write!(out, "\u{1b}]2;{title}\u{7}")?;
        out.flush()
    }

    /// Waits for the next event, at most until this time.
    pub(crate) fn next(&mut self, until: Option<Instant>) -> io::Result<ScreenEvent> {
        loop {
            check_panic()?;
            if let Some(signal) = self.signals.pending() {
                return Ok(ScreenEvent::Signal(signal));
            }
            if self.signals.is_stopped.swap(false, Ordering::Relaxed) {
                self.stop()?;
                return Ok(ScreenEvent::Repaint);
            }
            if self.signals.is_continued.swap(false, Ordering::Relaxed) {
                // The shell may have used the terminal.
                self.reopen()?;
                return Ok(ScreenEvent::Repaint);
            }
            if let Some(event) = pending_input()? {
                return Ok(ScreenEvent::Input(event));
            }
            if self.woken.take() {
                return Ok(ScreenEvent::Woken);
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                return Ok(ScreenEvent::Timeout);
            }
            if !self.wait(until)? {
                return Ok(ScreenEvent::Signal(SIGHUP));
            }
        }
    }

    /// Waits for input. Returns false if the terminal is gone.
    fn wait(&self, until: Option<Instant>) -> io::Result<bool> {
        let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = rest.and_then(|rest| Timespec::try_from(rest).ok());
        let stdin = io::stdin();
        let keys = self.keys.as_ref().map_or(stdin.as_fd(), AsFd::as_fd);
        let mut descriptors = [
            PollFd::from_borrowed_fd(keys, PollFlags::IN),
            PollFd::new(&self.woken, PollFlags::IN),
        ];
        match poll(&mut descriptors, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        let [keys, _] = descriptors;
        Ok(!keys.revents().intersects(gone))
    }

    /// Stops this process until it is continued.
    fn stop(&mut self) -> io::Result<()> {
        self.close();
        // If stopping fails, go on.
        let _ = emulate_default_handler(SIGTSTP);
        self.open()
    }

    /// Stops the process group, as Ctrl-Z does, until it is continued. Returns
    /// false if no shell could continue it.
    pub(crate) fn suspend(&mut self) -> io::Result<bool> {
        if !job_control::has_shell() {
            return Ok(false);
        }
        self.leave();
        // This process only records the signal.
        let _ = kill_current_process_group(Signal::TSTP);
        self.stop()?;
        Ok(true)
    }

    /// Repaints the whole screen.
    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        self.close();
        self.open()
    }

    /// Waits for a key on the normal screen. Returns a signal that asks to
    /// terminate.
    pub fn wait_for_key(&mut self, words: &str) -> io::Result<Option<i32>> {
        self.signals.take_over();
        enable_raw_mode()?;
        let signal = self.key_below(words);
        disable_raw_mode()?;
        self.signals.give_back();
        signal
    }

    fn key_below(&self, words: &str) -> io::Result<Option<i32>> {
        let mut out = io::stdout();
        write!(out, "\u{1b}[2m{words}\u{1b}[22m")?;
        out.flush()?;
        let is_key = |event| matches!(event, Event::Key(key) if key.kind == KeyEventKind::Press);
        loop {
            let signal = self.signals.pending();
            if signal.is_some() || (event::poll(POLL_INTERVAL)? && is_key(event::read()?)) {
                write!(out, "\r\u{1b}[K")?;
                out.flush()?;
                return Ok(signal);
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.close();
    }
}

/// Fails after a panic in any thread.
fn check_panic() -> io::Result<()> {
    if HAS_PANICKED.load(Ordering::SeqCst) {
        return Err(io::Error::other("internal error: see above"));
    }
    Ok(())
}

/// Panics on request, for tests.
#[cfg(debug_assertions)]
fn panic_if_asked() {
    match std::env::var("UNSPOOL_TEST_PANIC").as_deref() {
        Ok("paint") => panic!("painting was told to panic"),
        Ok("thread") => {
            std::thread::spawn(|| panic!("a thread was told to panic"));
        }
        _ => {}
    }
}

/// Opens the terminal for keys if standard input is something else.
fn keys() -> io::Result<Option<File>> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    File::open("/dev/tty").map(Some)
}

/// Restores the terminal, if it was taken over.
fn restore() {
    if !IS_OPEN.swap(false, Ordering::Relaxed) {
        return;
    }
    // There is no way to report a failure here.
    let mut out = io::stdout();
    if REPORTS_FOCUS.load(Ordering::Relaxed) {
        let _ = queue!(out, DisableFocusChange);
    }
    let _ = queue!(
        out,
        Print(MOUSE_OFF),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    if IS_TITLED.swap(false, Ordering::Relaxed) {
        let _ = queue!(out, Print(TITLE_POP));
    }
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Records signals while the screen is open. Handlers cannot be removed, so a
/// flag restores the default behaviour.
struct Signals {
    is_away: Arc<AtomicBool>,
    /// True while Ctrl-C ends this process.
    is_interruptible: Arc<AtomicBool>,
    ended: Arc<AtomicUsize>,
    is_stopped: Arc<AtomicBool>,
    is_continued: Arc<AtomicBool>,
}

impl Signals {
    fn new(waker: &Waker) -> io::Result<Self> {
        let signals = Self {
            is_away: Arc::new(AtomicBool::new(true)),
            is_interruptible: Arc::new(AtomicBool::new(true)),
            ended: Arc::default(),
            is_stopped: Arc::default(),
            is_continued: Arc::default(),
        };
        for signal in [SIGTERM, SIGQUIT, SIGTSTP, SIGHUP] {
            flag::register_conditional_default(signal, Arc::clone(&signals.is_away))?;
        }
        flag::register_conditional_default(SIGINT, Arc::clone(&signals.is_interruptible))?;
        for signal in [SIGTERM, SIGQUIT, SIGINT, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&signals.ended), number)?;
        }
        flag::register(SIGTSTP, Arc::clone(&signals.is_stopped))?;
        flag::register(SIGCONT, Arc::clone(&signals.is_continued))?;
        // Registered last: whoever is woken finds the flags already set.
        for signal in [SIGTERM, SIGQUIT, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH] {
            waker.wake_by(signal)?;
        }
        Ok(signals)
    }

    /// Starts recording signals.
    fn take_over(&self) {
        self.is_away.store(false, Ordering::Relaxed);
        self.is_interruptible.store(false, Ordering::Relaxed);
        self.ended.store(0, Ordering::Relaxed);
        self.is_stopped.store(false, Ordering::Relaxed);
        self.is_continued.store(false, Ordering::Relaxed);
    }

    /// Restores the default behaviour.
    fn give_back(&self) {
        self.is_interruptible.store(true, Ordering::Relaxed);
        self.is_away.store(true, Ordering::Relaxed);
    }

    /// Returns a signal that asks to terminate.
    fn pending(&self) -> Option<i32> {
        let signal = self.ended.load(Ordering::Relaxed);
        i32::try_from(signal).ok().filter(|signal| *signal > 0)
    }
}
