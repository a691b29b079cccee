//! What a page draws, as far as it is text: pieces with their place and size.

use std::{collections::HashMap, rc::Rc};

use super::super::{Limits, Unreadable};
use super::{
    file::{File, Page},
    font::Font,
    lexer::{Dict, Lexer, Object},
};

/// How deep drawings may be drawn within each other.
const MAX_FORMS: usize = 8;
/// How many operands an operator keeps.
const MAX_OPERANDS: usize = 64;
/// Fonts that are kept read at once: one may take a megabyte.
const MAX_FONTS: usize = 64;
/// What reading a font counts for, in operations.
const FONT_OPERATIONS: usize = 500;
/// Most pieces of a page.
const MAX_PIECES: usize = 300_000;
/// A gap of this many thousandths of the font's size between letters is a space.
const SPACE: f64 = 200.0;

/// Text at a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) x: f64,
    pub(super) y: f64,
    /// Where it ends.
    pub(super) end_x: f64,
    /// Height of its letters.
    pub(super) size: f64,
}

/// A matrix as PDFs write it: `[a b c d e f]`.
#[derive(Debug, Clone, Copy)]
struct Matrix([f64; 6]);

impl Matrix {
    const ONE: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// This one first, then the other.
    fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, other.0);
        Self([
            a * g + b * i,
            a * h + b * j,
            c * g + d * i,
            c * h + d * j,
            e * g + f * i + k,
            e * h + f * j + l,
        ])
    }

    fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    fn of(operands: &[f64]) -> Self {
        operands.try_into().map_or(Self::ONE, Self)
    }
}

/// What holds while text is drawn.
#[derive(Debug, Clone)]
struct State {
    base: Matrix,
    text: Matrix,
    line: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
    letter_gap: f64,
    word_gap: f64,
    stretch: f64,
}

/// Draws pages one after the other.
pub(super) struct Drawer<'a, 'b> {
    file: &'a mut File<'b>,
    fonts: HashMap<u32, Rc<Font>>,
    operations: usize,
    pieces: Vec<Piece>,
    limits: Limits,
    /// What the last page drew with, and the object that said so: pages share it.
    shared: Option<(u32, Rc<Resources>)>,
}

/// What a drawing may name.
#[derive(Debug, Default)]
struct Resources {
    fonts: Dict,
    forms: Dict,
}

impl<'a, 'b> Drawer<'a, 'b> {
    pub(super) fn new(file: &'a mut File<'b>, limits: &Limits) -> Self {
        let operations = limits.operations;
        Self { file, fonts: HashMap::new(), operations, pieces: Vec::new(), limits: *limits, shared: None }
    }

    /// The pieces of a page, in the order in which they are drawn.
    pub(super) fn page(&mut self, page: Page) -> Result<Vec<Piece>, Unreadable> {
        let resources = match &self.shared {
            Some((number, shared)) if *number == page.resources => shared.clone(),
            _ => {
                let holder = self.dict_of(page.resources)?;
                let resources = Rc::new(self.resources(&holder)?);
                self.shared = Some((page.resources, resources.clone()));
                resources
            }
        };
        let contents = self.dict_of(page.number)?.get("Contents").clone();
        let parts = match self.file.resolve(&contents)? {
            Object::Array(parts) => parts,
            _ => vec![contents],
        };
        let mut drawn = Vec::new();
        for part in &parts {
            if let Some((_, bytes)) = self.file.stream(part)? {
                drawn.extend_from_slice(&bytes);
                drawn.push(b'\n');
            }
            if drawn.len() > self.limits.inflated_bytes {
                return Err(Unreadable::Complex);
            }
        }
        self.draw(&drawn, &resources, Matrix::ONE, 0)?;
        Ok(std::mem::take(&mut self.pieces))
    }

    fn dict_of(&mut self, number: u32) -> Result<Dict, Unreadable> {
        let object = self.file.entry(number)?.object;
        Ok(if let Object::Dict(dict) = object { dict } else { Dict::default() })
    }

    fn resources(&mut self, holder: &Dict) -> Result<Resources, Unreadable> {
        let own = self.file.dict(holder, "Resources")?;
        Ok(Resources { fonts: self.file.dict(&own, "Font")?, forms: self.file.dict(&own, "XObject")? })
    }

    fn spend(&mut self, operations: usize) -> Result<(), Unreadable> {
        self.operations = self.operations.checked_sub(operations).ok_or(Unreadable::Complex)?;
        Ok(())
    }

    fn draw(
        &mut self,
        drawn: &[u8],
        resources: &Rc<Resources>,
        base: Matrix,
        depth: usize,
    ) -> Result<(), Unreadable> {
        let mut state = State {
            base,
            text: Matrix::ONE,
            line: Matrix::ONE,
            font: None,
            size: 0.0,
            leading: 0.0,
            letter_gap: 0.0,
            word_gap: 0.0,
            stretch: 1.0,
        };
        let mut kept = Vec::new();
        let mut operands = Vec::new();
        let mut lexer = Lexer::new(drawn, 0);
        while let Some(object) = lexer.object() {
            let Object::Word(operator) = object else {
                if operands.len() < MAX_OPERANDS {
                    operands.push(object);
                }
                continue;
            };
            self.spend(1)?;
            match &operator[..] {
                b"q" if kept.len() < 256 => kept.push(state.clone()),
                b"Q" => state = kept.pop().unwrap_or(state),
                b"Do" => self.form(&operands, resources, state.base, depth)?,
                b"Tf" => self.set_font(&operands, resources, &mut state)?,
                b"ID" => skip_picture(&mut lexer),
                _ => self.operator(&operator, &operands, &mut state)?,
            }
            operands.clear();
        }
        Ok(())
    }

    /// Draws a drawing that has a name.
    fn form(
        &mut self,
        operands: &[Object],
        resources: &Rc<Resources>,
        base: Matrix,
        depth: usize,
    ) -> Result<(), Unreadable> {
        let name = operands.first().and_then(Object::name).unwrap_or_default();
        self.spend(resources.forms.0.len())?;
        let Some((_, Object::Ref(number))) = resources.forms.0.iter().find(|(key, _)| key == name) else {
            return Ok(());
        };
        let dict = self.dict_of(*number)?;
        if depth >= MAX_FORMS || !dict.is("Subtype", "Form") {
            return Ok(());
        }
        let Some((dict, drawn)) = self.file.stream(&Object::Ref(*number))? else { return Ok(()) };
        let matrix: Vec<f64> = self.file.array(&dict, "Matrix")?.iter().filter_map(Object::number).collect();
        let own = match dict.get("Resources") {
            Object::Null => resources.clone(),
            _ => Rc::new(self.resources(&dict)?),
        };
        self.draw(&drawn, &own, Matrix::of(&matrix).then(base), depth + 1)
    }

    fn set_font(
        &mut self,
        operands: &[Object],
        resources: &Resources,
        state: &mut State,
    ) -> Result<(), Unreadable> {
        let [Object::Name(name), size] = operands else { return Ok(()) };
        state.size = size.number().unwrap_or(0.0);
        self.spend(resources.fonts.0.len())?;
        let object =
            resources.fonts.0.iter().find(|(key, _)| key == name).map_or(&Object::Null, |(_, object)| object);
        let number = if let Object::Ref(number) = object { Some(*number) } else { None };
        state.font = number.and_then(|number| self.fonts.get(&number).cloned());
        if state.font.is_some() {
            return Ok(());
        }
        self.spend(FONT_OPERATIONS)?;
        let Object::Dict(dict) = self.file.resolve(object)? else { return Ok(()) };
        let font = Rc::new(Font::read(self.file, &dict)?);
        if let Some(number) = number {
            if self.fonts.len() == MAX_FONTS {
                self.fonts.clear();
            }
            self.fonts.insert(number, font.clone());
        }
        state.font = Some(font);
        Ok(())
    }

    fn operator(
        &mut self,
        operator: &[u8],
        operands: &[Object],
        state: &mut State,
    ) -> Result<(), Unreadable> {
        let numbers: Vec<f64> = operands.iter().filter_map(Object::number).collect();
        let number = |index: usize| numbers.get(index).copied().unwrap_or(0.0);
        match operator {
            b"cm" => state.base = Matrix::of(&numbers).then(state.base),
            b"BT" => (state.text, state.line) = (Matrix::ONE, Matrix::ONE),
            b"Tm" => state.to(Matrix::of(&numbers)),
            b"Td" => state.next_line(number(0), number(1)),
            b"TD" => {
                state.leading = -number(1);
                state.next_line(number(0), number(1));
            }
            b"T*" => state.next_line(0.0, -state.leading),
            b"TL" => state.leading = number(0),
            b"Tc" => state.letter_gap = number(0),
            b"Tw" => state.word_gap = number(0),
            b"Tz" => state.stretch = number(0) / 100.0,
            b"Tj" => self.show(operands, state)?,
            b"TJ" => {
                if let Some(Object::Array(parts)) = operands.first() {
                    self.show(parts, state)?;
                }
            }
            b"'" | b"\"" => {
                if operator == b"\"" {
                    (state.word_gap, state.letter_gap) = (number(0), number(1));
                }
                state.next_line(0.0, -state.leading);
                self.show(operands.last().map(std::slice::from_ref).unwrap_or_default(), state)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Shows strings; numbers between them move back by thousandths of the font's size.
    fn show(&mut self, parts: &[Object], state: &mut State) -> Result<(), Unreadable> {
        let Some(font) = state.font.clone() else { return Ok(()) };
        let start = state.text.then(state.base).0;
        let mut text = String::new();
        for part in parts {
            match part {
                Object::Text(bytes) => {
                    let shown = font.show(bytes);
                    text.push_str(&shown.text);
                    if text.len() > self.limits.text_bytes {
                        return Err(Unreadable::TooLong(self.limits.text_bytes));
                    }
                    let gaps = shown.codes as f64 * state.letter_gap + shown.spaces as f64 * state.word_gap;
                    state.forward(shown.width / 1000.0 * state.size + gaps);
                }
                Object::Number(back) => {
                    if -back > SPACE && !text.ends_with(' ') {
                        text.push(' ');
                    }
                    state.forward(-back / 1000.0 * state.size);
                }
                _ => {}
            }
        }
        if !text.is_empty() {
            let end = state.text.then(state.base).0;
            let size = state.size.abs() * start[2].hypot(start[3]);
            if self.pieces.len() == MAX_PIECES {
                return Err(Unreadable::Complex);
            }
            self.pieces.push(Piece { text, x: start[4], y: start[5], end_x: end[4], size });
        }
        Ok(())
    }
}

impl State {
    fn to(&mut self, matrix: Matrix) {
        (self.text, self.line) = (matrix, matrix);
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.to(Matrix::moved(x, y).then(self.line));
    }

    fn forward(&mut self, by: f64) {
        self.text = Matrix::moved(by * self.stretch, 0.0).then(self.text);
    }
}

/// A picture within the drawing: its bytes mean nothing here. It ends with `EI` between spaces.
fn skip_picture(lexer: &mut Lexer<'_>) {
    let rest = &lexer.bytes[lexer.at..];
    let is_end = |window: &[u8]| {
        let [before, b'E', b'I', after] = window else { return false };
        before.is_ascii_whitespace() && after.is_ascii_whitespace()
    };
    let end = rest.windows(4).position(is_end).map_or(rest.len(), |end| end + 3);
    lexer.at += end;
}
