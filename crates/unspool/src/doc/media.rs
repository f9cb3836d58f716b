//! Describes pictures, sounds and files in words: `[image 640×480 PNG, 82 kB]`.

use super::{Line, Role, Span};
use crate::event::Media;
use crate::sanitize;

/// Maximum characters of a name.
const LONGEST_NAME: usize = 120;

/// Returns the line that describes a picture, a sound or a file.
pub(crate) fn describe(media: &Media) -> Line {
    vec![Span::role(description(media), Role::Accent)]
}

/// Returns the description as text. Unknown facts are left out.
pub(crate) fn description(media: &Media) -> String {
    let dimensions = media.width.zip(media.height);
    let words = [
        Some(kind(&media.mime).to_owned()),
        Some(short_name(&media.name)).filter(|name| !name.is_empty()),
        dimensions.map(|(width, height)| format!("{width}×{height}")),
        format_name(&media.mime),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let size = media.bytes.map(size).map(|size| format!(", {size}"));
    format!("[{}{}]", words.join(" "), size.unwrap_or_default())
}

fn kind(mime: &str) -> &'static str {
    match mime.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        Some("video") => "video",
        _ => "file",
    }
}

/// Returns the last component of a path, or a whole web address.
fn short_name(name: &str) -> String {
    let is_path = name.starts_with(['/', '.', '~']) || name.starts_with("file:");
    let shown = if is_path {
        name.trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(name)
    } else {
        name
    };
    let mut short: String = shown.chars().take(LONGEST_NAME).collect();
    if short.len() < shown.len() {
        short.push('…');
    }
    sanitize::line(&short).into_owned()
}

/// Returns the usual name of a format; `None` if the media type does not say
/// more than the kind.
fn format_name(mime: &str) -> Option<String> {
    let subtype = mime.split_once('/')?.1;
    let name = match subtype {
        "*" | "" | "octet-stream" => return None,
        "svg+xml" => "SVG",
        "mpeg" if mime.starts_with("audio/") => "MP3",
        "plain" => "text",
        "webp" => "WebP",
        other => other.strip_prefix("x-").unwrap_or(other),
    };
    let is_short = name.len() <= 8 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match name {
        "text" | "WebP" => Some(name.to_owned()),
        _ => is_short.then(|| name.to_ascii_uppercase()),
    }
}

/// Returns a size in the largest unit, with one digit after the point below ten.
fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut divisor: u64 = 1000;
    let mut unit = "kB";
    for larger in ["MB", "GB", "TB"] {
        if rounded(bytes, divisor) < 1000 {
            break;
        }
        divisor *= 1000;
        unit = larger;
    }
    let tenths = rounded(bytes, divisor / 10);
    if tenths < 100 && !tenths.is_multiple_of(10) {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", rounded(bytes, divisor))
    }
}

fn rounded(number: u64, divisor: u64) -> u64 {
    number.saturating_add(divisor / 2) / divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_say_what_is_known() {
        let image = Media::new("image/png")
            .with_width(640)
            .with_height(480)
            .with_bytes(81_920);
        assert_eq!(description(&image), "[image 640×480 PNG, 82 kB]");
        let sound = Media::new("audio/wav").with_bytes(1_200_000);
        assert_eq!(description(&sound), "[audio WAV, 1.2 MB]");
        let file = Media::new("application/pdf")
            .with_name("/tmp/report.pdf")
            .with_bytes(40_000);
        assert_eq!(description(&file), "[file report.pdf PDF, 40 kB]");
        assert_eq!(description(&Media::new("image/*")), "[image]");
        assert_eq!(description(&Media::default()), "[file]");
        let remote = Media::new("image/*").with_name("https://example.com/a/b");
        assert_eq!(description(&remote), "[image https://example.com/a/b]");
        let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        assert_eq!(
            description(&Media::new(word).with_name("a.docx")),
            "[file a.docx]"
        );
    }

    #[test]
    fn names_cannot_break_the_line() {
        let hostile =
            Media::new("image/png").with_name(format!("a\u{1b}[31m\nb{}", "x".repeat(999)));
        let shown = description(&hostile);
        assert!(!shown.contains(['\n', '\u{1b}']), "{shown}");
        assert!(shown.chars().count() < 160, "{shown}");
    }

    #[test]
    fn sizes_are_rounded() {
        let cases = [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1 kB"),
            (1449, "1.4 kB"),
            (9_960, "10 kB"),
            (81_920, "82 kB"),
            (999_400, "999 kB"),
            (999_960, "1 MB"),
            (1_200_000, "1.2 MB"),
            (7_340_032_000, "7.3 GB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
        assert!(size(u64::MAX).ends_with(" TB"));
    }
}
