//! Whether there is room.

use super::{Plan, place::Place};
use crate::Error;

/// Left to the system and to what others write meanwhile.
const SPARE_BYTES: u64 = 64 << 20;

/// Refuses a download that the disk cannot hold. What is here of an earlier try needs no more room; what is imported
/// afterwards needs about as much again.
pub(super) fn check_room(place: &Place, plan: &Plan) -> Result<(), Error> {
    let folder = place.folder();
    let free_bytes = fs4::available_space(folder).map_err(|source| Error::io(folder, source))?;
    let left = plan
        .files
        .iter()
        .fold(0_u64, |sum, file| sum.saturating_add(file.bytes.saturating_sub(place.held_bytes(file))));
    let import = if plan.format.needs_import() { plan.total_bytes() } else { 0 };
    let needed_bytes = left.saturating_add(import).saturating_add(SPARE_BYTES);
    if needed_bytes > free_bytes {
        return Err(Error::NoSpace { folder: folder.to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}
