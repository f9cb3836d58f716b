//! A terminal with the program on it: a pseudo terminal and the emulator of
//! Alacritty, which wraps lines anew when its width changes and answers what
//! terminals are asked.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{Color, Processor, Rgb};
use pty_process::blocking::{Command, Pty, open};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};

use crate::environment;
use crate::world::{self, PATIENCE, UNSPOOL, wait_until};

/// Columns and rows.
pub(crate) type Size = (u16, u16);

/// A pseudo terminal with a process and an emulator at its two ends.
pub(crate) struct Terminal {
    pty: Arc<Pty>,
    screen: Arc<Mutex<Screen>>,
    child: Option<Child>,
    reader: Option<JoinHandle<()>>,
    /// Stops the reader.
    is_over: Arc<AtomicBool>,
}

struct Screen {
    term: Term<Answers>,
    parser: Processor,
    /// All bytes that were written to the terminal.
    bytes: Vec<u8>,
    /// Nobody has the terminal open any more.
    is_closed: bool,
}

/// Answers what the program asks the terminal.
#[derive(Clone)]
struct Answers(Arc<Pty>);

impl EventListener for Answers {
    fn send_event(&self, event: Event) {
        let answer = match event {
            Event::PtyWrite(text) => text,
            Event::ColorRequest(index, format) => {
                // 256 is the text's colour, 257 the background's.
                let level = if index == 257 { 0 } else { 255 };
                format(Rgb {
                    r: level,
                    g: level,
                    b: level,
                })
            }
            _ => return,
        };
        let _ = (&*self.0).write_all(answer.as_bytes());
    }
}

/// A command to start on a terminal, and its environment.
pub(crate) struct Start {
    size: Size,
    command: Command,
}

impl Start {
    /// `unspool` with arguments.
    pub(crate) fn unspool(size: Size, arguments: &[&str]) -> Self {
        Self::program(size, UNSPOOL, arguments)
    }

    /// Any program.
    pub(crate) fn program(size: Size, program: &str, arguments: &[&str]) -> Self {
        world::reset_signals();
        let mut command = Command::new(program).args(arguments);
        for name in environment::REMOVED {
            command = command.env_remove(name);
        }
        let command = command.envs(environment::SET).env("TERM", "xterm-256color");
        Self { size, command }
    }

    /// Sets a variable.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.command = self.command.env(name, value);
        self
    }

    /// Its standard input is something else than the terminal.
    pub(crate) fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.command = self.command.stdin(stdin);
        self
    }

    pub(crate) fn start(self) -> Terminal {
        let (columns, rows) = self.size;
        let (pty, pts) = open().unwrap();
        pty.resize(pty_process::Size::new(rows, columns)).unwrap();
        let pty = Arc::new(pty);
        let config = Config {
            scrolling_history: 10_000,
            ..Config::default()
        };
        let size = TermSize::new(columns.into(), rows.into());
        let screen = Arc::new(Mutex::new(Screen {
            term: Term::new(config, &size, Answers(Arc::clone(&pty))),
            parser: Processor::new(),
            bytes: Vec::new(),
            is_closed: false,
        }));
        let child = self.command.spawn(pts).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let reader = {
            let (pty, screen) = (Arc::clone(&pty), Arc::clone(&screen));
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || read(&pty, &screen, &is_over))
        };
        Terminal {
            pty,
            screen,
            child: Some(child),
            reader: Some(reader),
            is_over,
        }
    }
}

fn read(pty: &Pty, screen: &Mutex<Screen>, is_over: &AtomicBool) {
    let mut chunk = vec![0; 1 << 16];
    let pause = Timespec {
        tv_sec: 0,
        tv_nsec: 20_000_000,
    };
    while !is_over.load(Ordering::Relaxed) {
        let mut descriptors = [PollFd::new(pty, PollFlags::IN)];
        if poll(&mut descriptors, Some(&pause)) == Ok(0) {
            continue;
        }
        // An error means that nobody has the other end open any more.
        let length = (&*pty).read(&mut chunk).unwrap_or(0);
        let mut screen = screen.lock().unwrap();
        if length == 0 {
            screen.is_closed = true;
            return;
        }
        screen.take(&chunk[..length]);
    }
}

impl Screen {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.parser.advance(&mut self.term, bytes);
    }

    /// All lines of scrollback and screen. Rows that the terminal wrapped are
    /// one line.
    fn lines(&self) -> Vec<String> {
        let grid = self.term.grid();
        let mut text = String::new();
        for line in grid.topmost_line().0..=grid.bottommost_line().0 {
            let row = &grid[Line(line)];
            let mut is_wrapped = false;
            for column in 0..grid.columns() {
                let cell = &row[Column(column)];
                is_wrapped = cell.flags.contains(Flags::WRAPLINE);
                let spacer = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
                if !cell.flags.intersects(spacer) {
                    text.push(cell.c);
                    text.extend(cell.zerowidth().into_iter().flatten());
                }
            }
            if !is_wrapped {
                text.push('\n');
            }
        }
        world::lines(&text)
    }
}

impl Screen {
    /// The screen as text with codes for its colours.
    fn painted(&self) -> String {
        let grid = self.term.grid();
        let mut text = String::new();
        for line in 0..=grid.bottommost_line().0 {
            let mut codes = String::new();
            for column in 0..grid.columns() {
                let cell = &grid[Line(line)][Column(column)];
                if cell.flags.intersects(Flags::WIDE_CHAR_SPACER) {
                    continue;
                }
                let now = codes_of(cell);
                if now != codes {
                    text.push_str("\u{1b}[0m");
                    text.push_str(&now);
                    codes = now;
                }
                text.push(cell.c);
                text.extend(cell.zerowidth().into_iter().flatten());
            }
            text.push_str("\u{1b}[0m\n");
        }
        text
    }
}

/// The codes that make a cell look as it does.
fn codes_of(cell: &Cell) -> String {
    let mut codes = String::new();
    for (flag, code) in [
        (Flags::BOLD, 1),
        (Flags::DIM, 2),
        (Flags::ITALIC, 3),
        (Flags::UNDERLINE, 4),
        (Flags::INVERSE, 7),
        (Flags::STRIKEOUT, 9),
    ] {
        if cell.flags.contains(flag) {
            let _ = write!(codes, "\u{1b}[{code}m");
        }
    }
    for (color, code) in [(cell.fg, 38), (cell.bg, 48)] {
        if let Color::Indexed(index) = color {
            let _ = write!(codes, "\u{1b}[{code};5;{index}m");
        }
    }
    codes
}

impl Terminal {
    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap()
    }

    /// All lines of scrollback and screen.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.screen().lines()
    }

    /// The same as one text.
    pub(crate) fn text(&self) -> String {
        self.lines().join("\n")
    }

    /// The screen as text with codes for its colours, one row a line.
    pub(crate) fn painted(&self) -> String {
        self.screen().painted()
    }

    /// All bytes that were written so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.screen().bytes.clone()
    }

    /// Returns true if the cursor is visible.
    pub(crate) fn shows_cursor(&self) -> bool {
        self.screen().term.mode().contains(TermMode::SHOW_CURSOR)
    }

    /// Returns true if the program shows the alternate screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.screen().term.mode().contains(TermMode::ALT_SCREEN)
    }

    /// Returns true if mouse events go to the program.
    pub(crate) fn takes_mouse(&self) -> bool {
        self.screen().term.mode().intersects(TermMode::MOUSE_MODE)
    }

    /// Returns true if the terminal wraps long lines.
    pub(crate) fn wraps(&self) -> bool {
        self.screen().term.mode().contains(TermMode::LINE_WRAP)
    }

    /// Returns true if the terminal echoes what is typed.
    pub(crate) fn echoes(&self) -> bool {
        let modes = tcgetattr(&*self.pty).unwrap();
        modes.local_modes.contains(LocalModes::ECHO)
    }

    /// Returns true if the program has given the terminal back. The program writes its
    /// escape sequences first and leaves raw mode afterwards: a key that is pressed in
    /// between is lost.
    pub(crate) fn is_restored(&self) -> bool {
        !self.is_alternate() && self.shows_cursor() && !self.takes_mouse() && self.echoes()
    }

    /// Changes the size, as if the window was dragged.
    pub(crate) fn resize(&self, (columns, rows): Size) {
        let mut screen = self.screen();
        let size = TermSize::new(columns.into(), rows.into());
        screen.term.resize(size);
        let size = pty_process::Size::new(rows, columns);
        self.pty.resize(size).unwrap();
    }

    /// Does something while nothing is read from the terminal.
    pub(crate) fn while_blocked(&self, work: impl FnOnce()) {
        let screen = self.screen();
        work();
        drop(screen);
    }

    /// Presses keys.
    pub(crate) fn press(&self, keys: &[u8]) {
        (&*self.pty).write_all(keys).unwrap();
    }

    /// The pipe that is its standard input.
    pub(crate) fn stdin(&mut self) -> ChildStdin {
        self.child().stdin.take().unwrap()
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(self.child.as_ref().unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until the text is visible.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let began = Instant::now();
        while !self.text().contains(text) {
            assert!(
                began.elapsed() < PATIENCE,
                "{text:?} never came:\n{}",
                self.text()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the last line ends with this text.
    #[track_caller]
    pub(crate) fn wait_for_end(&self, wanted: &str) {
        let began = Instant::now();
        while !self.text().ends_with(wanted) {
            let text = self.text();
            assert!(
                began.elapsed() < PATIENCE,
                "{wanted:?} is not last:\n{text}"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until nothing was written for half a second; returns the number of bytes
    /// written so far.
    #[track_caller]
    pub(crate) fn wait_for_quiet(&self) -> usize {
        let began = Instant::now();
        let (mut length, mut since) = (self.bytes().len(), Instant::now());
        while since.elapsed() < Duration::from_millis(500) {
            assert!(began.elapsed() < PATIENCE, "the program writes on");
            thread::sleep(Duration::from_millis(20));
            let now = self.bytes().len();
            if now != length {
                (length, since) = (now, Instant::now());
            }
        }
        length
    }

    /// Presses a key again and again until the program is over. Signals that come faster
    /// than the program takes them are merged.
    #[track_caller]
    pub(crate) fn press_until_end(&mut self, key: &[u8]) -> ExitStatus {
        wait_until("the end of the program", || {
            let is_over = self.child().try_wait().unwrap().is_some();
            if !is_over {
                self.press(key);
                thread::sleep(Duration::from_millis(100));
            }
            is_over
        });
        self.end()
    }

    /// Waits until the program is over and all that it wrote is on the screen.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until("the end of the program", || {
            status = self.child().try_wait().unwrap();
            status.is_some()
        });
        wait_until("the last bytes", || self.screen().is_closed);
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        status.unwrap()
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().unwrap()
    }

    /// Something else writes to the terminal.
    pub(crate) fn print(&self, text: &str) {
        self.screen().take(text.as_bytes());
    }

    /// Closes the window. What is left is the process.
    pub(crate) fn hang_up(mut self) -> Child {
        let child = self.child.take().unwrap();
        self.is_over.store(true, Ordering::Relaxed);
        self.reader.take().unwrap().join().unwrap();
        child
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
