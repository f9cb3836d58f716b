//! The terminal while something fills it: raw keys, the alternate screen, the
//! mouse's wheel, and the signals that come meanwhile.
//!
//! However it ends (a return, a panic, a signal, the hangup of the terminal,
//! Ctrl-Z), the terminal is given back as it was. While the screen is closed,
//! signals do what they do to other programs. `Screen::next` waits for the
//! terminal, for signals and for a [`Waker`] at once. A frame is written as a
//! whole, and not at all if it changes nothing.

mod jobs;
mod waker;

pub use jobs::is_in_foreground;
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

/// How long a signal may wait below what was printed.
const PATIENCE: Duration = Duration::from_millis(100);
/// Buttons and the wheel, but no motions: marking text with Shift still works.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";
/// What stands between these is shown at once.
const FRAME_BEGIN: &[u8] = b"\x1b[?2026h";
const FRAME_END: &[u8] = b"\x1b[?2026l";
/// The window's title is kept, and taken back.
const TITLE_KEPT: &str = "\u{1b}[22;2t";
const TITLE_BACK: &str = "\u{1b}[23;2t";
/// Bytes that terminals take into the clipboard at once.
const LARGEST_COPY: usize = 1 << 20;

/// Whether there is something to give back.
static IS_OPEN: AtomicBool = AtomicBool::new(false);
/// Whether the terminal tells when it is looked at.
static TELLS_FOCUS: AtomicBool = AtomicBool::new(false);
/// Whether the window has a title of ours.
static IS_TITLED: AtomicBool = AtomicBool::new(false);

/// Whether some thread panicked: its words are to be read, not painted over.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// What happened on the terminal.
pub(crate) enum Happening {
    /// A key, the mouse, another size.
    Event(Event),
    /// The screen has to be painted anew.
    Back,
    /// Somebody has something to tell.
    Woken,
    /// The time has come that was waited for.
    Due,
    /// A signal asks to end.
    Signal(i32),
}

/// What was typed and not taken yet.
pub(crate) fn waiting() -> io::Result<Option<Event>> {
    if event::poll(Duration::ZERO)? {
        return event::read().map(Some);
    }
    Ok(None)
}

/// The bytes of a frame, until it is written.
#[derive(Clone, Default)]
struct Sheet(Arc<Mutex<Vec<u8>>>);

impl Sheet {
    fn take(&self) -> Vec<u8> {
        self.0
            .lock()
            .map(|mut bytes| std::mem::take(&mut *bytes))
            .unwrap_or_default()
    }
}

impl Write for Sheet {
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
    terminal: Option<Terminal<CrosstermBackend<Sheet>>>,
    sheet: Sheet,
    /// The last frame, as it was written: the same bytes again change nothing.
    last: Vec<u8>,
    /// Where keys come from, if that is not standard input.
    keys: Option<File>,
    synchronises: bool,
    /// What the window is called.
    title: Option<String>,
    signals: Signals,
    woken: Woken,
}

impl Screen {
    /// Prepares for taking the terminal over, which is not done yet.
    pub fn new() -> io::Result<Self> {
        // Whether there are colours is for the theme to say.
        force_color_output(true);
        let woken = Woken::new()?;
        let (before, waker) = (std::panic::take_hook(), woken.waker());
        std::panic::set_hook(Box::new(move |info| {
            // First, so that no frame is written behind it.
            HAS_PANICKED.store(true, Ordering::SeqCst);
            restore();
            before(info);
            waker.wake();
        }));
        Ok(Self {
            terminal: None,
            sheet: Sheet::default(),
            last: Vec::new(),
            keys: keys()?,
            synchronises: false,
            title: None,
            signals: Signals::new(&woken.waker())?,
            woken,
        })
    }

    /// Says that the terminal shows a frame at once when it is asked to.
    pub fn synchronise(&mut self, knows: bool) {
        self.synchronises = knows;
    }

    /// Wakes the one who waits for the screen, from any thread.
    pub fn waker(&self) -> Waker {
        self.woken.waker()
    }

    /// Takes the terminal over.
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
        if TELLS_FOCUS.load(Ordering::Relaxed) {
            execute!(io::stdout(), EnableFocusChange)?;
        }
        self.last.clear();
        self.sheet.take();
        self.terminal = Some(Terminal::new(CrosstermBackend::new(self.sheet.clone()))?);
        self.write_title()
    }

    /// Writes what is no frame: a bell, a notification.
    pub(crate) fn send(bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// From now on the terminal tells when it is looked at.
    pub(crate) fn watch_focus() -> io::Result<()> {
        TELLS_FOCUS.store(true, Ordering::Relaxed);
        execute!(io::stdout(), EnableFocusChange)
    }

    /// Gives the terminal back.
    pub(crate) fn close(&mut self) {
        self.leave();
        self.signals.give_back();
    }

    /// Gives the terminal back, but signals are still only remembered.
    pub(crate) fn leave(&mut self) {
        self.terminal = None;
        restore();
    }

    /// Gives the terminal to somebody else for a while, Ctrl-C included.
    pub(crate) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        self.close();
        self.leave_interrupts();
        let outcome = work();
        self.open()?;
        Ok(outcome)
    }

    /// Leaves Ctrl-C to another program that has the terminal, until the screen
    /// is opened again.
    pub fn leave_interrupts(&self) {
        let is_interruptible = &self.signals.is_interruptible;
        is_interruptible.store(false, Ordering::Relaxed);
    }

    /// Paints a frame; only what changed is written.
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

    /// Puts a text into the clipboard of who looks at the terminal, wherever
    /// that is. False if it is too long for that.
    pub(crate) fn copy(text: &str) -> io::Result<bool> {
        if text.len() > LARGEST_COPY {
            return Ok(false);
        }
        let mut out = io::stdout().lock();
        write!(out, "\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))?;
        out.flush()?;
        Ok(true)
    }

    /// Names the window while the terminal is taken.
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
            out.write_all(TITLE_KEPT.as_bytes())?;
        }
        write!(out, "\u{1b}]2;{title}\u{7}")?;
        out.flush()
    }

    /// Waits for the next thing to happen, but no longer than until this time.
    pub(crate) fn next(&mut self, until: Option<Instant>) -> io::Result<Happening> {
        loop {
            check_panic()?;
            if let Some(signal) = self.signals.ended() {
                return Ok(Happening::Signal(signal));
            }
            if self.signals.is_stopped.swap(false, Ordering::Relaxed) {
                self.stop()?;
                return Ok(Happening::Back);
            }
            if self.signals.is_continued.swap(false, Ordering::Relaxed) {
                // The shell may have used the terminal.
                self.reopen()?;
                return Ok(Happening::Back);
            }
            if let Some(event) = waiting()? {
                return Ok(Happening::Event(event));
            }
            if self.woken.take() {
                return Ok(Happening::Woken);
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                return Ok(Happening::Due);
            }
            if !self.wait(until)? {
                return Ok(Happening::Signal(SIGHUP));
            }
        }
    }

    /// Waits until there may be something; false if the terminal is gone.
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

    /// Stops this process until somebody continues it.
    fn stop(&mut self) -> io::Result<()> {
        self.close();
        // Where stopping is not possible, it just goes on.
        let _ = emulate_default_handler(SIGTSTP);
        self.open()
    }

    /// Stops this process and all that stand in one pipe with it, as a terminal
    /// does for Ctrl-Z, until somebody continues them; false where nobody would.
    pub(crate) fn suspend(&mut self) -> io::Result<bool> {
        if !jobs::has_shell() {
            return Ok(false);
        }
        self.leave();
        // To this process it is one more signal that is remembered.
        let _ = kill_current_process_group(Signal::TSTP);
        self.stop()?;
        Ok(true)
    }

    /// Paints everything anew, whatever is on the terminal now.
    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        self.close();
        self.open()
    }

    /// Waits below what was printed until a key is pressed. A signal that asks to
    /// end is given back.
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
            let signal = self.signals.ended();
            if signal.is_some() || (event::poll(PATIENCE)? && is_key(event::read()?)) {
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

/// Fails once some thread panicked.
fn check_panic() -> io::Result<()> {
    if HAS_PANICKED.load(Ordering::SeqCst) {
        return Err(io::Error::other("a part of this program failed: see above"));
    }
    Ok(())
}

/// For the tests of what a panic leaves behind.
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

/// Where keys come from when standard input is something else.
fn keys() -> io::Result<Option<File>> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    File::open("/dev/tty").map(Some)
}

/// Gives the terminal back, if it was taken.
fn restore() {
    if !IS_OPEN.swap(false, Ordering::Relaxed) {
        return;
    }
    // Nobody is left to be told if this fails.
    let mut out = io::stdout();
    if TELLS_FOCUS.load(Ordering::Relaxed) {
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
        let _ = queue!(out, Print(TITLE_BACK));
    }
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Signals are remembered while the screen is open. A handler cannot be taken
/// away again, so that it is told when it has to behave as if it was not there.
struct Signals {
    is_away: Arc<AtomicBool>,
    /// Whether Ctrl-C ends this process.
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
        // Behind the others: who is woken finds what they remember.
        for signal in [SIGTERM, SIGQUIT, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH] {
            waker.wake_by(signal)?;
        }
        Ok(signals)
    }

    /// From now on they are remembered.
    fn take_over(&self) {
        self.is_away.store(false, Ordering::Relaxed);
        self.is_interruptible.store(false, Ordering::Relaxed);
        self.ended.store(0, Ordering::Relaxed);
        self.is_stopped.store(false, Ordering::Relaxed);
        self.is_continued.store(false, Ordering::Relaxed);
    }

    /// From now on they do what they always do.
    fn give_back(&self) {
        self.is_interruptible.store(true, Ordering::Relaxed);
        self.is_away.store(true, Ordering::Relaxed);
    }

    /// The signal that asks to end.
    fn ended(&self) -> Option<i32> {
        let signal = self.ended.load(Ordering::Relaxed);
        i32::try_from(signal).ok().filter(|signal| *signal > 0)
    }
}
