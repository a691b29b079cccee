//! Bytes to text as they come, without half a character.

/// What has come of a character that is not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Utf8Stream {
    partial: Vec<u8>,
}

impl Utf8Stream {
    /// Appends to `text` what is whole with these bytes. Bytes that can be no character become U+FFFD.
    pub(crate) fn push(&mut self, bytes: &[u8], text: &mut String) {
        self.partial.extend_from_slice(bytes);
        let mut rest = self.partial.as_slice();
        while !rest.is_empty() {
            let (whole, after) = match std::str::from_utf8(rest) {
                Ok(whole) => (whole, None),
                Err(error) => {
                    let (whole, bad) = rest.split_at(error.valid_up_to());
                    // It was valid so far.
                    (std::str::from_utf8(whole).unwrap_or_default(), Some((bad, error.error_len())))
                }
            };
            text.push_str(whole);
            match after {
                Some((bad, Some(length))) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &bad[length..];
                }
                Some((begun, None)) => {
                    rest = begun;
                    break;
                }
                None => rest = &[],
            }
        }
        let done = self.partial.len() - rest.len();
        self.partial.drain(..done);
    }

    /// What is left when nothing more comes: a character that was cut off becomes U+FFFD.
    pub(crate) fn finish(&mut self, text: &mut String) {
        if !std::mem::take(&mut self.partial).is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn streamed<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
        let (mut stream, mut text) = (Utf8Stream::default(), String::new());
        parts.into_iter().for_each(|part| stream.push(part, &mut text));
        stream.finish(&mut text);
        text
    }

    #[test]
    fn a_character_comes_when_it_is_whole() {
        let (mut stream, mut text) = (Utf8Stream::default(), String::new());
        stream.push("a".as_bytes(), &mut text);
        stream.push(&"🦀".as_bytes()[..3], &mut text);
        assert_eq!(text, "a");
        stream.push(&"🦀".as_bytes()[3..], &mut text);
        assert_eq!(text, "a🦀");
    }

    #[test]
    fn what_cannot_be_a_character_is_replaced() {
        assert_eq!(streamed([b"a\xff".as_slice(), b"b"]), "a\u{fffd}b");
        assert_eq!(streamed([b"a\xe2\x82".as_slice()]), "a\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_split_of_any_bytes_gives_the_same_text(bytes: Vec<u8>, size in 1_usize..5) {
            prop_assert_eq!(streamed(bytes.chunks(size)), String::from_utf8_lossy(&bytes));
        }
    }
}
