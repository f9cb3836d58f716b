//! Decompression of gzip and zstd, recognised by their first bytes.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// Bytes by which a compression is recognised.
const MAGIC_LENGTH: usize = 4;
/// Bytes at the start of a file by which its kind is recognised.
pub(crate) const HEAD: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

pub(crate) fn recognise(magic: &[u8]) -> Option<Compression> {
    if magic.starts_with(&[0x1f, 0x8b]) {
        Some(Compression::Gzip)
    } else if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Some(Compression::Zstd)
    } else {
        None
    }
}

fn decode(compression: Compression, bytes: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    let bytes = BufReader::new(bytes);
    match compression {
        Compression::Gzip => Box::new(Decoded(MultiGzDecoder::new(bytes))),
        Compression::Zstd => Box::new(Decoded(Zstd::Between(bytes))),
    }
}

/// Decompresses a stream, if it is compressed.
pub fn decompressed(mut bytes: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    (&mut bytes)
        .take(MAGIC_LENGTH as u64)
        .read_to_end(&mut magic)?;
    let compression = recognise(&magic);
    let whole = Box::new(Cursor::new(magic).chain(bytes));
    Ok(match compression {
        Some(compression) => decode(compression, whole),
        None => whole,
    })
}

/// Reads up to `limit` bytes. Returns those that could be read, and the error, if any.
pub(crate) fn read_up_to(bytes: &mut impl Read, limit: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut read = Vec::new();
    let failure = bytes.take(limit as u64).read_to_end(&mut read).err();
    (read, failure)
}

pub(crate) fn read_head(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    match read_up_to(bytes, HEAD) {
        (head, None) => Ok(head),
        (_, Some(error)) => Err(error),
    }
}

/// A decoder whose errors are worded for people.
struct Decoded<R: Read>(R);

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let is_systems = error.raw_os_error().is_some();
            if is_systems || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            io::Error::new(
                error.kind(),
                "it is compressed, and damaged or cut off: it cannot be unpacked",
            )
        })
    }
}

/// Decodes all frames of a zstd file, one after the other.
enum Zstd<R: BufRead> {
    Between(R),
    Frame(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    End,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(self, Self::End) {
                Self::End => return Ok(0),
                Self::Between(mut bytes) => {
                    if bytes.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let frame = StreamingDecoder::new(bytes).map_err(io::Error::other)?;
                    *self = Self::Frame(Box::new(frame));
                }
                Self::Frame(mut frame) => match frame.read(buffer)? {
                    0 => *self = Self::Between(frame.into_inner()),
                    length => {
                        *self = Self::Frame(frame);
                        return Ok(length);
                    }
                },
            }
        }
    }
}
