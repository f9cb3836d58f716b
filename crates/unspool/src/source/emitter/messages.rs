//! Blocks of text and reasoning: assigns their ids and drops repetitions.

use std::hash::{DefaultHasher, Hasher};

use super::digest;
use crate::event::{Media, Message};
use crate::recent::RecentMap;

/// Finished blocks that later ones are compared with.
const DONE: usize = 64;
/// Blocks that may be open at once.
pub(super) const OPEN: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stream {
    Text,
    Reasoning,
}

/// Open and recently finished blocks. Texts are kept as digests, so that
/// messages of any length take the same space.
#[derive(Clone, Default)]
pub(super) struct Messages {
    /// Blocks that were streamed and whose final form has not come.
    pub(super) open: RecentMap<Key, Digest, OPEN>,
    /// The open block without an id of its own, per speaker.
    unnamed: RecentMap<String, Key, OPEN>,
    /// Digests of the texts of finished blocks, by the digests of their keys.
    done: RecentMap<u64, u64, DONE>,
    texts: u64,
    reasonings: u64,
}

pub(super) type Key = (Stream, String);

/// Incremental digest of a streamed message.
#[derive(Clone, Default)]
pub(super) struct Digest {
    text: DefaultHasher,
    /// Digest of the media, which may come anywhere between the pieces of text;
    /// 0 if there are none.
    media: u64,
}

impl Digest {
    fn of(text: &str, media: &[Media]) -> u64 {
        let mut digest = Self::default();
        digest.add(text, media);
        digest.value()
    }

    fn add(&mut self, text: &str, media: &[Media]) {
        self.text.write(text.as_bytes());
        for Media {
            mime, bytes, name, ..
        } in media
        {
            self.media = digest(&(self.media, mime, bytes, name));
        }
    }

    fn value(&self) -> u64 {
        self.text.finish() ^ self.media
    }
}

impl Messages {
    /// Returns the id to emit a piece under; `None` if it is a repetition.
    pub(super) fn accept(
        &mut self,
        stream: Stream,
        speaker: &str,
        id: Option<&str>,
        message: &Message,
    ) -> Option<String> {
        if stream == Stream::Reasoning || id.is_some() {
            self.end_unnamed_if(speaker, |open| open != stream || id.is_some());
        }
        let id = match id {
            Some(id) => id.to_owned(),
            None => self.unnamed_id(stream, speaker),
        };
        let key = (stream, id);
        let text = message.text.as_str();
        if message.delta {
            self.stream(&key, &text, &message.media);
            return Some(key.1);
        }
        self.unnamed.retain(|_, open| *open != key);
        let streamed = self.open.remove(&key).map(|digest| digest.value());
        let (block, text) = (digest(&key), Digest::of(&text, &message.media));
        let repeats = streamed == Some(text) || self.done.get(&block) == Some(&text);
        self.done.insert(block, text);
        (!repeats).then_some(key.1)
    }

    fn stream(&mut self, key: &Key, text: &str, media: &[Media]) {
        if let Some(digest) = self.open.get_mut(key) {
            digest.add(text, media);
            return;
        }
        let mut digest = Digest::default();
        digest.add(text, media);
        self.open.insert(key.clone(), digest);
    }

    fn unnamed_id(&mut self, stream: Stream, speaker: &str) -> String {
        if let Some((open, id)) = self.unnamed.get(speaker) {
            if *open == stream {
                return id.clone();
            }
            self.end_unnamed_of(speaker);
        }
        let (prefix, counter) = match stream {
            Stream::Text => ("text", &mut self.texts),
            Stream::Reasoning => ("reasoning", &mut self.reasonings),
        };
        *counter += 1;
        let id = format!("{prefix}-{counter}");
        self.unnamed
            .insert(speaker.to_owned(), (stream, id.clone()));
        id
    }

    pub(super) fn end_unnamed(&mut self, speaker: &str) {
        self.end_unnamed_if(speaker, |_| true);
    }

    fn end_unnamed_if(&mut self, speaker: &str, ends: impl Fn(Stream) -> bool) {
        if self
            .unnamed
            .get(speaker)
            .is_some_and(|(stream, _)| ends(*stream))
        {
            self.end_unnamed_of(speaker);
        }
    }

    fn end_unnamed_of(&mut self, speaker: &str) {
        if let Some(key) = self.unnamed.remove(speaker)
            && let Some(streamed) = self.open.remove(&key)
        {
            self.done.insert(digest(&key), streamed.value());
        }
    }

    pub(super) fn was_shown(&self, text: &str) -> bool {
        let digest = Digest::of(text, &[]);
        self.done.values().any(|done| *done == digest)
            || self.open.values().any(|open| open.value() == digest)
    }
}
