//! Pictures, sounds and files that came with a text.
//!
//! The content is base64, often megabytes of it, and almost always only its
//! facts are shown. So it is neither decoded nor copied to find them: the size
//! follows from the length, type and dimensions from the first bytes.

mod base64;
mod header;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Body, Event, Payload};

/// A picture, a sound or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Media {
    /// The media type: that of the content if its first bytes show it, else the
    /// one that the agent names. `image/*` if only the kind is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mime: String,
    /// The size in bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The width of a picture in pixels, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The height of a picture in pixels, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// The file name or address, if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The content as base64, only if it was requested.
    #[serde(default, skip_serializing_if = "Payload::is_empty")]
    pub data: Payload,
}

impl Media {
    /// Creates the description of a content, without the content. `base64` may
    /// be escaped as in a JSON string.
    pub(crate) fn of_base64(mime: &str, base64: &str) -> Self {
        let header = header::read(base64::decoded(base64));
        let (width, height) = header.and_then(|header| header.size).unzip();
        Self {
            mime: header.map_or(mime, |header| header.mime).to_owned(),
            bytes: base64::size(base64),
            width,
            height,
            ..Self::default()
        }
    }

    /// Returns the size of the content that is here, whatever `bytes` claims.
    #[cfg(feature = "html")]
    pub(crate) fn data_size(&self) -> u64 {
        base64::size(&self.data.as_str()).unwrap_or_default()
    }

    /// Returns the content of a picture that any browser shows and that cannot
    /// hold a script: its media type, by its first bytes, and its base64.
    /// Returns `None` if the content is missing or is not valid base64, or if
    /// the picture claims more than [`MOST_PIXELS`].
    #[cfg(feature = "html")]
    pub(crate) fn raster(&self) -> Option<Raster<'_>> {
        let data = self.data.as_str();
        let header = header::read(base64::decoded(&data))?;
        let (width, height) = header.size?;
        let is_small = u64::from(width) * u64::from(height) <= MOST_PIXELS;
        (header.is_raster && is_small && base64::is_strict(&data)).then_some(Raster {
            mime: header.mime,
            width,
            height,
            base64: data,
        })
    }
}

impl Event {
    /// Drops the content of media and keeps the facts.
    pub(crate) fn drop_media_content(&mut self) {
        for media in self.media_mut() {
            media.data = Payload::default();
        }
    }

    /// Returns the pictures, sounds and files of the event.
    pub(crate) fn media_mut(&mut self) -> &mut [Media] {
        match &mut self.body {
            Body::User(user) => &mut user.media,
            Body::Text(message) | Body::Reasoning(message) => &mut message.media,
            Body::ToolResult(result) => &mut result.media,
            _ => &mut [],
        }
    }
}

/// Maximum pixels of a picture in a page. A small file can claim billions, for
/// which a browser would reserve memory.
const MOST_PIXELS: u64 = 50_000_000;

/// A picture that a page can embed.
pub(crate) struct Raster<'a> {
    pub(crate) mime: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) base64: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of 2×1 pixels.
    pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAADklEQVR42mP4z8DwH4QBEfcD/f6tu5kAAAAASUVORK5CYII=";

    #[test]
    fn the_facts_come_from_the_content() {
        let media = Media::of_base64("image/jpeg", PNG);
        assert_eq!(media.mime, "image/png");
        assert_eq!((media.width, media.height), (Some(2), Some(1)));
        assert_eq!(media.bytes, Some(71));
        assert!(media.data.is_empty());
    }

    #[test]
    fn content_that_is_not_base64_has_no_size() {
        let media = Media::of_base64("image/png", "<omitted>");
        assert_eq!(media, Media::new("image/png"));
        assert_eq!(Media::of_base64("image/png", ""), Media::new("image/png"));
    }

    #[test]
    fn only_pictures_that_are_what_they_say_are_embedded() {
        let raster = |data: &str| {
            let media = Media::new("image/png").with_data(data);
            media.raster().map(|raster| raster.mime)
        };
        assert_eq!(raster(PNG), Some("image/png"));
        // A script, markup after the picture, a document.
        assert_eq!(raster("PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"), None);
        assert_eq!(raster(&format!("{PNG}\"><script>")), None);
        assert_eq!(raster("JVBERi0xLjcK"), None);
        // A picture that claims 4,294,967,295 pixels in both directions.
        assert_eq!(raster("iVBORw0KGgoAAAANSUhEUv//////////CAYAAAA="), None);
        assert_eq!(raster(""), None);
    }
}
