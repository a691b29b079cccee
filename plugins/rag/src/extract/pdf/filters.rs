//! What streams are packed with. Every byte that comes out is taken from the document's budget.

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit};

use super::super::Unreadable;
use super::lexer::{Dict, from_hex, is_space};

/// What compressed parts may still come to.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    whole: usize,
}

impl Budget {
    pub(super) fn new(whole: usize) -> Self {
        Self { left: whole, whole }
    }

    fn take(&mut self, bytes: usize) -> Result<(), Unreadable> {
        self.left = self.left.checked_sub(bytes).ok_or(Unreadable::Inflates(self.whole))?;
        Ok(())
    }
}

/// Unpacks with one filter. `None`: it is one for pictures, or what it is given is damaged from the first byte on.
pub(super) fn unpack(
    filter: &[u8],
    parameters: &Dict,
    bytes: &[u8],
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Unreadable> {
    let unpacked = match filter {
        b"FlateDecode" | b"Fl" => inflate(bytes, budget)?,
        b"LZWDecode" | b"LZW" => {
            let early = parameters.get("EarlyChange").count() != Some(0);
            lzw(bytes, early, budget)?
        }
        b"RunLengthDecode" | b"RL" => run_length(bytes, budget)?,
        b"ASCIIHexDecode" | b"AHx" => {
            let end = bytes.iter().position(|&byte| byte == b'>').unwrap_or(bytes.len());
            from_hex(&bytes[..end])
        }
        b"ASCII85Decode" | b"A85" => ascii85(bytes),
        _ => return Ok(None),
    };
    budget.take(unpacked.len())?;
    Ok(Some(predict(unpacked, parameters)))
}

/// What can be had of it: a stream that breaks off still gives what came before.
fn inflate(bytes: &[u8], budget: &Budget) -> Result<Vec<u8>, Unreadable> {
    for decompress in [decompress_to_vec_zlib_with_limit, decompress_to_vec_with_limit] {
        match decompress(bytes, budget.left) {
            Ok(bytes) => return Ok(bytes),
            Err(error) if error.status == TINFLStatus::HasMoreOutput => {
                return Err(Unreadable::Inflates(budget.whole));
            }
            Err(error) if !error.output.is_empty() => return Ok(error.output),
            Err(_) => {}
        }
    }
    Ok(Vec::new())
}

fn lzw(bytes: &[u8], early: bool, budget: &Budget) -> Result<Vec<u8>, Unreadable> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut out = Vec::new();
    // Each code stands for a range of what came out before.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let mut previous: Option<(usize, usize)> = None;
    let (mut bits, mut held, mut width) = (0u32, 0u32, 9u32);
    for &byte in bytes {
        bits = bits << 8 | u32::from(byte);
        held += 8;
        if held < width {
            continue;
        }
        held -= width;
        let code = (bits >> held & ((1 << width) - 1)) as usize;
        bits &= (1 << held) - 1;
        if code == END {
            break;
        }
        if code == CLEAR {
            table.clear();
            (previous, width) = (None, 9);
            continue;
        }
        let start = out.len();
        match (code, table.get(code.wrapping_sub(258)).copied(), previous) {
            (0..256, _, _) => out.push(code as u8),
            (_, Some((from, to)), _) => out.extend_from_within(from..to),
            (_, None, Some((from, to))) if code == table.len() + 258 => {
                out.extend_from_within(from..to);
                out.push(out[from]);
            }
            _ => break,
        }
        if out.len() > budget.left {
            return Err(Unreadable::Inflates(budget.whole));
        }
        if let Some((from, to)) = previous.filter(|_| table.len() < 4096 - 258) {
            // The previous string and the byte after it, which came out right behind it.
            table.push((from, to + 1));
        }
        previous = Some((start, out.len()));
        width = match table.len() + 258 + usize::from(previous.is_some()) - usize::from(!early) {
            0..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
    }
    Ok(out)
}

fn run_length(bytes: &[u8], budget: &Budget) -> Result<Vec<u8>, Unreadable> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&length) = bytes.get(at).filter(|&&length| length != 128) {
        let length = usize::from(length);
        if length < 128 {
            let end = (at + 2 + length).min(bytes.len());
            out.extend_from_slice(&bytes[at + 1..end]);
            at += 2 + length;
        } else {
            let Some(&byte) = bytes.get(at + 1) else { break };
            out.resize(out.len() + 257 - length, byte);
            at += 2;
        }
        if out.len() > budget.left {
            return Err(Unreadable::Inflates(budget.whole));
        }
    }
    Ok(out)
}

fn ascii85(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut group: Vec<u8> = Vec::with_capacity(5);
    let mut flush = |group: &mut Vec<u8>| {
        let given = group.len();
        if given < 2 {
            return group.clear();
        }
        group.resize(5, 84);
        let number =
            group.iter().fold(0u32, |sum, &digit| sum.wrapping_mul(85).wrapping_add(u32::from(digit)));
        out.extend_from_slice(&number.to_be_bytes()[..given - 1]);
        group.clear();
    };
    for &byte in bytes {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => {
                group.extend([0; 5]);
                flush(&mut group);
            }
            b'!'..=b'u' => {
                group.push(byte - b'!');
                if group.len() == 5 {
                    flush(&mut group);
                }
            }
            byte if is_space(byte) => {}
            _ => {}
        }
    }
    flush(&mut group);
    out
}

/// Undoes PNG's prediction, row by row; any other is left as it is.
fn predict(bytes: Vec<u8>, parameters: &Dict) -> Vec<u8> {
    let number = |key: &str, default: usize| parameters.get(key).count().unwrap_or(default).clamp(1, 1 << 20);
    if number("Predictor", 1) < 10 {
        return bytes;
    }
    let bits = number("Colors", 1).min(32) * number("BitsPerComponent", 8).min(16);
    let pixel = bits.div_ceil(8);
    let width = (bits * number("Columns", 1)).div_ceil(8);
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    for row in bytes.chunks(width + 1) {
        let (Some(&kind), start) = (row.first(), out.len()) else { break };
        for (index, &byte) in row[1..].iter().enumerate() {
            let left = if index >= pixel { out[start + index - pixel] } else { 0 };
            let above = if start >= width { out[start - width + index] } else { 0 };
            let corner =
                if start >= width && index >= pixel { out[start - width + index - pixel] } else { 0 };
            out.push(byte.wrapping_add(match kind {
                1 => left,
                2 => above,
                3 => ((u16::from(left) + u16::from(above)) / 2) as u8,
                4 => paeth(left, above, corner),
                _ => 0,
            }));
        }
    }
    out
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(above), i16::from(corner));
    let guess = a + b - c;
    let (to_a, to_b, to_c) = ((guess - a).abs(), (guess - b).abs(), (guess - c).abs());
    if to_a <= to_b && to_a <= to_c {
        left
    } else if to_b <= to_c {
        above
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::super::lexer::Object;
    use super::*;

    fn check(filter: &str, packed: &[u8], text: &[u8]) {
        let got = unpack(filter.as_bytes(), &Dict::default(), packed, &mut Budget::new(1000));
        assert_eq!(got, Ok(Some(text.to_vec())), "{filter}");
    }

    #[test]
    fn each_filter_gives_back_what_was_packed() {
        check("FlateDecode", &compress_to_vec_zlib(b"flat", 6), b"flat");
        check("ASCIIHexDecode", b"48 65 6C 6c6F>ignored", b"Hello");
        check("ASCII85Decode", b"87cURD]i,\"Ebo80~>", b"Hello World!");
        check("ASCII85Decode", b"z~>", &[0; 4]);
        check("RunLengthDecode", &[2, b'a', b'b', b'c', 254, b'x', 128, 9], b"abcxxx");
        // The standard's own example.
        check("LZWDecode", &[0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01], b"-----A---B");
        assert_eq!(unpack(b"DCTDecode", &Dict::default(), b"", &mut Budget::new(1)), Ok(None));
    }

    #[test]
    fn rows_are_told_by_those_above_them() {
        let parameters = Dict(vec![
            (b"Predictor".to_vec(), Object::Number(12.0)),
            (b"Columns".to_vec(), Object::Number(3.0)),
        ]);
        let rows = predict(vec![0, 1, 2, 3, 2, 1, 1, 1, 1, 5, 1, 1], &parameters);
        assert_eq!(rows, [1, 2, 3, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_bomb_goes_off_in_the_budget() {
        let bomb = compress_to_vec_zlib(&vec![0; 10_000_000], 9);
        let mut budget = Budget::new(1_000_000);
        let got = unpack(b"FlateDecode", &Dict::default(), &bomb, &mut budget);
        assert_eq!(got, Err(Unreadable::Inflates(1_000_000)));
        let runs: Vec<u8> = [129, 0].repeat(10_000);
        assert_eq!(unpack(b"RL", &Dict::default(), &runs, &mut budget), Err(Unreadable::Inflates(1_000_000)));
        // Many small ones come to the same.
        let small = compress_to_vec_zlib(&vec![0; 400_000], 9);
        assert!(unpack(b"Fl", &Dict::default(), &small, &mut budget).is_ok());
        assert!(unpack(b"Fl", &Dict::default(), &small, &mut budget).is_ok());
        assert!(unpack(b"Fl", &Dict::default(), &small, &mut budget).is_err());
    }
}
