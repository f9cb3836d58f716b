//! The terminal while something fills it: raw keys, the alternate screen, the
//! mouse's wheel, and the signals that come meanwhile.
//!
//! However it ends (a return, a panic, a signal, Ctrl-Z), the terminal is given
//! back as it was. The one way that is not seen is the hangup of the terminal,
//! after which there is nothing to give back. While the screen is closed,
//! signals do what they do to other programs.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyEventKind,
};
use ratatui::crossterm::style::{Print, force_color_output};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use ratatui::{Frame, Terminal, backend::CrosstermBackend};
use signal_hook::consts::{SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

/// A frame goes out at once.
const FRAME_BYTES: usize = 1 << 16;
/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(100);
/// Buttons and the wheel, but no motions: marking text with Shift still works.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";

/// Whether there is something to give back.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// What happened on the terminal.
pub(crate) enum Happening {
    /// A key, the mouse, another size.
    Event(Event),
    /// The screen has to be painted anew.
    Back,
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

/// The terminal.
pub struct Screen {
    terminal: Option<Terminal<CrosstermBackend<BufWriter<Stdout>>>>,
    signals: Signals,
}

impl Screen {
    /// Prepares for taking the terminal over, which is not done yet.
    pub fn new() -> io::Result<Self> {
        // Whether there are colours is for the theme to say.
        force_color_output(true);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
        Ok(Self {
            terminal: None,
            signals: Signals::new()?,
        })
    }

    /// Takes the terminal over.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        self.signals.take_over();
        enable_raw_mode()?;
        IS_OPEN.store(true, Ordering::Relaxed);
        let mut out = BufWriter::with_capacity(FRAME_BYTES, io::stdout());
        execute!(
            out,
            EnterAlternateScreen,
            EnableBracketedPaste,
            Print(MOUSE_ON)
        )?;
        self.terminal = Some(Terminal::new(CrosstermBackend::new(out))?);
        Ok(())
    }

    /// Gives the terminal back.
    pub(crate) fn close(&mut self) {
        self.terminal = None;
        restore();
        self.signals.give_back();
    }

    /// Leaves Ctrl-C to another program that has the terminal, until the screen
    /// is opened again.
    pub fn leave_interrupts(&self) {
        let is_interruptible = &self.signals.is_interruptible;
        is_interruptible.store(false, Ordering::Relaxed);
    }

    /// Paints a frame; only what changed is written.
    pub(crate) fn draw(&mut self, paint: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if let Some(terminal) = &mut self.terminal {
            terminal.draw(paint)?;
        }
        Ok(())
    }

    /// Waits for the next thing to happen.
    pub(crate) fn next(&mut self) -> io::Result<Happening> {
        loop {
            if let Some(signal) = self.signals.ended() {
                return Ok(Happening::Signal(signal));
            }
            if self.signals.is_stopped.swap(false, Ordering::Relaxed) {
                self.suspend()?;
                return Ok(Happening::Back);
            }
            if self.signals.is_continued.swap(false, Ordering::Relaxed) {
                // The shell may have used the terminal.
                self.reopen()?;
                return Ok(Happening::Back);
            }
            if event::poll(PATIENCE)? {
                return Ok(Happening::Event(event::read()?));
            }
        }
    }

    /// Stops this process until somebody continues it.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        self.close();
        // Where stopping is not possible, it just goes on.
        let _ = emulate_default_handler(SIGTSTP);
        self.open()
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

/// Gives the terminal back, if it was taken.
fn restore() {
    if !IS_OPEN.swap(false, Ordering::Relaxed) {
        return;
    }
    // Nobody is left to be told if this fails.
    let mut out = io::stdout();
    let _ = queue!(
        out,
        Print(MOUSE_OFF),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
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
    fn new() -> io::Result<Self> {
        let signals = Self {
            is_away: Arc::new(AtomicBool::new(true)),
            is_interruptible: Arc::new(AtomicBool::new(true)),
            ended: Arc::default(),
            is_stopped: Arc::default(),
            is_continued: Arc::default(),
        };
        for signal in [SIGTERM, SIGQUIT, SIGTSTP] {
            flag::register_conditional_default(signal, Arc::clone(&signals.is_away))?;
        }
        flag::register_conditional_default(SIGINT, Arc::clone(&signals.is_interruptible))?;
        for signal in [SIGTERM, SIGQUIT, SIGINT] {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&signals.ended), number)?;
        }
        flag::register(SIGTSTP, Arc::clone(&signals.is_stopped))?;
        flag::register(SIGCONT, Arc::clone(&signals.is_continued))?;
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
