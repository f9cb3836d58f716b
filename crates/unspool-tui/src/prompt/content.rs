//! Converts a message to the content blocks sent to an agent.
//!
//! The text comes first, then one block for each mentioned file:
//!
//! | file | if the agent supports | block |
//! |---|---|---|
//! | text up to [`MAX_TEXT`] | `embeddedContext` | the text itself |
//! | PNG, JPEG, GIF or WebP content up to [`MAX_IMAGE`] | `image` | the image |
//! | anything else, also a directory | always | a link |
//!
//! Nothing outside the project root is read or named; the file reader refuses
//! symbolic links that lead there. A mention that does not exist may not be a
//! file at all (`@dataclass`) and stays plain text.

use std::io;
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use unspool_acp::schema::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, ImageContent, ResourceLink,
    TextContent, TextResourceContents,
};

use super::Message;
use unspool_acp::files::FileError;

/// Maximum size of an embedded text, in bytes.
pub const MAX_TEXT: usize = 256 * 1024;
/// Maximum size of an embedded image, in bytes.
pub const MAX_IMAGE: usize = 5 * 1024 * 1024;
/// Number of bytes after which a file reader may stop.
pub const MAX_READ: usize = MAX_IMAGE + 1;

/// Content types that the agent supports besides text and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supports {
    /// Embedded files.
    pub embedded: bool,
    /// Images.
    pub images: bool,
}

/// The reason why a file is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It does not exist.
    Missing,
    /// It is outside the project root.
    Outside,
    /// A symbolic link leads outside the project root.
    Link,
    /// It could not be read.
    Unreadable(io::ErrorKind),
}

/// The converted message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// The blocks, text first.
    pub blocks: Vec<ContentBlock>,
    /// Mentioned files that are not sent, with the reason.
    pub left_out: Vec<(PathBuf, Reason)>,
}

/// Converts a message. `read` returns the content of a path relative to the root.
pub fn blocks(
    message: &Message,
    root: &Path,
    supports: Supports,
    mut read: impl FnMut(&Path) -> Result<Vec<u8>, FileError>,
) -> Content {
    let mut built = Content::default();
    built
        .blocks
        .push(ContentBlock::Text(TextContent::new(message.text.as_str())));
    let mut seen: Vec<PathBuf> = Vec::new();
    for mention in &message.mentions {
        let Some(path) = inside(&mention.path, root) else {
            built.left_out.push((mention.path.clone(), Reason::Outside));
            continue;
        };
        if seen.contains(&path) {
            continue;
        }
        match read(&path) {
            Ok(bytes) => built.blocks.push(block(&path, root, supports, &bytes)),
            Err(FileError::NotAFile) => built.blocks.push(link(&path, root, None)),
            Err(error) => {
                built.left_out.push((path, reason(&error)));
                continue;
            }
        }
        seen.push(path);
    }
    built
}

/// Returns the text of a converted message.
pub(crate) fn text_of(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn reason(error: &FileError) -> Reason {
    match error {
        FileError::NotFound => Reason::Missing,
        FileError::Outside => Reason::Link,
        FileError::TooLarge(_) => Reason::Unreadable(io::ErrorKind::FileTooLarge),
        FileError::NotAFile => Reason::Unreadable(io::ErrorKind::IsADirectory),
        FileError::Io(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Reason::Missing,
            kind => Reason::Unreadable(kind),
        },
        _ => Reason::Unreadable(io::ErrorKind::Other),
    }
}

/// Returns a path relative to the root without `.` and `..`, or `None` if it
/// leads outside.
fn inside(path: &Path, root: &Path) -> Option<PathBuf> {
    let path = if path.is_absolute() {
        path.strip_prefix(root).ok()?
    } else {
        path
    };
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !inside.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inside)
}

fn block(path: &Path, root: &Path, supports: Supports, bytes: &[u8]) -> ContentBlock {
    if let Some(kind) = image(bytes) {
        if supports.images && bytes.len() <= MAX_IMAGE {
            let image = ImageContent::new(STANDARD.encode(bytes), kind);
            return ContentBlock::Image(image.uri(uri(&root.join(path))));
        }
        return link(path, root, Some(bytes.len()));
    }
    match text(bytes).filter(|_| supports.embedded) {
        Some(text) => {
            let contents = TextResourceContents::new(text, uri(&root.join(path)));
            let resource = EmbeddedResourceResource::TextResourceContents(contents);
            ContentBlock::Resource(EmbeddedResource::new(resource))
        }
        None => link(path, root, Some(bytes.len())),
    }
}

fn link(path: &Path, root: &Path, bytes: Option<usize>) -> ContentBlock {
    let name = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let link = ResourceLink::new(name.to_string_lossy(), uri(&root.join(path)));
    // The size is unknown if the file was not read to its end.
    let size = bytes.filter(|bytes| *bytes < MAX_READ);
    ContentBlock::ResourceLink(link.size(size.and_then(|bytes| i64::try_from(bytes).ok())))
}

/// Returns the text of a file if it is valid and short enough.
fn text(bytes: &[u8]) -> Option<&str> {
    if bytes.len() > MAX_TEXT || memchr::memchr(0, bytes).is_some() {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// Returns the MIME type of an image.
fn image(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        _ => is_webp.then_some("image/webp"),
    }
}

/// Returns the `file:` URI of a path.
fn uri(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            // Writing to a String cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::super::mention::mentions;
    use super::*;

    const ALL: Supports = Supports {
        embedded: true,
        images: true,
    };

    fn message(text: &str) -> Message {
        Message {
            text: text.to_owned(),
            mentions: mentions(text),
        }
    }

    fn read(path: &Path) -> Result<Vec<u8>, FileError> {
        match path.to_str().unwrap() {
            "a b.rs" => Ok(b"fn main() {}\n".to_vec()),
            "p.png" => Ok(b"\x89PNG\r\n\x1a\n....".to_vec()),
            "bin" => Ok(vec![0, 159, 146]),
            "large" => Ok(vec![b'x'; MAX_TEXT + 1]),
            "src" => Err(FileError::NotAFile),
            "link" => Err(FileError::Outside),
            "secret" => Err(io::Error::from(io::ErrorKind::PermissionDenied).into()),
            _ => Err(FileError::NotFound),
        }
    }

    fn value(text: &str, supports: Supports) -> serde_json::Value {
        let built = blocks(&message(text), Path::new("/p r"), supports, read);
        serde_json::to_value(built.blocks).unwrap()
    }

    fn built(text: &str, supports: Supports) -> String {
        serde_json::to_string_pretty(&value(text, supports)).unwrap()
    }

    #[test]
    fn a_capable_agent_gets_embedded_texts_and_images() {
        insta::assert_snapshot!(built("see @\"a b.rs\", @p.png @bin @src/ @./bin", ALL));
    }

    #[test]
    fn a_basic_agent_gets_links() {
        insta::assert_snapshot!(built("see @\"a b.rs\" @p.png @large", Supports::default()));
    }

    #[test]
    fn long_texts_are_links() {
        assert_eq!(value("@large", ALL)[1]["type"], "resource_link");
        assert_eq!(value("@large", ALL)[1]["size"], MAX_TEXT + 1);
    }

    #[test]
    fn files_outside_the_root_are_not_read() {
        let text = "@../x @/etc/passwd @src/../../y @dataclass @link @secret @/p/bin";
        let mut asked = Vec::new();
        let built = blocks(&message(text), Path::new("/p"), ALL, |path| {
            asked.push(path.to_owned());
            read(path)
        });
        assert_eq!(asked, ["dataclass", "link", "secret", "bin"].map(Path::new));
        let reasons: Vec<Reason> = built.left_out.iter().map(|(_, reason)| *reason).collect();
        let denied = Reason::Unreadable(io::ErrorKind::PermissionDenied);
        assert_eq!(
            reasons,
            [
                Reason::Outside,
                Reason::Outside,
                Reason::Outside,
                Reason::Missing,
                Reason::Link,
                denied
            ]
        );
        assert_eq!(built.blocks.len(), 2);
    }
}
