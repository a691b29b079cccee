//! Frames: the lengths of header and tail as little-endian u32, the header (a message in postcard), the tail (raw bytes).
//!
//! A length that is a lie costs no memory: room is made as bytes arrive, and never beyond the limits.

use std::io::{Read, Write};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::Error;

/// Largest header: texts of an embed job travel in it.
pub const MAX_HEADER_BYTES: u32 = 256 << 20;

/// Largest tail: the tensors of one run.
pub const MAX_TAIL_BYTES: u32 = 2 << 30;

const PREFIX_LEN: usize = 8;

/// Below this a tail is copied behind its header, so that the frame is one write.
const SMALL_TAIL_BYTES: usize = 16 << 10;

/// Room made at first for a part of a frame, however long it says it is.
const FIRST_ROOM_BYTES: usize = 1 << 20;

/// A message with its bulk data.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame<M> {
    /// The message.
    pub message: M,
    /// The bulk data that belongs to it; most messages have none.
    pub tail: Bytes,
}

impl<M> Frame<M> {
    /// A message without bulk data.
    pub fn new(message: M) -> Self {
        Self { message, tail: Bytes::new() }
    }
}

/// Prefix and header of a frame, and the tail with them where it is small; else the tail is to be written behind.
///
/// # Errors
/// [`Error::TooLarge`]; [`Error::Message`] where the message cannot be encoded.
pub fn encode<M: Serialize>(frame: &Frame<M>) -> Result<(Vec<u8>, Option<&Bytes>), Error> {
    let mut bytes = postcard::to_extend(&frame.message, vec![0; PREFIX_LEN]).map_err(Error::Message)?;
    let header_len = within(bytes.len() - PREFIX_LEN, MAX_HEADER_BYTES)?;
    let tail_len = within(frame.tail.len(), MAX_TAIL_BYTES)?;
    bytes[..4].copy_from_slice(&header_len.to_le_bytes());
    bytes[4..PREFIX_LEN].copy_from_slice(&tail_len.to_le_bytes());
    if frame.tail.len() > SMALL_TAIL_BYTES {
        return Ok((bytes, Some(&frame.tail)));
    }
    bytes.extend_from_slice(&frame.tail);
    Ok((bytes, None))
}

/// Writes a frame and flushes.
///
/// # Errors
/// As [`encode`]; [`Error::Pipe`].
pub fn write_frame<M: Serialize>(writer: &mut impl Write, frame: &Frame<M>) -> Result<(), Error> {
    let (bytes, tail) = encode(frame)?;
    writer.write_all(&bytes)?;
    if let Some(tail) = tail {
        writer.write_all(tail)?;
    }
    Ok(writer.flush()?)
}

/// Reads the next frame; `None` where the other side ended in between.
///
/// # Errors
/// [`Error::Pipe`] where it ended in the middle; [`Error::TooLarge`]; [`Error::Message`].
pub fn read_frame<M: DeserializeOwned>(reader: &mut impl Read) -> Result<Option<Frame<M>>, Error> {
    let prefix = read_part(reader, PREFIX_LEN as u32)?;
    let Some((header_len, tail_len)) = lengths(&prefix)? else { return Ok(None) };
    let header = read_part(reader, header_len)?;
    let tail = read_part(reader, tail_len)?;
    decode(&header, header_len, tail, tail_len).map(Some)
}

/// [`read_frame`] for an asynchronous reader. Not safe to drop half way: use it in a task of its own.
///
/// # Errors
/// As [`read_frame`].
pub async fn read_frame_async<M: DeserializeOwned>(
    reader: &mut (impl AsyncRead + Unpin),
) -> Result<Option<Frame<M>>, Error> {
    let prefix = read_part_async(reader, PREFIX_LEN as u32).await?;
    let Some((header_len, tail_len)) = lengths(&prefix)? else { return Ok(None) };
    let header = read_part_async(reader, header_len).await?;
    let tail = read_part_async(reader, tail_len).await?;
    decode(&header, header_len, tail, tail_len).map(Some)
}

/// Reads `len` bytes, or what comes before the end.
fn read_part(reader: &mut impl Read, len: u32) -> Result<Vec<u8>, Error> {
    let mut part = Vec::new();
    while let Some(room) = more_room(&mut part, len) {
        if reader.take(room).read_to_end(&mut part)? < room as usize {
            break;
        }
    }
    Ok(part)
}

/// [`read_part`] for an asynchronous reader.
async fn read_part_async(reader: &mut (impl AsyncRead + Unpin), len: u32) -> Result<Vec<u8>, Error> {
    let mut part = Vec::new();
    while let Some(room) = more_room(&mut part, len) {
        if reader.take(room).read_to_end(&mut part).await? < room as usize {
            break;
        }
    }
    Ok(part)
}

/// Makes room for what comes next of a part: at most as much again as has come, and never more than the part will take.
fn more_room(part: &mut Vec<u8>, len: u32) -> Option<u64> {
    let missing = (len as usize).checked_sub(part.len()).filter(|&missing| missing > 0)?;
    let room = missing.min(part.len().max(FIRST_ROOM_BYTES));
    part.reserve_exact(room);
    Some(room as u64)
}

fn lengths(prefix: &[u8]) -> Result<Option<(u32, u32)>, Error> {
    let &[h0, h1, h2, h3, t0, t1, t2, t3] = prefix else {
        return if prefix.is_empty() { Ok(None) } else { Err(cut_off()) };
    };
    let header_len = u32::from_le_bytes([h0, h1, h2, h3]);
    let tail_len = u32::from_le_bytes([t0, t1, t2, t3]);
    within(header_len as usize, MAX_HEADER_BYTES)?;
    within(tail_len as usize, MAX_TAIL_BYTES)?;
    Ok(Some((header_len, tail_len)))
}

fn decode<M: DeserializeOwned>(
    header: &[u8],
    header_len: u32,
    tail: Vec<u8>,
    tail_len: u32,
) -> Result<Frame<M>, Error> {
    if header.len() < header_len as usize || tail.len() < tail_len as usize {
        return Err(cut_off());
    }
    let (message, rest) = postcard::take_from_bytes(header).map_err(Error::Message)?;
    if !rest.is_empty() {
        return Err(Error::Message(postcard::Error::DeserializeBadEncoding));
    }
    Ok(Frame { message, tail: tail.into() })
}

fn within(bytes: usize, limit: u32) -> Result<u32, Error> {
    u32::try_from(bytes)
        .ok()
        .filter(|&bytes| bytes <= limit)
        .ok_or(Error::TooLarge { bytes: bytes as u64, limit: limit.into() })
}

fn cut_off() -> Error {
    Error::Pipe(std::io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use ebb_core::{Code, Failure, Job, JobKind};
    use proptest::prelude::*;

    use super::*;
    use crate::{Answer, FromWorker, ToWorker};

    fn run(texts: Vec<String>, tail: Vec<u8>) -> Frame<ToWorker> {
        let job = Box::new(Job::new(JobKind::Embed { texts }));
        Frame { message: ToWorker::Run { id: 7, job, credit: 2 }, tail: tail.into() }
    }

    fn written<M: Serialize>(frames: &[Frame<M>]) -> Vec<u8> {
        let mut pipe = Vec::new();
        for frame in frames {
            write_frame(&mut pipe, frame).unwrap();
        }
        pipe
    }

    async fn read_async(pipe: &[u8]) -> Result<Option<Frame<ToWorker>>, Error> {
        read_frame_async(&mut Cursor::new(pipe)).await
    }

    proptest! {
        #[test]
        fn frames_come_as_they_went(texts: Vec<String>, tail: Vec<u8>, large in 0..3_usize) {
            let frames = [run(texts, tail), run(vec!["x".into()], vec![3; large * SMALL_TAIL_BYTES])];
            let pipe = written(&frames);
            let mut rest = pipe.as_slice();
            for frame in &frames {
                let read = read_frame(&mut rest).unwrap();
                prop_assert_eq!(read.as_ref(), Some(frame));
            }
            prop_assert!(read_frame::<ToWorker>(&mut rest).unwrap().is_none());
        }

        #[test]
        fn garbage_is_an_error_and_never_a_panic(bytes: Vec<u8>) {
            let mut rest = bytes.as_slice();
            while let Ok(Some(_)) = read_frame::<FromWorker>(&mut rest) {}
        }
    }

    #[tokio::test]
    async fn a_frame_cut_off_anywhere_is_an_error() {
        let pipe = written(&[run(vec!["text".into()], vec![1; 40])]);
        for end in 1..pipe.len() {
            assert!(matches!(read_frame::<ToWorker>(&mut &pipe[..end]), Err(Error::Pipe(_))), "{end}");
            assert!(matches!(read_async(&pipe[..end]).await, Err(Error::Pipe(_))), "{end}");
        }
        assert!(read_async(&pipe).await.unwrap().is_some());
        assert!(read_async(&[]).await.unwrap().is_none());
    }

    #[test]
    fn an_absurd_length_is_refused_before_any_room_is_made() {
        let lie = [0xff; 64];
        assert!(matches!(read_frame::<ToWorker>(&mut lie.as_slice()), Err(Error::TooLarge { .. })));
        // Within the limits, but a lie all the same: only what arrives takes room.
        let mut lie = MAX_HEADER_BYTES.to_le_bytes().to_vec();
        lie.extend(MAX_TAIL_BYTES.to_le_bytes());
        lie.extend([0; 100]);
        assert!(matches!(read_frame::<ToWorker>(&mut lie.as_slice()), Err(Error::Pipe(_))));
    }

    #[test]
    fn a_large_tail_takes_no_more_room_than_it_has() {
        let len = 5 * FIRST_ROOM_BYTES + 17;
        let part = read_part(&mut vec![7; len + 9].as_slice(), len as u32).unwrap();
        assert_eq!((part.len(), part.capacity()), (len, len));
    }

    #[test]
    fn bytes_behind_a_message_are_garbage() {
        let mut pipe = written(&[run(vec![], vec![])]);
        pipe[0] += 1;
        pipe.push(0);
        assert!(matches!(read_frame::<ToWorker>(&mut pipe.as_slice()), Err(Error::Message(_))));
    }

    #[test]
    fn a_failure_travels_with_all_that_it_says() {
        let failure = Failure::new(Code::ArenaLimit, "too large").hint("raise it").detail("limit_bytes", 5);
        let frame = Frame::new(FromWorker::Answer { id: 1, answer: Err::<Answer, _>(failure) });
        assert_eq!(read_frame(&mut written(std::slice::from_ref(&frame)).as_slice()).unwrap(), Some(frame));
    }
}
