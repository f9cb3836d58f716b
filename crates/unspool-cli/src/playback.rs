//! Replays a recording at its original speed.

use std::sync::mpsc::SyncSender;
use std::time::Duration;
use std::{io, thread};

use jiff::Timestamp;
use unspool::ReaderOptions;
use unspool::event::{Body, Event};
use unspool_sessions::driver::Piece;
use unspool_sessions::input::{Batch, Input};

use crate::cli::Speed;
use crate::watch::Update;

/// Maximum pause, before it is divided by the speed.
const LONGEST: Duration = Duration::from_secs(2);

/// Sends the events of an input with the recorded pauses.
pub(crate) fn play(
    input: &mut Input,
    options: ReaderOptions,
    speed: Speed,
    sender: &SyncSender<Update>,
) -> io::Result<()> {
    let mut player = Player {
        speed,
        sender,
        last: None,
    };
    // The outer error means that the receiver is gone.
    let read = input.events(options, |batch| match batch {
        Batch::Event(event) => player.play(event),
        Batch::End => Ok(()),
    });
    read.unwrap_or(Ok(()))
}

struct Player<'a> {
    speed: Speed,
    sender: &'a SyncSender<Update>,
    /// Time of the last event that has one.
    last: Option<Timestamp>,
}

impl Player<'_> {
    fn play(&mut self, event: Event) -> anyhow::Result<()> {
        let pause = self.pause(&event);
        if let Speed::Times(times) = self.speed {
            thread::sleep(pause.min(LONGEST).div_f64(times));
        }
        let piece = Piece::Events(vec![event]);
        self.sender.send(Update::Piece(piece))?;
        Ok(())
    }

    /// Returns the pause before an event. Events without a time get a readable
    /// default.
    fn pause(&mut self, event: &Event) -> Duration {
        let time = event.time.as_deref();
        let Some(time) = time.and_then(|time| time.parse::<Timestamp>().ok()) else {
            return usual(&event.body);
        };
        let last = self.last.replace(time).unwrap_or(time);
        Duration::try_from(time.duration_since(last)).unwrap_or_default()
    }
}

fn usual(body: &Body) -> Duration {
    Duration::from_millis(match body {
        Body::Text(message) | Body::Reasoning(message) if message.delta => 25,
        Body::Text(_) | Body::Reasoning(_) | Body::User(_) => 600,
        Body::ToolUse(_) => 250,
        Body::ToolResult(_) => 700,
        Body::Plan(_) | Body::Edit(_) | Body::Notice(_) => 300,
        _ => 0,
    })
}
