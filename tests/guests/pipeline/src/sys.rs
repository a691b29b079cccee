//! What no wrapper lets a guest do.

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "ebb:plugin/memory-control@0.1.0")]
unsafe extern "C" {
    #[link_name = "[static]runtime.open"]
    fn raw_open(model: *const u8, bytes: usize, result: *mut u32);
    #[link_name = "[method]runtime.close"]
    fn raw_close(handle: u32);
    #[link_name = "[resource-drop]runtime"]
    fn raw_drop(handle: u32);
}

/// Opens the controls of a model and gives the bare handle.
pub fn open_runtime(model: &str) -> u32 {
    // The result of the contract: a tag, a handle after it, and room for an error in its place.
    let mut result = [0_u32; 4];
    // SAFETY: The import reads the name and writes 16 bytes of result, for which there is room.
    #[cfg(target_family = "wasm")]
    unsafe {
        raw_open(model.as_ptr(), model.len(), result.as_mut_ptr());
    }
    let _ = (model, &mut result);
    result[1]
}

/// Closes whatever that number is.
pub fn close_runtime(handle: u32) {
    // SAFETY: The host checks handles: that is what is tried here.
    #[cfg(target_family = "wasm")]
    unsafe {
        raw_close(handle);
    }
    let _ = handle;
}

/// Takes the handle back from under the wrapper.
pub fn drop_runtime(handle: u32) {
    // SAFETY: As above.
    #[cfg(target_family = "wasm")]
    unsafe {
        raw_drop(handle);
    }
    let _ = handle;
}

/// Ends the call with a trap and without a word.
pub fn trap() -> ! {
    #[cfg(target_family = "wasm")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_family = "wasm"))]
    std::process::abort()
}
