//! What stands in a person's message for what is no text, whoever the agent is.

/// The word for a part of this type; `None` if it may be text.
pub(super) fn stand_in(kind: &str) -> Option<&'static str> {
    match kind {
        "image" | "image_url" | "input_image" => Some("[image]"),
        "audio" | "input_audio" => Some("[audio]"),
        "file" | "input_file" => Some("[file]"),
        _ => None,
    }
}
