//! What no wrapper lets a guest do.

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "ebb:plugin/plugin-host@0.1.0")]
unsafe extern "C" {
    #[link_name = "log"]
    fn raw_log(level: i32, message: *const u8, bytes: usize);
}

/// Logs bytes as if they were text.
pub fn log(bytes: &[u8]) {
    // SAFETY: The import reads that many bytes from there, and nothing more.
    #[cfg(target_family = "wasm")]
    unsafe {
        raw_log(2, bytes.as_ptr(), bytes.len());
    }
    #[cfg(not(target_family = "wasm"))]
    let _ = bytes;
}

/// Ends the call with a trap and without a word.
pub fn trap() -> ! {
    #[cfg(target_family = "wasm")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_family = "wasm"))]
    std::process::abort()
}
