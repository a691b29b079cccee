//! Session options: reading entries back, and naming an execution provider with options as text.

use std::{
    ffi::{CStr, CString, c_char, c_int},
    ptr,
};

use ort::{AsPointer, Error, api, session::builder::SessionBuilder};

/// The entry that a session was, or will be, created with; `None` where it has none.
pub(crate) fn config_entry(builder: &SessionBuilder, key: &str) -> Option<String> {
    let key = CString::new(key).ok()?;
    let mut has: c_int = 0;
    // SAFETY: the builder owns valid options, the key ends in NUL, and `has` is written before the call returns.
    let asked = unsafe {
        Error::result_from_status((api().HasSessionConfigEntry)(builder.ptr(), key.as_ptr(), &mut has))
    };
    if asked.is_err() || has == 0 {
        return None;
    }
    let mut len = 0_usize;
    // SAFETY: with no buffer the call writes only the length that one needs, NUL included.
    let asked = unsafe {
        Error::result_from_status((api().GetSessionConfigEntry)(
            builder.ptr(),
            key.as_ptr(),
            ptr::null_mut(),
            &mut len,
        ))
    };
    if asked.is_err() || len == 0 {
        return None;
    }
    let mut value = vec![0_u8; len];
    // SAFETY: the buffer has the length that the call before asked for, and `len` says so.
    unsafe {
        Error::result_from_status((api().GetSessionConfigEntry)(
            builder.ptr(),
            key.as_ptr(),
            value.as_mut_ptr().cast(),
            &mut len,
        ))
    }
    .ok()?;
    value.truncate(len.saturating_sub(1));
    String::from_utf8(value).ok()
}

/// Names of the execution providers that the library is built with.
pub(crate) fn available_providers() -> Vec<String> {
    let (mut names, mut count) = (ptr::null_mut(), 0);
    // SAFETY: the call writes both, or fails and writes neither.
    let asked = unsafe { Error::result_from_status((api().GetAvailableProviders)(&mut names, &mut count)) };
    if asked.is_err() || names.is_null() {
        return Vec::new();
    }
    let found = (0..usize::try_from(count).unwrap_or(0))
        .map(|index| {
            // SAFETY: the array has `count` entries, each a text that ends in NUL.
            unsafe { CStr::from_ptr(*names.add(index)) }.to_string_lossy().into_owned()
        })
        .collect();
    // SAFETY: handed out by the call above for the caller to release, and released once.
    let released = unsafe { Error::result_from_status((api().ReleaseAvailableProviders)(names, count)) };
    if let Err(error) = released {
        tracing::warn!(%error, "a list of providers could not be released");
    }
    found
}

/// Appends an execution provider by ONNX Runtime's name for it, with its options as they are.
pub(crate) fn append_provider(
    builder: &mut SessionBuilder,
    ort_name: &str,
    options: &[(String, String)],
) -> Result<(), Error> {
    let name = CString::new(ort_name)?;
    let texts = |pick: fn(&(String, String)) -> &str| -> Result<Vec<CString>, Error> {
        options.iter().map(|option| CString::new(pick(option)).map_err(Error::from)).collect()
    };
    let (keys, values) = (texts(|option| &option.0)?, texts(|option| &option.1)?);
    let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<*const c_char>>();
    let (key_pointers, value_pointers) = (pointers(&keys), pointers(&values));
    // SAFETY: the builder owns valid options; names, keys and values end in NUL, live until the call returns, and there are
    // as many keys as values as the count says. ONNX Runtime copies them.
    unsafe {
        Error::result_from_status((api().SessionOptionsAppendExecutionProvider)(
            builder.ptr_mut(),
            name.as_ptr(),
            key_pointers.as_ptr(),
            value_pointers.as_ptr(),
            options.len(),
        ))
    }
}
