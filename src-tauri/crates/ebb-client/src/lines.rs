//! The lines of an answer, as they come in.

use std::collections::VecDeque;

use futures_util::{StreamExt as _, stream::BoxStream};
use reqwest::Response;
use serde::de::DeserializeOwned;

use crate::Error;

/// Splits a body into lines without ever holding more of it than the line that is not yet whole and the lines of the last
/// piece that came in.
pub(crate) struct Lines {
    pieces: BoxStream<'static, Result<Vec<u8>, reqwest::Error>>,
    url: String,
    ready: VecDeque<Vec<u8>>,
    rest: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(response: Response, url: String) -> Self {
        let pieces = response.bytes_stream().map(|piece| piece.map(Vec::from)).boxed();
        Self { pieces, url, ready: VecDeque::new(), rest: Vec::new() }
    }

    /// The next line without its end; `None` at the end of the body. A last line without an end counts too.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            match self.pieces.next().await {
                Some(Ok(piece)) => self.take(&piece),
                Some(Err(source)) => return Err(Error::Transport { url: self.url.clone(), source }),
                None if self.rest.is_empty() => return Ok(None),
                None => return Ok(Some(std::mem::take(&mut self.rest))),
            }
        }
    }

    /// The next line that is not empty, read as JSON. The body may not end before it.
    pub(crate) async fn record<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        loop {
            match self.next().await? {
                Some(line) if line.is_empty() => {}
                Some(line) => {
                    return serde_json::from_slice(&line)
                        .map_err(|error| Error::Protocol(format!("a line of a streamed answer: {error}")));
                }
                None => {
                    return Err(Error::Protocol(
                        "the answer ended before its end: the host may have been ended".into(),
                    ));
                }
            }
        }
    }

    fn take(&mut self, mut piece: &[u8]) {
        while let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
            self.rest.extend_from_slice(&piece[..end]);
            if self.rest.last() == Some(&b'\r') {
                self.rest.pop();
            }
            self.ready.push_back(std::mem::take(&mut self.rest));
            piece = &piece[end + 1..];
        }
        self.rest.extend_from_slice(piece);
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("url", &self.url).finish_non_exhaustive()
    }
}
