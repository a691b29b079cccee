//! A run whose outputs have been bound, without looking at them: the crate `ort` makes a value of each output after every
//! run, and a decoder has one for every layer's keys and values.

use ort::{
    AsPointer, Error, api,
    session::{IoBinding, RunOptions, Session},
};

/// Runs the model on what is bound. The outputs are where they were bound to.
pub(crate) fn run_bound(
    session: &mut Session,
    binding: &IoBinding,
    options: &RunOptions,
) -> Result<(), Error> {
    // SAFETY: all three are valid; the session is borrowed mutably, so that no other run of it goes on. The binding was made
    // by a session and keeps what is bound to it alive.
    unsafe {
        Error::result_from_status((api().RunWithBinding)(
            session.ptr().cast_mut(),
            options.ptr(),
            binding.ptr(),
        ))
    }
}
