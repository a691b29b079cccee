//! What an ONNX Runtime library says of itself, before `ort` takes it: that crate loads one library for each process, and
//! checks a lower version than Ebb needs.

use std::{
    ffi::{CStr, c_char},
    path::Path,
};

/// The head of ONNX Runtime's C interface; it has been the same since the first version.
#[repr(C)]
struct ApiBase {
    get_api: unsafe extern "system" fn(u32) -> *const std::ffi::c_void,
    get_version_string: unsafe extern "system" fn() -> *const c_char,
}

/// The version of the library at `path`, or why it is none.
pub(crate) fn library_version(path: &Path) -> Result<String, String> {
    // SAFETY: loading runs the library's initialisers; the user chose this file as ONNX Runtime, and only that is known to be
    // safe to load. Nothing is kept beyond this function.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    // SAFETY: by the C interface's definition this symbol, where it exists, is a function of this type.
    let base = unsafe { library.get::<unsafe extern "system" fn() -> *const ApiBase>(b"OrtGetApiBase\0") }
        .map_err(|_| "not an ONNX Runtime library (it has no OrtGetApiBase)".to_owned())?;
    // SAFETY: the function takes nothing and returns null or the library's static table.
    let base = unsafe { base().as_ref() }.ok_or("it gives no interface")?;
    // SAFETY: the table's function takes nothing and returns null or a static text.
    let version = unsafe { (base.get_version_string)() };
    if version.is_null() {
        return Err("it does not tell its version".to_owned());
    }
    // SAFETY: not null, and by the interface's definition a text that ends in NUL and lives as long as the library.
    Ok(unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned())
}
