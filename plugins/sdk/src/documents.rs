//! Files and folders that the user picked for this plugin, read-only: capability `documents`.

pub use crate::bindings::documents::Document;
use crate::{Error, backend};

/// How much [`Document::read_all`] asks for at once: well within the smallest limit on what one call may hand over.
const BLOCK_BYTES: u64 = 1 << 20;

/// Every file that was granted, folders walked, by name. Links that lead out of a granted folder are not followed.
///
/// # Errors
/// [`Error::Denied`] without `documents`.
pub fn granted() -> Result<Vec<Document>, Error> {
    backend::granted()
}

/// Up to `length` bytes from `offset`; fewer at the end, none past it.
///
/// # Errors
/// [`Error::NotFound`] where the document is granted no more, or gone.
pub fn read(id: &str, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
    backend::read(id, offset, length)
}

impl Document {
    /// The whole file, block by block.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it is larger than `limit_bytes`, else as [`read`].
    pub fn read_all(&self, limit_bytes: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        loop {
            let block = read(&self.id, bytes.len() as u64, BLOCK_BYTES)?;
            if block.is_empty() {
                return Ok(bytes);
            }
            bytes.extend(block);
            if bytes.len() as u64 > limit_bytes {
                return Err(Error::Invalid(format!("it is larger than {limit_bytes} bytes")));
            }
        }
    }
}
