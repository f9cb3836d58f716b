//! gzip and zstd, recognised by their first bytes. (Codex compresses old
//! rollouts with zstd.)

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// Bytes that tell.
pub(super) const MAGIC_LENGTH: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

pub(super) fn recognise(magic: &[u8]) -> Option<Compression> {
    if magic.starts_with(&[0x1f, 0x8b]) {
        Some(Compression::Gzip)
    } else if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Some(Compression::Zstd)
    } else {
        None
    }
}

pub(super) fn decode(
    compression: Compression,
    bytes: Box<dyn Read + Send>,
) -> Box<dyn Read + Send> {
    let bytes = BufReader::new(bytes);
    match compression {
        Compression::Gzip => Box::new(Unpacked(MultiGzDecoder::new(bytes))),
        Compression::Zstd => Box::new(Unpacked(Zstd::Between(bytes))),
    }
}

/// What is unpacked. Who unpacks it fails in words of its own trade.
struct Unpacked<R: Read>(R);

impl<R: Read> Read for Unpacked<R> {
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

/// All frames of a zstd file, one after the other.
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
