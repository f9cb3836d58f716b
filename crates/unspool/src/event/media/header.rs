//! The first bytes of pictures and common files: their type and dimensions.

/// The type and size of a file, read from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) mime: &'static str,
    /// Width and height of a picture.
    pub(super) size: Option<(u32, u32)>,
    /// True for a picture of pixels that every browser shows.
    pub(super) is_raster: bool,
}

/// Bytes of a JPEG that are searched for its dimensions, which follow its
/// thumbnail and colour profile.
const LONGEST_JPEG_START: usize = 1 << 18;

/// Reads the header; `None` for an unknown type.
pub(super) fn read(content: impl Iterator<Item = u8>) -> Option<Header> {
    let mut content = content;
    let mut start = [0; 30];
    let mut length = 0;
    for (place, byte) in start.iter_mut().zip(&mut content) {
        *place = byte;
        length += 1;
    }
    let start = start.get(..length)?;
    if start.starts_with(b"\xff\xd8\xff") {
        let rest = start.get(2..)?.iter().copied();
        let size = jpeg(rest.chain(content).take(LONGEST_JPEG_START));
        return Some(picture("image/jpeg", size));
    }
    still_picture(start).or_else(|| {
        let mime = file_type(start)?;
        Some(Header {
            mime,
            size: None,
            is_raster: false,
        })
    })
}

fn picture(mime: &'static str, size: Option<(u32, u32)>) -> Header {
    Header {
        mime,
        size: size.filter(|(width, height)| *width > 0 && *height > 0),
        is_raster: true,
    }
}

fn still_picture(start: &[u8]) -> Option<Header> {
    if start.starts_with(b"\x89PNG\r\n\x1a\n") {
        let is_valid = start.get(12..16) == Some(b"IHDR");
        let size = big(start, 16..20).zip(big(start, 20..24));
        return Some(picture("image/png", size.filter(|_| is_valid)));
    }
    if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") {
        let size = little(start, 6..8).zip(little(start, 8..10));
        return Some(picture("image/gif", size));
    }
    if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
        return Some(picture("image/webp", webp(start)));
    }
    None
}

fn webp(start: &[u8]) -> Option<(u32, u32)> {
    match start.get(12..16)? {
        b"VP8X" => Some((little(start, 24..27)? + 1, little(start, 27..30)? + 1)),
        b"VP8L" if start.get(20) == Some(&0x2f) => {
            let bits = little(start, 21..25)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8 " if start.get(23..26) == Some(b"\x9d\x01\x2a") => Some((
            little(start, 26..28)? & 0x3fff,
            little(start, 28..30)? & 0x3fff,
        )),
        _ => None,
    }
}

/// Skips the segments of a JPEG up to the one with its dimensions.
fn jpeg(mut bytes: impl Iterator<Item = u8>) -> Option<(u32, u32)> {
    loop {
        if bytes.next()? != 0xff {
            return None;
        }
        let marker = bytes.find(|byte| *byte != 0xff)?;
        match marker {
            // Markers without a segment.
            0x01 | 0xd0..=0xd8 => continue,
            // The pixels or the end: there are no dimensions.
            0xd9 | 0xda => return None,
            _ => {}
        }
        let mut number = || Some(u32::from(bytes.next()?) << 8 | u32::from(bytes.next()?));
        let length = number()?;
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            bytes.next()?;
            let mut number = || Some(u32::from(bytes.next()?) << 8 | u32::from(bytes.next()?));
            let height = number()?;
            return Some((number()?, height));
        }
        for _ in 0..length.checked_sub(2)? {
            bytes.next()?;
        }
    }
}

fn file_type(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WAVE") {
        return Some("audio/wav");
    }
    let starts: [(&[u8], &str); 4] = [
        (b"%PDF-", "application/pdf"),
        (b"ID3", "audio/mpeg"),
        (b"OggS", "audio/ogg"),
        (b"fLaC", "audio/flac"),
    ];
    let found = starts.iter().find(|(first, _)| start.starts_with(first));
    found.map(|(_, mime)| *mime)
}

fn big(bytes: &[u8], range: std::ops::Range<usize>) -> Option<u32> {
    let digits = bytes.get(range)?.iter();
    Some(digits.fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], range: std::ops::Range<usize>) -> Option<u32> {
    let digits = bytes.get(range)?.iter().rev();
    Some(digits.fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(bytes: &[u8]) -> Option<(&'static str, Option<(u32, u32)>)> {
        read(bytes.iter().copied()).map(|header| (header.mime, header.size))
    }

    #[test]
    fn pictures_say_how_large_they_are() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0";
        assert_eq!(facts(png), Some(("image/png", Some((640, 480)))));
        let gif = b"GIF89a\x02\x01\x01\0";
        assert_eq!(facts(gif), Some(("image/gif", Some((258, 1)))));
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01";
        assert_eq!(facts(lossy), Some(("image/webp", Some((640, 480)))));
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\0\0\0\0\0\0";
        assert_eq!(facts(lossless), Some(("image/webp", Some((640, 480)))));
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        assert_eq!(facts(extended), Some(("image/webp", Some((640, 480)))));
    }

    #[test]
    fn a_jpeg_is_searched_past_its_profile() {
        let mut jpeg = b"\xff\xd8\xff\xe1\xea\x62".to_vec();
        jpeg.extend(std::iter::repeat_n(7, 60_000));
        jpeg.extend(b"\xff\xff\xc4\0\x03\0\xff\xc2\0\x11\x08\x01\xe0\x02\x80");
        assert_eq!(facts(&jpeg), Some(("image/jpeg", Some((640, 480)))));
    }

    #[test]
    fn a_broken_or_endless_header_has_no_dimensions() {
        assert_eq!(facts(b"\x89PNG\r\n\x1a\n\0"), Some(("image/png", None)));
        let no_size = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\x01\xe0";
        assert_eq!(facts(no_size), Some(("image/png", None)));
        assert_eq!(facts(b"\xff\xd8\xff\xe1\0\0"), Some(("image/jpeg", None)));
        let mut read_bytes = 0;
        let endless = std::iter::repeat_n(0xff, 10_000_000).inspect(|_| read_bytes += 1);
        let start = [0xff, 0xd8].into_iter().chain(endless);
        assert_eq!(read(start).unwrap().size, None);
        assert!(read_bytes <= LONGEST_JPEG_START + 30, "{read_bytes}");
    }

    #[test]
    fn files_are_known_by_their_start() {
        assert_eq!(facts(b"%PDF-1.7"), Some(("application/pdf", None)));
        assert_eq!(facts(b"RIFF\0\0\0\0WAVEfmt "), Some(("audio/wav", None)));
        assert_eq!(facts(b"<svg onload=x>"), None);
        assert_eq!(facts(b""), None);
    }
}
