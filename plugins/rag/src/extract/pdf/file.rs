//! The objects of a PDF by their numbers.
//!
//! The table at the end of a file that says where each object lies is not even read: files are damaged there most often, and a
//! hostile one sends its reader in circles. Every object says its number itself, so the file is walked once from its start to its
//! end, and the last object of a number is the one that counts, as it is after each change that was saved.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashSet},
    ops::Range,
};

use super::super::{Limits, Unreadable};
use super::{
    filters::{self, Budget},
    lexer::{Dict, Lexer, Object, is_space},
};

/// How often the same byte is looked at, on average, before a file counts as too complex.
const MAX_PASSES: usize = 24;
/// How deep the tree of pages may be.
const MAX_TREE: usize = 32;
/// Most objects of a file.
const MAX_OBJECTS: usize = 1_000_000;
/// How many references lead to an object, and how many filters a stream has, at most.
const MAX_HOPS: usize = 8;

/// Where an object lies.
#[derive(Debug, Clone)]
enum Place {
    /// In the file, right after its `obj`.
    Plain(usize),
    /// In a packed stream of objects.
    Packed { stream: usize, at: usize },
}

/// An object with its stream, if it has one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) object: Object,
    stream: Option<Range<usize>>,
}

/// A PDF file.
#[derive(Debug)]
pub(super) struct File<'a> {
    bytes: &'a [u8],
    places: BTreeMap<u32, Place>,
    packed: Vec<Vec<u8>>,
    budget: Budget,
    /// Bytes that may still be looked at.
    work: Cell<usize>,
    /// No stream ends behind this: saves the search.
    no_end_after: usize,
}

impl<'a> File<'a> {
    /// Finds every object of a file.
    pub(super) fn read(bytes: &'a [u8], limits: &Limits) -> Result<Self, Unreadable> {
        let inflated = bytes
            .len()
            .saturating_mul(limits.inflate_ratio)
            .clamp(1 << 20, limits.inflated_bytes.max(1 << 20));
        let mut file = Self {
            bytes,
            places: BTreeMap::new(),
            packed: Vec::new(),
            budget: Budget::new(inflated),
            work: Cell::new(bytes.len().saturating_mul(MAX_PASSES).saturating_add(1 << 22)),
            no_end_after: bytes.len(),
        };
        let mut at = 0;
        while let Some(found) = find(bytes, at, b"obj") {
            at = found + 3;
            if let Some(number) = number_before(bytes, found) {
                at = file.object_at(number, at)?;
            }
        }
        if file.is_encrypted()? {
            return Err(Unreadable::Encrypted);
        }
        if file.places.is_empty() { Err(Unreadable::Damaged("there is no object in it")) } else { Ok(file) }
    }

    fn spend(&self, work: usize) -> Result<(), Unreadable> {
        self.work.set(self.work.get().checked_sub(work).ok_or(Unreadable::Complex)?);
        Ok(())
    }

    fn note(&mut self, number: u32, place: Place) -> Result<(), Unreadable> {
        self.places.insert(number, place);
        if self.places.len() > MAX_OBJECTS { Err(Unreadable::Complex) } else { Ok(()) }
    }

    /// Notes an object, and what is packed in it; says where it ends.
    fn object_at(&mut self, number: u32, start: usize) -> Result<usize, Unreadable> {
        self.note(number, Place::Plain(start))?;
        let (entry, end) = self.parse(start)?;
        if let (Object::Dict(dict), Some(stream)) = (&entry.object, &entry.stream) {
            if dict.get("Encrypt") != &Object::Null {
                return Err(Unreadable::Encrypted);
            }
            if dict.is("Type", "ObjStm") {
                let unpacked = self.unpack(dict, stream.clone())?.unwrap_or_default();
                self.unpack_objects(dict, unpacked)?;
            }
        }
        Ok(end)
    }

    /// Notes the objects of a packed stream: pairs of number and offset, then the objects.
    fn unpack_objects(&mut self, dict: &Dict, unpacked: Vec<u8>) -> Result<(), Unreadable> {
        let first = dict.get("First").count().unwrap_or(0);
        let mut lexer = Lexer::new(&unpacked, 0);
        for _ in 0..dict.get("N").count().unwrap_or(0) {
            let pair = (lexer.object(), lexer.object());
            let (Some(Object::Number(number)), Some(Object::Number(offset))) = pair else { break };
            let place =
                Place::Packed { stream: self.packed.len(), at: first.saturating_add(offset as usize) };
            self.note(number as u32, place)?;
        }
        self.spend(lexer.at)?;
        self.packed.push(unpacked);
        Ok(())
    }

    /// The object that begins at a byte of the file, and where it ends.
    fn parse(&mut self, start: usize) -> Result<(Entry, usize), Unreadable> {
        let mut lexer = Lexer::new(self.bytes, start);
        let object = lexer.object();
        let mut end = lexer.at;
        let mut stream = None;
        if let Some(Object::Dict(dict)) = &object {
            lexer.skip_space();
            if self.bytes[lexer.at..].starts_with(b"stream") {
                let begin = after_line(self.bytes, lexer.at + b"stream".len());
                let range = self.stream_range(dict, begin)?;
                end = range.end;
                stream = Some(range);
            }
        }
        self.spend(lexer.at - start)?;
        Ok((Entry { object: object.unwrap_or(Object::Null), stream }, end))
    }

    /// Where a stream lies: as long as it says if its end is there, else up to the next end.
    fn stream_range(&mut self, dict: &Dict, begin: usize) -> Result<Range<usize>, Unreadable> {
        if let Some(length) = dict.get("Length").count() {
            let end = begin.saturating_add(length).min(self.bytes.len());
            let rest = &self.bytes[end..];
            let spaces = rest.iter().take(4).take_while(|&&byte| is_space(byte)).count();
            if rest[spaces..].starts_with(b"endstream") {
                return Ok(begin..end);
            }
        }
        let end = if begin >= self.no_end_after { None } else { find(self.bytes, begin, b"endstream") };
        self.spend(end.unwrap_or(begin) - begin)?;
        if end.is_none() {
            self.no_end_after = self.no_end_after.min(begin);
        }
        Ok(begin..end.unwrap_or(self.bytes.len()).max(begin))
    }

    /// Whether a trailer says that the file is encrypted; those of packed files were looked at as they came by.
    fn is_encrypted(&self) -> Result<bool, Unreadable> {
        let mut at = 0;
        while let Some(found) = find(self.bytes, at, b"trailer") {
            let mut lexer = Lexer::new(self.bytes, found + b"trailer".len());
            let trailer = lexer.object();
            self.spend(lexer.at - found)?;
            if matches!(&trailer, Some(Object::Dict(dict)) if dict.get("Encrypt") != &Object::Null) {
                return Ok(true);
            }
            at = found + 1;
        }
        Ok(false)
    }

    /// The object of a number.
    pub(super) fn entry(&mut self, number: u32) -> Result<Entry, Unreadable> {
        match self.places.get(&number).cloned() {
            Some(Place::Plain(start)) => Ok(self.parse(start)?.0),
            Some(Place::Packed { stream, at }) => {
                let bytes = self.packed.get(stream).map(Vec::as_slice).unwrap_or_default();
                let mut lexer = Lexer::new(bytes, at);
                let object = lexer.object().unwrap_or(Object::Null);
                self.spend(lexer.at.saturating_sub(at) + 1)?;
                Ok(Entry { object, stream: None })
            }
            None => Ok(Entry { object: Object::Null, stream: None }),
        }
    }

    /// What a reference leads to; any other object is itself.
    pub(super) fn resolve(&mut self, object: &Object) -> Result<Object, Unreadable> {
        let mut object = object.clone();
        for _ in 0..MAX_HOPS {
            let Object::Ref(number) = object else { return Ok(object) };
            object = self.entry(number)?.object;
        }
        Ok(Object::Null)
    }

    /// A dictionary behind a key; an empty one where there is none.
    pub(super) fn dict(&mut self, dict: &Dict, key: &str) -> Result<Dict, Unreadable> {
        Ok(match self.resolve(dict.get(key))? {
            Object::Dict(dict) => dict,
            _ => Dict::default(),
        })
    }

    /// An array behind a key; an empty one where there is none, one of one where there is something else.
    pub(super) fn array(&mut self, dict: &Dict, key: &str) -> Result<Vec<Object>, Unreadable> {
        Ok(match self.resolve(dict.get(key))? {
            Object::Array(array) => array,
            Object::Null => Vec::new(),
            object => vec![object],
        })
    }

    /// A stream behind a reference with its dictionary, unpacked.
    pub(super) fn stream(&mut self, object: &Object) -> Result<Option<(Dict, Vec<u8>)>, Unreadable> {
        let mut object = object.clone();
        for _ in 0..MAX_HOPS {
            let Object::Ref(number) = object else { return Ok(None) };
            match self.entry(number)? {
                Entry { object: Object::Dict(dict), stream: Some(range) } => {
                    return Ok(self.unpack(&dict, range)?.map(|bytes| (dict, bytes)));
                }
                entry => object = entry.object,
            }
        }
        Ok(None)
    }

    /// What a stream holds, through all its filters.
    fn unpack(&mut self, dict: &Dict, range: Range<usize>) -> Result<Option<Vec<u8>>, Unreadable> {
        let mut filters = self.array(dict, "Filter")?;
        filters.extend(self.array(dict, "F")?.into_iter().filter(|object| object.name().is_some()));
        if filters.len() > MAX_HOPS {
            return Err(Unreadable::Complex);
        }
        let mut parameters = self.array(dict, "DecodeParms")?;
        parameters.extend(self.array(dict, "DP")?);
        let mut bytes = self.bytes[range].to_vec();
        self.spend(bytes.len())?;
        for (index, filter) in filters.iter().enumerate() {
            let filter = self.resolve(filter)?;
            let parameters = match self.resolve(parameters.get(index).unwrap_or(&Object::Null))? {
                Object::Dict(dict) => dict,
                _ => Dict::default(),
            };
            let name = filter.name().unwrap_or_default();
            match filters::unpack(name, &parameters, &bytes, &mut self.budget)? {
                Some(unpacked) => bytes = unpacked,
                None => return Ok(None),
            }
        }
        Ok(Some(bytes))
    }

    /// Every page in order; at most one more than the limit.
    pub(super) fn pages(&mut self, limit: usize) -> Result<Vec<Page>, Unreadable> {
        let mut loose = Vec::new();
        let mut root = None;
        let numbers: Vec<u32> = self.places.keys().copied().collect();
        for number in numbers {
            let Object::Dict(dict) = self.entry(number)?.object else { continue };
            if dict.is("Type", "Catalog") {
                root = Some(dict.get("Pages").clone());
            } else if dict.is("Type", "Page") && loose.len() <= limit {
                loose.push(Page { number, resources: number });
            }
        }
        let mut tree = Tree { limit, seen: HashSet::new(), pages: Vec::new() };
        if let Some(Object::Ref(number)) = root {
            self.walk(number, number, 0, &mut tree)?;
        }
        // A tree that leads nowhere: the pages as they lie.
        Ok(if tree.pages.is_empty() { loose } else { tree.pages })
    }

    fn walk(&mut self, number: u32, holder: u32, depth: usize, tree: &mut Tree) -> Result<(), Unreadable> {
        if depth > MAX_TREE || tree.pages.len() > tree.limit || !tree.seen.insert(number) {
            return Ok(());
        }
        let Object::Dict(dict) = self.entry(number)?.object else { return Ok(()) };
        let resources = if dict.get("Resources") == &Object::Null { holder } else { number };
        let kids = self.array(&dict, "Kids")?;
        if kids.is_empty() && !dict.is("Type", "Pages") {
            tree.pages.push(Page { number, resources });
        }
        for kid in &kids {
            if let Object::Ref(kid) = kid {
                self.walk(*kid, resources, depth + 1, tree)?;
            }
        }
        Ok(())
    }
}

/// A page, by the number of its object, and of the object that holds what it draws with: itself or one above it in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) number: u32,
    pub(super) resources: u32,
}

/// Pages that were found so far.
struct Tree {
    limit: usize,
    seen: HashSet<u32>,
    pages: Vec<Page>,
}

/// The first place of some bytes from a place on.
fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut at = 0;
    loop {
        at += rest[at..].iter().position(|byte| byte == &what[0])?;
        if rest[at..].starts_with(what) {
            return Some(from + at);
        }
        at += 1;
    }
}

/// The number of the object whose `obj` stands at a place: `12 0 obj`. `None` for `endobj` and the like.
fn number_before(bytes: &[u8], place: usize) -> Option<u32> {
    let back = |mut at: usize, of: fn(u8) -> bool| {
        let end = at;
        while at > 0 && end - at < 12 && of(bytes[at - 1]) {
            at -= 1;
        }
        (at, end)
    };
    let (gap, _) = back(place, is_space);
    let (start, end) = back(gap, |byte| byte.is_ascii_digit());
    let (middle, _) = back(start, is_space);
    let (first, last) = back(middle, |byte| byte.is_ascii_digit());
    if start == end || middle == start || first == last {
        return None;
    }
    std::str::from_utf8(&bytes[first..last]).ok()?.parse().ok()
}

/// The place after the line break that follows `stream`.
fn after_line(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    };
    (at + length).min(bytes.len())
}
