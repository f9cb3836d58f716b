//! Writes the display modes `text` and `verbose`, for scripts and logs.
//!
//! `text` writes only the root agent's answers, deltas as they arrive, each
//! message followed by a newline. `verbose` adds a line per tool call, `[tool:
//! Read(src/main.rs)]`, with the same labels for every provider. All other
//! events write nothing. Input that no provider claims is passed on as it is.
//!
//! ```
//! use unspool::answer::Answer;
//! use unspool::Event;
//!
//! let (mut answer, mut out) = (Answer::text(), Vec::new());
//! for line in [
//!     r#"{"kind":"reasoning","id":"r1","text":"Hm."}"#,
//!     r#"{"kind":"text","id":"m1","text":"Forty-two."}"#,
//! ] {
//!     let event = Event::from_json(line).map_err(std::io::Error::other)?;
//!     answer.event(&event, &mut out)?;
//! }
//! answer.finish(&mut out)?;
//! assert_eq!(out, b"Forty-two.\n");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Write};

use crate::event::{Body, Category, Event, Message, ToolUse, Unknown};
use crate::recent::RecentSet;
use crate::sanitize;

/// Writes answers and, in verbose mode, a marker per tool call.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    verbose: bool,
    sanitize: bool,
    /// The message being written.
    open: Option<OpenMessage>,
    /// Ids of the latest calls that have a marker.
    marked: RecentSet<String, MAX_MARKED>,
}

#[derive(Clone, Debug, Default)]
struct OpenMessage {
    id: String,
    written: String,
    /// True if a marker was written after the last text.
    interrupted: bool,
    /// True for text that no agent wrote, which gets no newline of its own.
    preformatted: bool,
}

/// Number of calls remembered, to write one marker each.
const MAX_MARKED: usize = 256;

impl Answer {
    /// Creates a writer for answers only.
    pub fn text() -> Self {
        Self::default()
    }

    /// Creates a writer for answers and call markers.
    pub fn verbose() -> Self {
        Self {
            verbose: true,
            ..Self::default()
        }
    }

    /// Sets whether control characters are escaped, as a terminal requires.
    /// Pipes and files receive the text verbatim.
    pub fn sanitized(self, sanitize: bool) -> Self {
        Self { sanitize, ..self }
    }

    /// Writes the output of an event.
    pub fn event(&mut self, event: &Event, out: &mut dyn Write) -> io::Result<()> {
        match &event.body {
            Body::Text(message) if event.agent.is_none() => self.message(message, out),
            Body::ToolUse(call) if self.verbose => self.call(call, out),
            Body::Plan(_) if self.verbose => self.marker("[tool: Plan]", out),
            Body::TurnEnd(_) if event.agent.is_none() => self.end(out),
            Body::Unknown(unknown) if unknown.unclaimed => self.pass(unknown, out),
            _ => Ok(()),
        }
    }

    /// Ends the last message.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.open.as_ref().is_some_and(|open| open.preformatted) {
            self.open = None;
        }
        self.end(out)
    }

    /// Writes a line of JSON that no provider claims.
    fn pass(&mut self, unknown: &Unknown, out: &mut dyn Write) -> io::Result<()> {
        self.end(out)?;
        let text = unknown.text.as_str();
        if self.sanitize {
            out.write_all(sanitize::text(&text).as_bytes())?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        out.write_all(b"\n")
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        // A picture has no text.
        if message.text.is_empty() && !message.media.is_empty() {
            return Ok(());
        }
        if self.open.as_ref().is_some_and(|open| open.id != message.id) {
            self.end(out)?;
        }
        let text = message.text.as_str();
        let open = self.open.get_or_insert_with(|| OpenMessage {
            id: message.id.clone(),
            preformatted: message.preformatted,
            ..OpenMessage::default()
        });
        let (new, restarted) = if message.delta {
            (text.as_ref(), false)
        } else {
            // Write the rest of the final form if it extends the deltas, else
            // all of it.
            match text.strip_prefix(open.written.as_str()) {
                Some(rest) => (rest, false),
                None => (text.as_ref(), true),
            }
        };
        if restarted && !open.interrupted {
            out.write_all(b"\n")?;
        }
        open.interrupted = false;
        if restarted {
            open.written.clear();
        }
        open.written.push_str(new);
        if self.sanitize {
            out.write_all(sanitize::text(new).as_bytes())?;
        } else {
            out.write_all(new.as_bytes())?;
        }
        if !message.delta {
            self.end(out)?;
        }
        Ok(())
    }

    fn call(&mut self, call: &ToolUse, out: &mut dyn Write) -> io::Result<()> {
        if !self.marked.add(&call.id) {
            return Ok(());
        }
        let label = marker_label(call);
        let label = sanitize::line(&label);
        if call.arg.is_empty() {
            self.marker(&format!("[tool: {label}]"), out)
        } else {
            self.marker(
                &format!("[tool: {label}({})]", sanitize::line(&call.arg)),
                out,
            )
        }
    }

    /// Writes a marker on a line of its own, ending an open line first.
    fn marker(&mut self, marker: &str, out: &mut dyn Write) -> io::Result<()> {
        if let Some(open) = &mut self.open {
            if !open.interrupted && !open.written.ends_with('\n') {
                out.write_all(b"\n")?;
            }
            open.interrupted = true;
        }
        writeln!(out, "{marker}")
    }

    /// Writes the newline after a message, unless a marker already ended its
    /// line.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.open.take() {
            Some(open) if open.preformatted && open.written.ends_with('\n') => Ok(()),
            Some(open) if !open.interrupted => out.write_all(b"\n"),
            _ => Ok(()),
        }
    }
}

/// Returns the label of a call's category, the same for every provider; tools
/// without a category keep their name.
fn marker_label(call: &ToolUse) -> String {
    match call.category {
        Category::Read => "Read",
        Category::Write => "Write",
        Category::Edit => "Edit",
        Category::Delete => "Delete",
        Category::Move => "Move",
        Category::Search => "Grep",
        Category::List => "Glob",
        Category::Execute => "Bash",
        Category::Fetch => "Fetch",
        Category::Think => "Think",
        Category::Plan => "Plan",
        Category::Task => "Task",
        Category::Other => &call.name,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    fn written(mut answer: Answer, lines: &str) -> String {
        let mut reader = Reader::new();
        reader.push(lines.as_bytes());
        reader.finish();
        let mut out = Vec::new();
        for event in reader.events() {
            answer.event(&event, &mut out).unwrap();
        }
        answer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const DELTAS: &str = r#"{"kind":"text","seq":0,"id":"a","text":"Hel","delta":true}
{"kind":"tool_use","seq":1,"id":"1","name":"read_file","category":"read","arg":"a.rs"}
{"kind":"text","seq":2,"id":"a","text":"lo\n","delta":true}
{"kind":"tool_use","seq":3,"id":"2","name":"frob","category":"other"}
{"kind":"text","seq":4,"id":"b","text":"Bye"}
{"kind":"text","seq":5,"id":"c","text":"inner","delta":true,"agent":{"id":"x","depth":1}}
{"kind":"plan","seq":6,"entries":[]}
{"kind":"turn_end","seq":7,"status":"completed"}
"#;

    #[test]
    fn text_is_the_answer_alone() {
        assert_eq!(written(Answer::text(), DELTAS), "Hello\n\nBye\n");
    }

    #[test]
    fn a_picture_is_no_text() {
        let lines = r#"{"kind":"text","seq":0,"id":"a","text":"Look: ","delta":true}
{"kind":"text","seq":1,"id":"a","media":[{"mime":"image/png"}],"delta":true}
{"kind":"text","seq":2,"id":"a","text":"a cat.","delta":true}
{"kind":"text","seq":3,"id":"b","media":[{"mime":"image/png"}]}
{"kind":"turn_end","seq":4,"status":"completed"}
"#;
        assert_eq!(written(Answer::text(), lines), "Look: a cat.\n");
        assert_eq!(written(Answer::verbose(), lines), "Look: a cat.\n");
    }

    #[test]
    fn verbose_adds_a_line_per_call() {
        assert_eq!(
            written(Answer::verbose(), DELTAS),
            "Hel\n[tool: Read(a.rs)]\nlo\n[tool: frob]\nBye\n[tool: Plan]\n"
        );
    }

    #[test]
    fn a_final_form_adds_its_rest_or_is_written_again() {
        let extends = r#"{"kind":"text","seq":0,"id":"a","text":"Hel","delta":true}
{"kind":"text","seq":1,"id":"a","text":"Hello"}"#;
        assert_eq!(written(Answer::text(), extends), "Hello\n");
        let differs = r#"{"kind":"text","seq":0,"id":"a","text":"Hel","delta":true}
{"kind":"text","seq":1,"id":"a","text":"Bye"}"#;
        assert_eq!(written(Answer::text(), differs), "Hel\nBye\n");
    }

    #[test]
    fn input_of_no_agent_is_passed_on_as_it_is() {
        let lines = "{\"a\":1}\r\nwords\n\n[{\"b\":2},{\"c\":3}]\n{\"d\": \"\u{1b}\"}\n";
        assert_eq!(written(Answer::text(), lines), lines);
        assert_eq!(written(Answer::verbose(), lines), lines);
        let body = "{\n  \"a\": 1\n}\n";
        assert_eq!(written(Answer::text(), body), body);
        let many = "{\"a\":1}\nb\n".repeat(20);
        assert_eq!(written(Answer::text(), &many), many);
        assert_eq!(
            written(Answer::text().sanitized(true), lines)
                .matches('\u{1b}')
                .count(),
            0
        );
        // A known agent's unknown lines are no answer.
        let run = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"news\"}\n";
        assert_eq!(written(Answer::text(), run), "");
    }

    #[test]
    fn a_terminal_gets_no_escape_sequence() {
        let hostile = r#"{"kind":"text","seq":0,"id":"a","text":"\u001b]0;x\u0007"}"#;
        assert_eq!(written(Answer::text(), hostile), "\u{1b}]0;x\u{7}\n");
        assert_eq!(
            written(Answer::text().sanitized(true), hostile),
            "\\x1B]0;x\\x07\n"
        );
    }
}
