//! Rules on Rust code, over its tokens: comments and strings do not count.

use proc_macro2::{TokenStream, TokenTree};

use super::{File, check};

/// The tokens of a Rust file, with the groups opened.
fn tokens(file: &File) -> Vec<TokenTree> {
    fn open(stream: TokenStream, into: &mut Vec<TokenTree>) {
        for token in stream {
            if let TokenTree::Group(group) = &token {
                open(group.stream(), into);
            } else {
                into.push(token);
            }
        }
    }
    let mut into = Vec::new();
    if file.path.ends_with(".rs") {
        open(file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path)), &mut into);
    }
    into
}

/// The path of a file below `src` of its crate: `arena/stats.rs`.
fn in_crate<'a>(file: &'a File, name: &str) -> Option<&'a str> {
    file.path.strip_prefix("src-tauri/crates/")?.strip_prefix(name)?.strip_prefix("/src/")
}

#[test]
fn unsafe_code_stays_in_the_arena_and_sys_modules() {
    let is_module = |path: &str, name: &str| {
        path.strip_prefix(name).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    };
    let rule = |file: &File| {
        let in_src = file.path.split_once("/src/").map_or("", |(_, path)| path);
        let arena = in_crate(file, "ebb-ort").is_some_and(|path| is_module(path, "arena"));
        if arena || is_module(in_src, "sys") {
            return vec![];
        }
        let is_unsafe = |token: &&TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "unsafe");
        let lines =
            tokens(file).iter().filter(is_unsafe).map(|token| token.span().start().line).collect::<Vec<_>>();
        lines.iter().map(|line| format!("line {line}: `unsafe` outside a `sys` module")).collect()
    };
    let code = "fn f() { unsafe { g() } }";
    check(
        rule,
        &[
            ("src-tauri/crates/ebb-host/src/spawn.rs", code),
            ("src-tauri/crates/ebb-host/src/arena.rs", code),
            ("src-tauri/crates/ebb-ort/src/system.rs", code),
            ("tests/it/x.rs", "unsafe impl Send for X {}"),
        ],
    );
    let comment =
        File { path: "a/src/b.rs".to_owned(), text: "// unsafe\nconst A: &str = \"unsafe\";".to_owned() };
    assert_eq!(rule(&comment), [""; 0], "a word in a comment or a string is not code");
}

#[test]
fn only_the_programs_that_people_read_print() {
    let rule = |file: &File| {
        let in_program = ["ebb-cli", "xtask"].iter().any(|name| in_crate(file, name).is_some());
        if in_program || !file.path.contains("/src/") {
            return vec![];
        }
        let tokens = tokens(file);
        let prints = tokens.windows(2).filter(|pair| {
            let [TokenTree::Ident(name), TokenTree::Punct(mark)] = pair else { return false };
            mark.as_char() == '!'
                && ["print", "println", "eprint", "eprintln", "dbg"].iter().any(|one| name == one)
        });
        prints
            .map(|pair| format!("line {}: {}! (log with tracing)", pair[0].span().start().line, pair[0]))
            .collect()
    };
    check(
        rule,
        &[
            ("src-tauri/crates/ebb-worker/src/main.rs", "fn main() { println!(\"x\") }"),
            ("src-tauri/crates/ebb-host/src/a.rs", "fn f() { if x { eprintln!() } }"),
        ],
    );
}

#[test]
fn a_type_is_named_after_what_it_is() {
    let rule = |file: &File| {
        let tokens = tokens(file);
        let names = tokens.windows(2).filter_map(|pair| {
            let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = pair else { return None };
            ["struct", "enum", "trait", "type"].iter().any(|one| keyword == one).then_some(name)
        });
        let vague = ["Manager", "Helper", "Helpers", "Util", "Utils", "Service"];
        names
            .filter(|name| vague.iter().any(|word| name.to_string().ends_with(word)))
            .map(|name| format!("line {}: `{name}` does not say what it is", name.span().start().line))
            .collect()
    };
    check(
        rule,
        &[("a/src/b.rs", "pub struct ModelManager;"), ("a/src/b.rs", "mod x { trait EmbedHelper {} }")],
    );
}
