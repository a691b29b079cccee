use std::fmt::Write;

use miniz_oxide::deflate::compress_to_vec_zlib;
use proptest::prelude::*;

use super::super::{Extracted, Limits, Unreadable, extract};

/// A file of these objects, numbered from 1, with a stream where the second half is given.
fn file(objects: &[(&str, Option<&[u8]>)]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (index, (object, stream)) in objects.iter().enumerate() {
        bytes.extend(format!("{} 0 obj\n{object}\n", index + 1).bytes());
        if let Some(stream) = stream {
            bytes.extend(b"stream\n");
            bytes.extend(*stream);
            bytes.extend(b"\nendstream\n");
        }
        bytes.extend(b"endobj\n");
    }
    bytes.extend(b"trailer << /Root 1 0 R >>\n%%EOF");
    bytes
}

/// A file with one page that draws this.
fn page(drawn: &str) -> Vec<u8> {
    let packed = compress_to_vec_zlib(drawn.as_bytes(), 6);
    let stream = format!("<< /Filter /FlateDecode /Length {} >>", packed.len());
    file(&[
        ("<< /Type /Catalog /Pages 2 0 R >>", None),
        ("<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> >> >>", None),
        ("<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>", None),
        (&stream, Some(&packed)),
        ("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>", None),
    ])
}

fn read(bytes: &[u8]) -> Result<Extracted, Unreadable> {
    extract("application/pdf", "a.pdf", bytes, &Limits::default())
}

#[test]
fn lines_come_in_order_and_large_ones_are_headings() {
    let drawn = "BT /F1 24 Tf 72 720 Td (Field) Tj ( Guide) Tj /F1 11 Tf 0 -40 Td (Owls hunt at) Tj 0 -13 Td (night, mostly in win-) Tj \
                 T* 0 -13 Td (ter. ) Tj 0 -30 Td [(A n)-20(ew)-300(para)] TJ ET BT /F1 11 Tf 300 30 Td (17) Tj ET";
    let extracted = read(&page(drawn)).unwrap();
    assert_eq!(extracted.text, "Field Guide\n\nOwls hunt at\nnight, mostly in winter.\n\nA new para");
    let heading = extracted.headings[0];
    assert_eq!((heading.level, &extracted.text[heading.start..heading.end]), (1, "Field Guide"));
    assert_eq!(extracted.pages, [0]);
}

#[test]
fn codes_become_characters_through_the_fonts_own_map() {
    let map = b"1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0001> <0003> <00e4> endbfrange";
    let bytes = file(&[
        ("<< /Type /Catalog /Pages 2 0 R >>", None),
        ("<< /Type /Pages /Kids [3 0 R] >>", None),
        ("<< /Type /Page /Contents [4 0 R] /Resources << /Font << /F 5 0 R >> >> >>", None),
        ("<< >>", Some(b"BT /F 10 Tf 1 0 0 1 9 9 Tm <000100030002> Tj ET")),
        (
            "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [7 0 R] /ToUnicode 6 0 R >>",
            None,
        ),
        ("<< >>", Some(map)),
        ("<< /Type /Font /Subtype /CIDFontType2 /DW 600 /W [1 [500 500] 3 3 400] >>", None),
    ]);
    assert_eq!(read(&bytes).unwrap().text, "äæå");
}

#[test]
fn objects_may_be_packed_and_drawings_drawn_in_drawings() {
    let objects = "<< /Type /Catalog /Pages 2 0 R >> << /Type /Pages /Kids [3 0 R] >> \
                   << /Type /Page /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>";
    let second = objects.find("<< /Type /Pages").unwrap();
    let third = objects.find("<< /Type /Page /").unwrap();
    let head = format!("1 0 2 {second} 3 {third} ");
    let packed = compress_to_vec_zlib(format!("{head}{objects}").as_bytes(), 6);
    let stream = format!(
        "<< /Type /ObjStm /N 3 /First {} /Filter /FlateDecode /Length {} >>",
        head.len(),
        packed.len()
    );
    let form =
        "<< /Subtype /Form /Resources << /Font << /F << /Subtype /Type1 >> >> /XObject << /X 5 0 R >> >> >>";
    let mut bytes = b"%PDF-1.5\n".to_vec();
    for (number, object, stream) in [
        (4, "<< >>", &b"/X Do"[..]),
        // It draws itself: that ends.
        (5, form, b"BT /F 10 Tf (inner) Tj ET /X Do"),
        (9, &stream, &packed),
    ] {
        bytes.extend(format!("{number} 0 obj {object} stream\n").bytes());
        bytes.extend(stream);
        bytes.extend(b"\nendstream endobj\n");
    }
    let text = read(&bytes).unwrap().text;
    assert!(text.starts_with("inner") && text.len() < 100, "{text}");
}

#[test]
fn a_later_object_of_the_same_number_counts() {
    let mut bytes = page("BT /F1 9 Tf (old) Tj ET");
    bytes.extend(b"\n4 0 obj << >> stream\nBT /F1 9 Tf (new) Tj ET\nendstream endobj");
    assert_eq!(read(&bytes).unwrap().text, "new");
}

#[test]
fn files_made_to_break_readers_are_refused_with_a_reason() {
    let endless = "<< /Type /Pages /Kids [2 0 R 3 0 R] >>";
    let cyclic = file(&[("<< /Type /Catalog /Pages 2 0 R >>", None), (endless, None), (endless, None)]);
    assert_eq!(read(&cyclic), Err(Unreadable::Damaged("there is no page in it")));
    let circle = file(&[("2 0 R", None), ("1 0 R", None), ("<< /Type /Page /Contents 1 0 R >>", None)]);
    assert_eq!(read(&circle), Err(Unreadable::Empty));
    assert_eq!(read(b"%PDF-1.4 and nothing else"), Err(Unreadable::Damaged("there is no object in it")));
    let mut encrypted = page("BT (secret) Tj ET");
    encrypted.extend(b" trailer << /Encrypt 9 0 R >>");
    assert_eq!(read(&encrypted), Err(Unreadable::Encrypted));
    assert_eq!(read(&page("0 0 m")), Err(Unreadable::Empty));

    let bomb = compress_to_vec_zlib(&vec![b' '; 200_000_000], 9);
    let stream = format!("<< /Filter /FlateDecode /Length {} >>", bomb.len());
    let page = "<< /Type /Page /Contents 2 0 R >>";
    assert!(matches!(read(&file(&[(page, None), (&stream, Some(&bomb))])), Err(Unreadable::Inflates(_))));
    let twice = compress_to_vec_zlib(&bomb, 9);
    let stream = format!("<< /Filter [/FlateDecode /FlateDecode] /Length {} >>", twice.len());
    assert!(matches!(read(&file(&[(page, None), (&stream, Some(&twice))])), Err(Unreadable::Inflates(_))));
    let pages = file(&vec![("<< /Type /Page >>", None); 6000]);
    assert_eq!(read(&pages), Err(Unreadable::Pages(5000)));
}

#[test]
fn what_would_take_forever_is_too_complex() {
    // Objects without an end, each of which would be searched for to the end of the file.
    let endless = "1 0 obj << >> stream ".repeat(100_000);
    let nested = "1 0 obj [ (".repeat(100_000);
    let dicts = "7 0 obj << /A ".repeat(100_000);
    for text in [endless, nested, dicts] {
        assert!(read(format!("%PDF-1.4 {text}").as_bytes()).is_err());
    }
    // Each drawing draws the next one a thousand times.
    let mut objects =
        vec![("<< /Type /Page /Contents 2 0 R /Resources << /XObject << /X 3 0 R >> >> >>".to_owned(), None)];
    let drawn = "/X Do ".repeat(1000);
    for number in 2..12 {
        let form = format!("<< /Subtype /Form /Resources << /XObject << /X {} 0 R >> >> >>", number + 1);
        objects.push((form, Some(drawn.as_bytes())));
    }
    let objects: Vec<_> = objects.iter().map(|(object, stream)| (&object[..], *stream)).collect();
    assert_eq!(read(&file(&objects)), Err(Unreadable::Complex));
}

/// Texts of objects that mean something to the reader.
fn tokens() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "1 0 obj",
        "2 0 obj",
        "endobj",
        "stream\n",
        "endstream",
        "<<",
        ">>",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "/Type",
        "/Page",
        "/Pages",
        "/Kids",
        "/Catalog",
        "/ObjStm",
        "/First",
        "/N",
        "1 0 R",
        "2 0 R",
        "/Filter",
        "/FlateDecode",
        "/LZWDecode",
        "/Length",
        "-1",
        "99999999999",
        "BT",
        "/F",
        "Tf",
        "Tj",
        "TJ",
        "Do",
        "BI ID",
        "EI",
        "%",
        "#",
        "/Contents",
        "/DecodeParms",
        "/Predictor 12",
        "/Columns",
        "0",
        "7",
        "trailer",
    ]);
    prop::collection::vec(token, 0..200).prop_map(|tokens| {
        let mut text = String::from("%PDF-1.4\n");
        for token in tokens {
            let _ = write!(text, "{token} ");
        }
        text
    })
}

proptest! {
    #[test]
    fn any_order_of_meaningful_words_is_read_or_refused(text in tokens()) {
        let _ = read(text.as_bytes());
    }

    #[test]
    fn a_file_with_any_byte_changed_is_read_or_refused(at in 0usize..700, byte: u8, cut in 0usize..700) {
        let mut bytes = page("BT /F1 24 Tf 72 720 Td (Field) Tj [(a)-300(b)] TJ ET");
        let length = bytes.len();
        bytes[at % length] = byte;
        let _ = read(&bytes);
        bytes.truncate(cut);
        let _ = read(&bytes);
    }

    #[test]
    fn any_drawing_is_drawn_or_refused(drawn in "[ ()<>\\[\\]/a-zA-Z0-9*'\".-]{0,300}") {
        let _ = read(&page(&drawn));
    }
}
