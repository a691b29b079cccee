//! The objects of a PDF, as its text spells them.

/// How deep arrays and dictionaries may nest.
const MAX_DEPTH: usize = 48;
/// Most objects that one call makes: two bytes of a file are enough for one that takes forty here.
const MAX_OBJECTS: usize = 200_000;

/// An object.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Null,
    Number(f64),
    Name(Vec<u8>),
    Text(Vec<u8>),
    Array(Vec<Object>),
    Dict(Dict),
    /// A reference to an object by its number.
    Ref(u32),
    /// `obj`, `stream`, an operator, `true`.
    Word(Vec<u8>),
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// A whole number that is not negative.
    pub(super) fn count(&self) -> Option<usize> {
        self.number().filter(|&number| (0.0..=4e9).contains(&number)).map(|number| number as usize)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }
}

/// A dictionary. Few have more than a dozen keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dict(pub(super) Vec<(Vec<u8>, Object)>);

impl Dict {
    /// The value of a key as it stands there, a reference perhaps.
    pub(super) fn get(&self, key: &str) -> &Object {
        self.0.iter().find(|(name, _)| name == key.as_bytes()).map_or(&Object::Null, |(_, value)| value)
    }

    pub(super) fn is(&self, key: &str, name: &str) -> bool {
        self.get(key).name() == Some(name.as_bytes())
    }
}

/// Reads objects from bytes, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    pub(super) bytes: &'a [u8],
    /// Where it is; never past the end.
    pub(super) at: usize,
    made: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: at.min(bytes.len()), made: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'%' => {
                    let end = self.rest().iter().position(|&byte| matches!(byte, b'\r' | b'\n'));
                    self.at = end.map_or(self.bytes.len(), |end| self.at + end);
                }
                byte if is_space(byte) => self.at += 1,
                _ => return,
            }
        }
    }

    /// The next object; `None` at the end and where nothing can be made of what stands there.
    pub(super) fn object(&mut self) -> Option<Object> {
        self.made = 0;
        self.nested(0)
    }

    fn nested(&mut self, depth: usize) -> Option<Object> {
        self.made += 1;
        if depth > MAX_DEPTH || self.made > MAX_OBJECTS {
            return None;
        }
        self.skip_space();
        match (self.peek()?, self.bytes.get(self.at + 1)) {
            (b'/', _) => Some(Object::Name(self.name())),
            (b'(', _) => Some(Object::Text(self.text())),
            (b'<', Some(b'<')) => self.dict(depth),
            (b'<', _) => Some(Object::Text(self.hex())),
            (b'[', _) => self.array(depth),
            (b'+' | b'-' | b'.' | b'0'..=b'9', _) => Some(self.number()),
            (b']' | b'>' | b')' | b'{' | b'}', _) => {
                self.at += 1;
                Some(Object::Word(vec![self.bytes[self.at - 1]]))
            }
            _ => Some(Object::Word(self.regular().to_vec())),
        }
    }

    /// The bytes up to the next space or delimiter.
    fn regular(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|&byte| is_space(byte) || is_delimiter(byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let raw = self.regular();
        if !raw.contains(&b'#') {
            return raw.to_vec();
        }
        let mut name = Vec::with_capacity(raw.len());
        let mut at = 0;
        while let Some(&byte) = raw.get(at) {
            let digits =
                raw.get(at + 1).zip(raw.get(at + 2)).and_then(|(&a, &b)| Some(digit(a)? << 4 | digit(b)?));
            match digits.filter(|_| byte == b'#') {
                Some(escaped) => {
                    name.push(escaped);
                    at += 3;
                }
                None => {
                    name.push(byte);
                    at += 1;
                }
            }
        }
        name
    }

    /// A number, or a reference: `12 0 R`.
    fn number(&mut self) -> Object {
        let word = self.regular();
        if word.is_empty() {
            self.at += 1;
        }
        let text = std::str::from_utf8(word).unwrap_or_default();
        if let Ok(number) = text.parse::<u32>() {
            let mut ahead = self.clone();
            ahead.skip_space();
            let generation = ahead.regular();
            if !generation.is_empty() && generation.len() <= 5 && generation.iter().all(u8::is_ascii_digit) {
                ahead.skip_space();
                if ahead.regular() == b"R" {
                    self.at = ahead.at;
                    return Object::Ref(number);
                }
            }
        }
        // Some writers make `--5` and `5-3`: what can be read of it counts.
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        Object::Number(number.unwrap_or_default())
    }

    /// A string in parentheses.
    fn text(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut depth = 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.escape(&mut text),
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if byte != b'\\' {
                text.push(byte);
            }
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' | b'f' => text.push(b' '),
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(next @ b'0'..=b'7') = self.peek() else { break };
                    code = code * 8 + u32::from(next - b'0');
                    self.at += 1;
                }
                text.push(code as u8);
            }
            b'\r' => self.at += usize::from(self.peek() == Some(b'\n')),
            b'\n' => {}
            other => text.push(other),
        }
    }

    /// A string in hexadecimal digits.
    fn hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let rest = self.rest();
        let end = rest.iter().position(|&byte| byte == b'>').unwrap_or(rest.len());
        self.at = (self.at + end + 1).min(self.bytes.len());
        from_hex(&rest[..end])
    }

    fn array(&mut self, depth: usize) -> Option<Object> {
        self.at += 1;
        let mut array = Vec::new();
        loop {
            match self.nested(depth + 1)? {
                Object::Word(word) if word == b"]" => return Some(Object::Array(array)),
                // The end was forgotten.
                Object::Word(word) if matches!(&word[..], b"obj" | b"endobj" | b"stream" | b"endstream") => {
                    return None;
                }
                object => array.push(object),
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Object> {
        self.at += 2;
        let mut dict = Vec::new();
        loop {
            match self.nested(depth + 1)? {
                Object::Name(name) => {
                    // `/Key >>`: a key without a value.
                    self.skip_space();
                    if self.rest().starts_with(b">>") {
                        continue;
                    }
                    dict.push((name, self.nested(depth + 1)?));
                }
                Object::Word(word) if word == b">" => {
                    self.at += usize::from(self.peek() == Some(b'>'));
                    return Some(Object::Dict(Dict(dict)));
                }
                Object::Word(word) if matches!(&word[..], b"obj" | b"endobj" | b"stream" | b"endstream") => {
                    return None;
                }
                _ => {}
            }
        }
    }
}

/// Bytes of hexadecimal digits; what is none is left out, a last single digit stands for sixteen times itself.
pub(super) fn from_hex(digits: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = digits.iter().filter_map(|&byte| digit(byte)).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x0c | 0)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Object> {
        Lexer::new(text.as_bytes(), 0).object()
    }

    #[test]
    fn objects_are_read_as_the_standard_spells_them() {
        assert_eq!(read("% note\n 12 0 R"), Some(Object::Ref(12)));
        assert_eq!(read("-.5 "), Some(Object::Number(-0.5)));
        assert_eq!(read("/A#20B"), Some(Object::Name(b"A B".to_vec())));
        assert_eq!(read(r"(a\(b\) (c) \101\n\\)"), Some(Object::Text(b"a(b) (c) A\n\\".to_vec())));
        assert_eq!(read("<48 6>"), Some(Object::Text(b"H`".to_vec())));
        let dict = read("<</Kids [1 0 R 2 0 R]/N 2/Lone>>");
        let Some(Object::Dict(dict)) = dict else { panic!("{dict:?}") };
        assert_eq!(dict.get("Kids"), &Object::Array(vec![Object::Ref(1), Object::Ref(2)]));
        assert_eq!((dict.get("N").count(), dict.get("None")), (Some(2), &Object::Null));
    }

    #[test]
    fn nesting_and_numbers_have_bounds() {
        assert_eq!(read(&"[".repeat(100_000)), None);
        assert_eq!(read(&format!("[{}]", "0 ".repeat(MAX_OBJECTS + 1))), None);
        assert_eq!(read("[1 2 endobj"), None);
        assert_eq!(read("(never closed"), Some(Object::Text(b"never closed".to_vec())));
    }
}
