//! The greeting: who speaks, and which version of the protocol.

use std::io::{Read, Write};

use crate::Error;

/// Version of the protocol: raised with every change to a message, since host and worker are installed together.
pub const PROTOCOL_VERSION: u32 = 3;

/// Length of a greeting.
pub const HELLO_LEN: usize = 8;

const MAGIC: [u8; 4] = *b"EBBW";

/// This side's greeting.
pub fn hello() -> [u8; HELLO_LEN] {
    let mut hello = [0; HELLO_LEN];
    hello[..4].copy_from_slice(&MAGIC);
    hello[4..].copy_from_slice(&PROTOCOL_VERSION.to_le_bytes());
    hello
}

/// Checks the other side's greeting.
///
/// # Errors
/// [`Error::NotEbb`], [`Error::Version`].
pub fn check_hello(theirs: [u8; HELLO_LEN]) -> Result<(), Error> {
    let [m0, m1, m2, m3, v0, v1, v2, v3] = theirs;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(Error::NotEbb);
    }
    match u32::from_le_bytes([v0, v1, v2, v3]) {
        PROTOCOL_VERSION => Ok(()),
        theirs => Err(Error::Version { ours: PROTOCOL_VERSION, theirs }),
    }
}

/// Greets and is greeted, with blocking calls.
///
/// # Errors
/// As [`check_hello`]; [`Error::Pipe`].
pub fn greet(reader: &mut impl Read, writer: &mut impl Write) -> Result<(), Error> {
    writer.write_all(&hello())?;
    writer.flush()?;
    let mut theirs = [0; HELLO_LEN];
    reader.read_exact(&mut theirs)?;
    check_hello(theirs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_and_another_version_are_told_apart() {
        assert!(check_hello(hello()).is_ok());
        assert!(matches!(check_hello(*b"GET / HT"), Err(Error::NotEbb)));
        let mut newer = hello();
        newer[4] = 9;
        let error = check_hello(newer).unwrap_err();
        assert!(matches!(error, Error::Version { ours: PROTOCOL_VERSION, theirs: 9 }));
        assert!(error.to_string().contains("install ebb and ebb-worker of one version"));
    }
}
