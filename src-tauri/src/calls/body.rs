//! The body of an answer, read in pieces.

use bytes::{Buf as _, Bytes};
use ebb_core::{Code, Failure};
use ebb_server::AnswerBody;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;

/// Largest piece: few enough calls for a download, small enough to be copied in a moment.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// What is left of a body.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// `None` once it has ended.
    frames: Option<AnswerBody>,
    /// What was made and did not fit into the last piece.
    rest: Bytes,
    /// What it failed of, to be told once all before it was read.
    failed: Option<Failure>,
}

impl Body {
    pub(super) fn new(frames: AnswerBody) -> Self {
        Self { frames: Some(frames), ..Self::default() }
    }

    /// What is there, as much as fits into a piece; waits for the first byte only. Empty at the end. A caller who leaves loses
    /// nothing.
    pub(super) async fn piece(&mut self) -> Result<Vec<u8>, Failure> {
        if self.rest.is_empty() {
            self.next().await;
        }
        let mut piece = Vec::new();
        while piece.len() < PIECE_BYTES {
            if self.rest.is_empty() && self.next().now_or_never().is_none() {
                break;
            }
            let fits = self.rest.len().min(PIECE_BYTES - piece.len());
            if fits == 0 {
                break;
            }
            piece.extend_from_slice(&self.rest[..fits]);
            self.rest.advance(fits);
        }
        match self.failed.take() {
            Some(failure) if piece.is_empty() => Err(failure),
            failed => {
                self.failed = failed;
                Ok(piece)
            }
        }
    }

    /// Fetches more; nothing more comes at the end or once it failed.
    async fn next(&mut self) {
        while let (true, Some(frames)) = (self.rest.is_empty(), &mut self.frames) {
            match frames.frame().await {
                Some(Ok(frame)) => self.rest = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => {
                    self.frames = None;
                    self.failed = Some(
                        Failure::new(Code::Internal, format!("the answer broke off: {error}"))
                            .hint("try again; the log says more: `ebb server logs`"),
                    );
                }
                None => self.frames = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    /// A body of these frames; after `None` it makes one wait.
    fn body(frames: Vec<Option<Result<Bytes, &'static str>>>) -> Body {
        let stream = futures_util::stream::unfold(frames.into_iter(), |mut frames| async {
            match frames.next()? {
                Some(frame) => Some((frame.map(Frame::data).map_err(Into::into), frames)),
                None => std::future::pending().await,
            }
        });
        Body::new(StreamBody::new(Box::pin(stream)).boxed_unsync())
    }

    fn some(bytes: impl Into<Bytes>) -> Option<Result<Bytes, &'static str>> {
        Some(Ok(bytes.into()))
    }

    #[tokio::test]
    async fn what_is_there_comes_together_and_nothing_is_waited_for_then() {
        let mut body = body(vec![some("a"), some(""), some("b"), None]);
        assert_eq!(body.piece().await.unwrap(), b"ab");
        assert!(body.piece().now_or_never().is_none(), "it waits for the first byte");
    }

    #[tokio::test]
    async fn a_large_frame_comes_in_pieces_and_all_of_it() {
        let long: Vec<u8> = (0..PIECE_BYTES + 10).map(|at| at as u8).collect();
        let mut body = body(vec![some(long.clone()), some("end")]);
        let mut whole = body.piece().await.unwrap();
        assert_eq!(whole.len(), PIECE_BYTES);
        whole.extend(body.piece().await.unwrap());
        assert_eq!(whole, [long, b"end".to_vec()].concat());
        assert_eq!(body.piece().await.unwrap(), b"");
        assert_eq!(body.piece().await.unwrap(), b"", "the end stays the end");
    }

    #[tokio::test]
    async fn what_came_before_a_failure_is_read_first() {
        let mut body = body(vec![some("a"), Some(Err("no disk")), some("never")]);
        assert_eq!(body.piece().await.unwrap(), b"a");
        let failure = body.piece().await.unwrap_err();
        assert_eq!(failure.message, "the answer broke off: no disk");
        assert_eq!(body.piece().await.unwrap(), b"");
    }
}
