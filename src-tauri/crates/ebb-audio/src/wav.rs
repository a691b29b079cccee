//! The frame of a WAV file, read here because its lengths cannot be trusted: programs that stream write 0 or the largest
//! number, files are cut short, and files are appended to. What is handed on has a header that promises nothing.

use bytes::Bytes;

use crate::Error;

/// Most channels that sound is taken to have.
const MOST_CHANNELS: u16 = 64;

/// Longest description of a format: what `WAVE_FORMAT_EXTENSIBLE` takes, and room.
const MOST_FORMAT_BYTES: usize = 64;

/// A WAV file.
#[derive(Debug)]
pub(crate) struct Wav {
    /// A header whose lengths are open.
    pub(crate) head: Vec<u8>,
    /// The samples that are there.
    pub(crate) body: Bytes,
    /// How long they take, where the format tells.
    pub(crate) duration_ms: u64,
}

/// What is read of the format.
struct Format {
    description: Bytes,
    frame_bytes: usize,
    rate_hz: u32,
}

impl Wav {
    /// Reads the frame; `None` where the file is none.
    ///
    /// # Errors
    /// Where it has no format, no samples, no channels, or no rate.
    pub(crate) fn read(bytes: &Bytes) -> Result<Option<Self>, Error> {
        let is_wav = bytes.len() >= 12
            && (bytes.starts_with(b"RIFF") || bytes.starts_with(b"RF64"))
            && bytes[8..12] == *b"WAVE";
        if !is_wav {
            return Ok(None);
        }
        let mut format = None;
        let mut at = 12;
        while let Some((id, len_bytes)) = chunk(bytes, at) {
            let start = at + 8;
            match &id {
                b"fmt " => format = Some(Format::read(&bytes.slice(start..end(bytes, start, len_bytes)))?),
                b"data" => {
                    let format = format.ok_or_else(|| damaged("its format is missing"))?;
                    return Ok(Some(Self::of(format, bytes, start, len_bytes)));
                }
                _ => {}
            }
            // Chunks begin at even places.
            at = start.saturating_add(len_bytes).saturating_add(len_bytes & 1);
        }
        Err(if format.is_some() { Error::Empty } else { damaged("its format is missing") })
    }

    fn of(format: Format, bytes: &Bytes, start: usize, len_bytes: usize) -> Self {
        let promised = end(bytes, start, len_bytes);
        // What follows the samples is another chunk; where it is not, the length is a lie and more sound comes.
        let honest =
            len_bytes > 0 && (bytes.len() - promised < 2 || is_chunk(bytes, promised + (len_bytes & 1)));
        let stop = if honest { promised } else { bytes.len() };
        let frames = (stop - start) / format.frame_bytes;
        let mut head = b"RIFF\xff\xff\xff\xffWAVEfmt ".to_vec();
        head.extend_from_slice(&(format.description.len() as u32).to_le_bytes());
        head.extend_from_slice(&format.description);
        head.extend_from_slice(b"data\xff\xff\xff\xff");
        let body = bytes.slice(start..start + frames * format.frame_bytes);
        Self { head, body, duration_ms: frames as u64 * 1_000 / u64::from(format.rate_hz) }
    }
}

impl Format {
    fn read(bytes: &Bytes) -> Result<Self, Error> {
        let number = |at: usize| bytes.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]));
        let (Some(channels), Some(low), Some(high), Some(bits)) =
            (number(2), number(4), number(6), number(14))
        else {
            return Err(damaged("its format is cut short"));
        };
        if channels == 0 || channels > MOST_CHANNELS {
            return Err(Error::Channels(u64::from(channels)));
        }
        let rate_hz = u32::from(high) << 16 | u32::from(low);
        if rate_hz == 0 {
            return Err(Error::Rate(0));
        }
        if bits == 0 || bits > 64 {
            return Err(damaged(&format!("its samples have {bits} bits")));
        }
        let frame_bytes = usize::from(channels) * usize::from(bits / 8).max(1);
        Ok(Self { description: bytes.slice(..bytes.len().min(MOST_FORMAT_BYTES)), frame_bytes, rate_hz })
    }
}

/// The name and length of the chunk at a place.
fn chunk(bytes: &[u8], at: usize) -> Option<([u8; 4], usize)> {
    let &[a, b, c, d, e, f, g, h] = bytes.get(at..)?.first_chunk::<8>()?;
    Some(([a, b, c, d], u32::from_le_bytes([e, f, g, h]) as usize))
}

/// Whether a chunk may begin at a place: its name can be read and it ends within the file.
fn is_chunk(bytes: &[u8], at: usize) -> bool {
    chunk(bytes, at).is_some_and(|(id, len_bytes)| {
        id.iter().all(|byte| byte.is_ascii_alphanumeric() || b" _-".contains(byte))
            && at.saturating_add(8).saturating_add(len_bytes) <= bytes.len()
    })
}

fn end(bytes: &[u8], start: usize, len_bytes: usize) -> usize {
    start.saturating_add(len_bytes).min(bytes.len())
}

fn damaged(why: &str) -> Error {
    Error::Damaged(why.to_owned())
}
