//! Converts events to slots: one per entry, in order of their start. A slot
//! keeps its position and changes in place: a message grows, a call ends, a
//! request is answered.
//!
//! [`Session`](crate::session::Session) joins the events; the timeline only
//! tracks the position of each entry. Growing entries stay in the transcript,
//! so that a delta does not copy the message. Entries without visible content
//! have no slot.
//!
//! A call that started a sub-agent is the exception: when it ends, the entries of
//! the sub-agent are below its slot. The slot keeps the running form, and the
//! finished one follows the entries, as it does where entries are shown once.
//!
//! Used by views that scroll; they redraw the slots that an event changed.
//!
//! ```
//! use unspool::timeline::Timeline;
//! use unspool::Event;
//!
//! let mut timeline = Timeline::new();
//! let mut changed = Vec::new();
//! for piece in ["One ", "answer."] {
//!     let line = format!(r#"{{"kind":"text","id":"m1","text":"{piece}","delta":true}}"#);
//!     timeline.event(Event::from_json(&line)?, &mut |slot| changed.push(slot));
//! }
//! assert_eq!(timeline.len(), 1);
//! assert_eq!(changed, [0, 0]);
//! assert!(timeline.is_open(0));
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::collections::{HashMap, HashSet};

use crate::event::{Event, TurnStatus};
use crate::session::{Entry, Item, Tool};
use crate::transcript::Transcript;

/// The entries of a run, each in its slot.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    transcript: Transcript,
    slots: Vec<Slot>,
    /// Slots of the entries that are still in the transcript, by entry number.
    in_transcript: HashMap<u64, usize>,
    /// Calls whose sub-agents have slots below them.
    delegated: HashSet<String>,
}

#[derive(Clone, Debug)]
struct Slot {
    revision: u32,
    place: Place,
}

/// The location of an entry.
#[derive(Clone, Debug)]
enum Place {
    /// In the transcript, with this number.
    InTranscript(u64),
    /// Finished, and stored here.
    Finished(Box<Entry>),
    /// The running form of a call whose finished form is in a later slot.
    Continued(Box<Entry>),
}

impl Timeline {
    /// Creates an empty timeline.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns true if there are no slots.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the current entry of a slot.
    pub fn entry(&self, slot: usize) -> Option<&Entry> {
        match &self.slots.get(slot)?.place {
            Place::Finished(entry) | Place::Continued(entry) => Some(entry),
            Place::InTranscript(number) => self.transcript.open_entry(*number).or_else(|| {
                let mut waiting = self.transcript.waiting().iter();
                waiting.find(|entry| entry.number == *number)
            }),
        }
    }

    /// Returns a number that changes whenever the slot's entry does.
    pub fn revision(&self, slot: usize) -> u32 {
        self.slots.get(slot).map_or(0, |slot| slot.revision)
    }

    /// Returns true if the slot's entry may still change.
    pub fn is_open(&self, slot: usize) -> bool {
        match self.slots.get(slot).map(|slot| &slot.place) {
            Some(Place::InTranscript(number)) => self.transcript.open_entry(*number).is_some(),
            _ => false,
        }
    }

    /// Returns true for the running form of a call whose finished form is in a
    /// later slot, below the sub-agent that it started.
    pub fn is_continued(&self, slot: usize) -> bool {
        let place = self.slots.get(slot).map(|slot| &slot.place);
        matches!(place, Some(Place::Continued(_)))
    }

    /// Returns the open entries, oldest first.
    pub fn open(&self) -> &[Entry] {
        self.transcript.open()
    }

    /// Processes an event and reports the slots that it added or changed.
    pub fn event(&mut self, event: Event, changed: &mut dyn FnMut(usize)) {
        let waited = self.transcript.waiting().len();
        let mut finished = Vec::new();
        self.transcript
            .event(event, &mut |entry| finished.push(entry));
        for entry in finished {
            self.finished(entry, changed);
        }
        // Entries that wait for a message are finished too.
        let waiting = self.transcript.waiting().iter().skip(waited);
        let waiting: Vec<u64> = waiting
            .filter(|entry| is_visible(&entry.item))
            .map(|entry| entry.number)
            .collect();
        let touched = self.transcript.touched();
        for number in waiting.into_iter().chain(touched) {
            self.hold(number, changed);
        }
    }

    /// Ends the stream: open entries stay unfinished.
    pub fn finish(&mut self, changed: &mut dyn FnMut(usize)) {
        let mut finished = Vec::new();
        self.transcript.finish(&mut |entry| finished.push(entry));
        for entry in finished {
            self.finished(entry, changed);
        }
    }

    /// Adds or updates the slot of an entry in the transcript.
    fn hold(&mut self, number: u64, changed: &mut dyn FnMut(usize)) {
        let next = self.slots.len();
        let at = *self.in_transcript.entry(number).or_insert(next);
        if let Some(slot) = self.slots.get_mut(at) {
            slot.revision = slot.revision.wrapping_add(1);
        } else {
            self.slots.push(Slot {
                revision: 0,
                place: Place::InTranscript(number),
            });
            self.note_sub_agent(at);
        }
        changed(at);
    }

    fn finished(&mut self, mut entry: Entry, changed: &mut dyn FnMut(usize)) {
        if let Item::Text(text) | Item::Reasoning(text) = &mut entry.item {
            text.text.shrink_to_fit();
        }
        let in_transcript = self.in_transcript.remove(&entry.number);
        if let (Some(at), Item::Tool(tool)) = (in_transcript, &entry.item)
            && self.delegated.remove(&tool.call.id)
        {
            self.freeze(at, &entry);
            changed(at);
            self.push(entry, changed);
            return;
        }
        if let Some(slot) = in_transcript.and_then(|at| self.slots.get_mut(at)) {
            slot.revision = slot.revision.wrapping_add(1);
            slot.place = Place::Finished(Box::new(entry));
            changed(in_transcript.unwrap_or_default());
        } else if is_visible(&entry.item) {
            self.push(entry, changed);
        }
    }

    /// Adds a finished entry.
    fn push(&mut self, entry: Entry, changed: &mut dyn FnMut(usize)) {
        let at = self.slots.len();
        self.slots.push(Slot {
            revision: 0,
            place: Place::Finished(Box::new(entry)),
        });
        self.note_sub_agent(at);
        changed(at);
    }

    /// Remembers the call that started the sub-agent of a slot.
    fn note_sub_agent(&mut self, slot: usize) {
        let agent = self.entry(slot).and_then(|entry| entry.agent.as_ref());
        let parent = agent
            .map(|agent| &agent.parent)
            .filter(|parent| !parent.is_empty());
        let Some(parent) = parent.filter(|parent| !self.delegated.contains(*parent)) else {
            return;
        };
        let is_parent =
            |entry: &Entry| matches!(&entry.item, Item::Tool(tool) if tool.call.id == *parent);
        if self.transcript.open().iter().any(is_parent) {
            self.delegated.insert(parent.clone());
        }
    }

    /// Keeps the running form of a call in its slot.
    fn freeze(&mut self, at: usize, finished: &Entry) {
        let (Some(slot), Item::Tool(tool)) = (self.slots.get_mut(at), &finished.item) else {
            return;
        };
        let running = Entry {
            item: Item::Tool(Tool::new(tool.call.clone())),
            ..finished.clone()
        };
        slot.revision = slot.revision.wrapping_add(1);
        slot.place = Place::Continued(Box::new(running));
    }
}

/// Returns true if such an entry can have visible content.
fn is_visible(item: &Item) -> bool {
    match item {
        Item::Session(_) | Item::State(_) => false,
        Item::TurnEnd(end) => end.status == TurnStatus::Interrupted,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> Event {
        Event::from_json(line).unwrap()
    }

    /// Returns a timeline and the slots that each event changed.
    fn run(lines: &[&str]) -> (Timeline, Vec<Vec<usize>>) {
        let mut timeline = Timeline::new();
        let mut changed = Vec::new();
        for line in lines {
            let mut slots = Vec::new();
            timeline.event(event(line), &mut |slot| slots.push(slot));
            changed.push(slots);
        }
        (timeline, changed)
    }

    fn texts(timeline: &Timeline) -> String {
        let word = |slot| match &timeline.entry(slot).unwrap().item {
            Item::Text(text) | Item::Reasoning(text) => text.text.clone(),
            Item::Tool(tool) if tool.result.is_some() => format!("{}!", tool.call.id),
            Item::Tool(tool) => tool.call.id.clone(),
            Item::Permission(request) => format!("{}?{}", request.title, request.outcome),
            Item::Notice(notice) => notice.text.as_str().into_owned(),
            Item::Usage(_) => "usage".to_owned(),
            Item::User(_) => "user".to_owned(),
            other => format!("{other:?}"),
        };
        let texts: Vec<String> = (0..timeline.len()).map(word).collect();
        texts.join(" ")
    }

    #[test]
    fn slots_keep_their_position() {
        let (timeline, changed) = run(&[
            r#"{"kind":"session","provider":"x"}"#,
            r#"{"kind":"tool_use","id":"t1","name":"Bash"}"#,
            r#"{"kind":"tool_use","id":"t2","name":"Bash","agent":{"id":"x","depth":1}}"#,
            r#"{"kind":"text","id":"a","text":"Hel","delta":true}"#,
            r#"{"kind":"notice","level":"info","text":"beside"}"#,
            r#"{"kind":"tool_result","id":"t2","status":"ok","agent":{"id":"x","depth":1}}"#,
            r#"{"kind":"text","id":"a","text":"lo","delta":true}"#,
            r#"{"kind":"tool_output","id":"t1","text":"out"}"#,
            r#"{"kind":"tool_result","id":"t1","status":"ok"}"#,
            r#"{"kind":"text","id":"b","text":"Bye"}"#,
        ]);
        assert_eq!(texts(&timeline), "t1! t2! Hello beside Bye");
        let expected: [&[usize]; 10] = [
            &[],
            &[0],
            &[1],
            &[2],
            &[3],
            &[1],
            &[2],
            &[0],
            &[0],
            &[2, 3, 1, 0, 4],
        ];
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_call_that_delegated_ends_below_its_sub_agent() {
        let lines = [
            r#"{"kind":"tool_use","id":"t1","name":"Task","category":"task"}"#,
            r#"{"kind":"tool_use","id":"t2","name":"Task","category":"task"}"#,
            r#"{"kind":"text","id":"a","text":"below","agent":{"id":"x","parent":"t1","depth":1}}"#,
            r#"{"kind":"tool_result","id":"t2","status":"ok"}"#,
            r#"{"kind":"tool_result","id":"t1","status":"ok"}"#,
            r#"{"kind":"text","id":"b","text":"late","agent":{"id":"y","parent":"t2","depth":1}}"#,
        ];
        let (timeline, changed) = run(&lines);
        assert_eq!(texts(&timeline), "t1 t2! below t1! late");
        assert_eq!(changed.get(4).unwrap(), &[0, 3]);
        assert!(timeline.is_continued(0) && !timeline.is_open(0) && !timeline.is_continued(3));
        let mut transcript = Transcript::new();
        let mut finished = Vec::new();
        for line in lines {
            transcript.event(event(line), &mut |entry| finished.push(entry.number));
        }
        let last = |id: &str| {
            let is_it = |slot: &usize| matches!(&timeline.entry(*slot).unwrap().item, Item::Tool(tool) if tool.call.id == id);
            (0..timeline.len()).rfind(is_it).unwrap()
        };
        let number = |slot: usize| timeline.entry(slot).unwrap().number;
        let at = |number: u64| finished.iter().position(|other| *other == number);
        assert!(
            at(number(last("t1"))) > at(number(2)),
            "as in the transcript"
        );
    }

    #[test]
    fn final_forms_and_answers_replace_open_entries() {
        let (timeline, _) = run(&[
            r#"{"kind":"permission","id":"p","title":"May I"}"#,
            r#"{"kind":"text","id":"a","text":"dra","delta":true}"#,
            r#"{"kind":"permission","id":"p","title":"May I now"}"#,
            r#"{"kind":"text","id":"a","text":"final"}"#,
            r#"{"kind":"permission","id":"p","outcome":"yes"}"#,
        ]);
        assert_eq!(texts(&timeline), "May I now?yes final");
        assert!(!timeline.is_open(0) && !timeline.is_open(1));
    }

    #[test]
    fn a_revision_changes_with_its_entry() {
        let mut timeline = Timeline::new();
        let piece = r#"{"kind":"text","id":"a","text":"x","delta":true}"#;
        let mut seen = Vec::new();
        for line in [piece, piece, r#"{"kind":"user","text":"next"}"#] {
            timeline.event(event(line), &mut |_| {});
            seen.push((timeline.revision(0), timeline.is_open(0)));
        }
        assert_eq!(seen, [(0, true), (1, true), (2, false)]);
    }

    #[test]
    fn unfinished_entries_stay_and_usage_is_last() {
        let (mut timeline, _) = run(&[
            r#"{"kind":"tool_use","id":"t","name":"Bash"}"#,
            r#"{"kind":"usage","input_tokens":5}"#,
            r#"{"kind":"turn_end","status":"failed","reason":"why"}"#,
            r#"{"kind":"tool_use","id":"u","name":"Bash"}"#,
        ]);
        timeline.finish(&mut |_| {});
        assert_eq!(texts(&timeline), "t why usage u");
        assert!(!timeline.is_open(0) && !timeline.is_open(3));
    }

    /// A delta must not cost a copy of the message.
    #[test]
    fn a_message_of_many_deltas_is_not_copied() {
        let mut timeline = Timeline::new();
        let piece = event(r#"{"kind":"text","id":"a","text":"0123456789","delta":true}"#);
        for _ in 0..200_000 {
            timeline.event(piece.clone(), &mut |_| {});
        }
        let began = std::time::Instant::now();
        for _ in 0..1000 {
            timeline.event(piece.clone(), &mut |_| {});
        }
        // Copying two megabytes per delta would take longer.
        assert!(began.elapsed() < std::time::Duration::from_millis(60));
        assert_eq!(timeline.len(), 1);
    }
}
