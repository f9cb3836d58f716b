//! A client connected to a scripted agent.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use unspool::event::Body;
use unspool_acp::schema::{ContentBlock, TextContent};
use unspool_acp::{Client, ClientConfig, Incoming, Launch, Update};

/// Time limit of each step.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct World {
    pub(crate) client: Client,
    incoming: Receiver<Incoming>,
    pub(crate) updates: Vec<Update>,
    pub(crate) root: PathBuf,
    _folder: tempfile::TempDir,
}

impl World {
    /// Starts the scripted agent with these flags; `{root}` is replaced by the project's
    /// folder.
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::with(flags, |_| {})
    }

    pub(crate) fn with(flags: &[&str], change: impl FnOnce(&mut ClientConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let mut config = ClientConfig::new(&root);
        change(&mut config);
        let mut argv = vec![fake_agent::executable().into()];
        let here = root.to_str().unwrap();
        argv.extend(flags.iter().map(|flag| flag.replace("{root}", here).into()));
        let launch = Launch::new(argv, &root);
        let (sender, incoming) = channel();
        let client = Client::start(&launch, config, move |incoming| {
            let _ = sender.send(incoming);
        });
        Self {
            client: client.unwrap(),
            incoming,
            updates: Vec::new(),
            root,
            _folder: folder,
        }
    }

    /// Processes the next input; returns true if it was a line.
    pub(crate) fn step(&mut self) -> bool {
        let incoming = self.incoming.recv_timeout(PATIENCE).unwrap();
        let is_line = matches!(incoming, Incoming::Line(_));
        let new = self.client.receive(incoming);
        self.updates.extend(new);
        is_line
    }

    pub(crate) fn until(&mut self, mut is_met: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let new = self.client.take_updates();
        self.updates.extend(new);
        while !is_met(self) {
            assert!(Instant::now() < deadline, "{:?}", self.client.phase());
            self.step();
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        let text = TextContent::new(text);
        self.client.prompt(vec![ContentBlock::Text(text)]);
    }

    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.updates.iter().filter_map(|update| match update {
            Update::Event(event) => Some(&event.body),
            _ => None,
        })
    }

    /// Returns the text of all answers so far.
    pub(crate) fn text(&self) -> String {
        self.bodies()
            .filter_map(|body| match body {
                Body::Text(message) => Some(message.text.to_string()),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn is_ended(&self) -> bool {
        let mut updates = self.updates.iter();
        updates.any(|update| matches!(update, Update::Ended { .. }))
    }
}
