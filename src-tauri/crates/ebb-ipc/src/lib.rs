//! Messages and frames between the host and a worker process.
//!
//! Both sides greet each other first ([`HELLO_LEN`] bytes each way), then send frames: a message in postcard, and bulk
//! data as raw bytes behind it. The worker reads and writes with blocking calls, the host with asynchronous ones, over one
//! encoding.
//!
//! ```
//! use bytes::Bytes;
//! use ebb_ipc::{Frame, FromWorker, read_frame, write_frame};
//!
//! let frame = Frame::new(FromWorker::Loading { stage: "loading the model".to_owned() });
//! let mut pipe = Vec::new();
//! write_frame(&mut pipe, &frame)?;
//! assert_eq!(read_frame::<FromWorker>(&mut pipe.as_slice())?, Some(frame));
//! # Ok::<(), ebb_ipc::Error>(())
//! ```

mod error;
mod frame;
mod hello;
mod message;

pub use error::Error;
pub use frame::{Frame, MAX_HEADER_BYTES, MAX_TAIL_BYTES, encode, read_frame, read_frame_async, write_frame};
pub use hello::{HELLO_LEN, PROTOCOL_VERSION, check_hello, greet, hello};
pub use message::{Answer, Ask, Cause, Ended, FromWorker, ToWorker};
