//! Placeholders for the media in a user's message.

/// Returns the placeholder for a part of this type; `None` for text.
pub(super) fn stand_in(kind: &str) -> Option<&'static str> {
    match kind {
        "image" | "image_url" | "input_image" => Some("[image]"),
        "audio" | "input_audio" => Some("[audio]"),
        "file" | "input_file" => Some("[file]"),
        _ => None,
    }
}
