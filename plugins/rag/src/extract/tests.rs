use proptest::prelude::*;

use super::{Extracted, Kind, Limits, Unreadable, extract, kind};

fn read(name: &str, text: &str) -> Result<Extracted, Unreadable> {
    extract("", name, text.as_bytes(), &Limits::default())
}

fn check(name: &str, source: &str, text: &str, headings: &[(u8, &str)]) {
    let extracted = read(name, source).unwrap();
    assert_eq!(extracted.text, text);
    let found: Vec<_> =
        extracted.headings.iter().map(|one| (one.level, &extracted.text[one.start..one.end])).collect();
    assert_eq!(found, headings);
}

#[test]
fn markdown_is_read_as_its_page_would_be() {
    check(
        "a.md",
        "---\ntitle: hidden\n---\n# Bees *and* wasps\n\nA [hive](http://x) holds\nmany `bees`.\n\n- one\n- two\n\n## Care\n\n\
         | a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn x() {\n    y\n}\n```\n<div>raw <b>html</b></div>\n",
        "Bees and wasps\n\nA hive holds many bees.\n\n- one\n- two\n\nCare\n\na | b |\n1 | 2 |\n\nfn x() {\n    y\n}\n\nraw html",
        &[(1, "Bees and wasps"), (2, "Care")],
    );
}

#[test]
fn loose_items_keep_their_marks() {
    check("a.md", "1. one\n\n   more\n\n2. two", "- one\n\nmore\n\n- two", &[]);
}

#[test]
fn html_is_read_without_what_is_not_its_text() {
    let page = "<!doctype html><title>The &amp; page</title><style>p{}</style><nav>Home<nav>x</nav></nav><h1>Tea</h1>\
                <script>if (a<b) alert('</p>')</script><p>Green  tea\n&eacute;t&eacute;<br>white</p><ul><li>a<li>b</ul>\
                <pre>x\n  y</pre><table><tr><td>1</td><td>2</td></tr></table><svg><text>no</text></svg>end";
    check(
        "a.html",
        page,
        "Tea\n\nGreen tea été\nwhite\n\n- a\n- b\n\nx\n  y\n\n1 | 2 |\n\nend",
        &[(1, "Tea")],
    );
    assert_eq!(read("a.html", page).unwrap().title.as_deref(), Some("The & page"));
}

#[test]
fn a_menu_that_is_never_closed_hides_no_article() {
    check("a.html", "<nav>menu<main>text</main>", "text", &[]);
}

#[test]
fn lines_of_text_stay_lines() {
    check("a.txt", "One\r\ntwo\r\n\r\n\r\n  three\u{1}\n", "One\ntwo\n\n  three", &[]);
}

#[test]
fn a_file_is_what_its_first_bytes_say_then_what_its_name_says() {
    for (media_type, name, bytes, is) in [
        ("text/plain", "a.txt", &b"%PDF-1.4"[..], Kind::Pdf),
        ("application/octet-stream", "README", b"hello", Kind::Unknown),
        ("application/octet-stream", "a.MD", b"", Kind::Markdown),
        ("text/html", "a", b"", Kind::Html),
        ("text/csv", "a.csv", b"", Kind::Text),
        ("image/png", "a.png", b"", Kind::Other),
    ] {
        assert_eq!(kind(media_type, name, bytes), is, "{media_type} {name}");
    }
    for (name, bytes, error) in [
        ("a.bin", &b"\xff\xfe\xfd"[..], Unreadable::Kind),
        ("a.txt", b"PK\x03\x04\0\xff", Unreadable::Binary),
        ("a.txt", b" \n ", Unreadable::Empty),
    ] {
        assert_eq!(
            extract("application/octet-stream", name, bytes, &Limits::default()),
            Err(error),
            "{name}"
        );
    }
}

#[test]
fn too_much_text_is_refused_not_cut() {
    let limits = Limits { text_bytes: 1000, ..Limits::default() };
    let long = "word ".repeat(500);
    for name in ["a.txt", "a.md", "a.html"] {
        assert_eq!(extract("", name, long.as_bytes(), &limits), Err(Unreadable::TooLong(1000)), "{name}");
        assert_eq!(
            extract("", name, long.repeat(9).as_bytes(), &limits),
            Err(Unreadable::TooLong(1000)),
            "{name}"
        );
    }
}

#[test]
fn nesting_costs_nothing() {
    let deep = format!("{}core{}", "<div><b>".repeat(300_000), "</b></div>".repeat(300_000));
    assert_eq!(read("a.html", &deep).unwrap().text, "core");
    let quoted = format!("{} core", ">".repeat(5_000)).repeat(20);
    assert!(read("a.md", &quoted).unwrap().text.contains("core"));
    for open in ["[", "![", "*", "`", "<", "<!--", "- ", "\\(", "| a "] {
        let _ = read("a.md", &open.repeat(20_000));
        let _ = read("a.html", &open.repeat(20_000));
    }
}

#[test]
fn a_tag_of_many_attributes_costs_no_stack() {
    for one in ["a=\"x\" ", "a=\"x\"", "a=\"\" ", "a=\"&amp;>\"/", "a='x' ", "a=x ", "a ", "a=&lt;", "=\"x\""]
    {
        let page = format!("<p {}>text</p {}>", one.repeat(100_000), one.repeat(100_000));
        assert_eq!(read("a.html", &page).unwrap().text, "text", "{one}");
    }
    check("a.html", "<p title=\"a > b\" class=\"\" id=\"x&quot;>y\">text\"</p>", "text\"", &[]);
}

proptest! {
    #[test]
    fn whatever_a_file_holds_it_is_read_or_refused(bytes: Vec<u8>, name in "a\\.(md|html|txt|pdf|x)") {
        let _ = extract("", &name, &bytes, &Limits::default());
    }

    #[test]
    fn headings_and_pages_lie_within_the_text(source in "([#>*`<>/a-z0-9 \\n-]|<h1>|</h1>|<p>|# |ä){0,200}", name in "a\\.(md|html)") {
        if let Ok(extracted) = read(&name, &source) {
            let mut last = 0;
            for heading in &extracted.headings {
                prop_assert!(heading.start >= last && heading.start < heading.end);
                prop_assert!(!extracted.text[heading.start..heading.end].trim().is_empty());
                last = heading.end;
            }
        }
    }
}
