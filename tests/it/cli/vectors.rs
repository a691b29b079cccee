//! Texts in, vectors out; tensors in, tensors out.

use std::{ffi::OsStr, path::Path};

use ebb_tests::{home::Home, models};
use serde_json::{Value, json};

use super::{file, with_embedder, with_stdin};

/// Rows of a little-endian float32 matrix, read without the code that wrote it.
fn matrix(path: &Path) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let data = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..data]).unwrap();
    assert!(header.contains("'descr': '<f4'") && header.ends_with('\n'), "{header}");
    let shape = header.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    let dims: Vec<usize> = shape.split(", ").map(|dim| dim.parse().unwrap()).collect();
    let values: Vec<f32> =
        bytes[data..].chunks_exact(4).map(|float| f32::from_le_bytes(float.try_into().unwrap())).collect();
    assert_eq!(values.len(), dims[0] * dims[1]);
    values.chunks(dims[1]).map(<[f32]>::to_vec).collect()
}

fn rows(lines: &str) -> Vec<Vec<f32>> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn vectors_are_the_same_in_every_form() {
    let home = with_embedder();
    let texts = ["one text", "", "größer, 模型", "tab\tand more"];
    let lines = rows(&home.ok(["embed", "m"].iter().chain(&texts)));
    assert_eq!(lines.len(), 4);

    let more = ["--shrink-after", "--timeout", "5m", "--keep-alive", "-1"];
    let json = home.json(["embed", "m"].iter().chain(&more).chain(&texts));
    let vectors: Vec<Vec<f32>> = serde_json::from_value(json["vectors"].clone()).unwrap();
    assert_eq!(vectors, lines);
    assert_eq!(json["figures"]["texts"], 4);

    let listed = file(&home, "text list.txt", (texts.join("\r\n") + "\n").as_bytes());
    let out = home.path().join("vektoren für mich.npy");
    let args = ["embed", "m", "--file"].map(OsStr::new).into_iter();
    home.ok(args.chain([listed.as_os_str(), "--out".as_ref(), out.as_os_str()]));
    assert_eq!(matrix(&out), lines);

    for args in [&["embed", "m", "--file", "-"][..], &["embed", "m", "-"], &["embed", "m"]] {
        let output = with_stdin(&home, args, texts.join("\n").as_bytes());
        assert_eq!(rows(&String::from_utf8(output.stdout).unwrap()), lines);
        let summary = String::from_utf8(output.stderr).unwrap();
        assert!(summary.starts_with("4 texts, "), "{args:?}: {summary}");
    }
}

#[test]
fn texts_that_are_odd_are_embedded_or_named() {
    let home = with_embedder();
    let output = with_stdin(&home, &["embed", "m", "--file", "-"], b"a\0b\nfine\n");
    assert_eq!(rows(&String::from_utf8(output.stdout).unwrap()).len(), 2);

    let output = with_stdin(&home, &["embed", "m", "--file", "-"], b"fine\nna\xefve\n");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("line 2") && error.contains("UTF-8") && error.contains("hint: "), "{error}");

    let output = with_stdin(&home, &["embed", "m", "--file", "-"], b"");
    assert!(String::from_utf8(output.stderr).unwrap().contains("no texts"));

    let long = "x".repeat(1 << 20);
    let output = with_stdin(&home, &["embed", "m", "--file", "-"], long.as_bytes());
    assert!(String::from_utf8(output.stderr).unwrap().contains("text 1 has"), "it is cut, and that is said");
}

/// C17, in small: more texts than fit into one batch.
#[test]
fn ten_thousand_texts_are_one_request() {
    let home = with_embedder();
    let texts: String = (0..10_000).map(|number| format!("text {number}\n")).collect();
    let listed = file(&home, "many.txt", texts.as_bytes());
    let out = home.path().join("many.npy");
    let args = ["embed", "m", "--file"].map(OsStr::new).into_iter();
    home.ok(args.chain([listed.as_os_str(), "--out".as_ref(), out.as_os_str()]));
    assert_eq!(matrix(&out).len(), 10_000);
    assert_eq!(home.json(["model", "stats", "m"])["now"]["runs"], 1);
}

#[test]
fn a_file_that_cannot_be_written_or_read_is_named_and_nothing_is_left() {
    let home = with_embedder();
    for args in [
        ["embed", "m", "--file", "/nowhere/texts.txt"].as_slice(),
        &["embed", "m", "a", "--out", "/nowhere/vectors.npy"],
    ] {
        let (code, error) = home.fails(args);
        assert_eq!(code, 1);
        assert!(error.contains("/nowhere/"), "{error}");
    }
    let folder = home.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    let out = folder.join("v.npy");
    let args = ["embed", "nope", "a", "--out"].map(OsStr::new).into_iter();
    home.fails(args.chain([out.as_os_str()]));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_bare_model_runs_on_files_and_on_json() {
    let home = Home::new();
    let model = models::identity(&home.path().join("bare models"));
    let model = model.to_str().unwrap();
    let inputs = [
        "float32=[[0.5, -1]]",
        "float64=[[0.1, 1e300]]",
        "float16=[[1, 2]]",
        "bfloat16=[[1, 2]]",
        "int8=[[-128, 127]]",
        "int16=[[1, 2]]",
        "int32=[[1, 2]]",
        "int64=[[-9223372036854775808, 9223372036854775807]]",
        "uint8=[[0, 255]]",
        "uint16=[[1, 2]]",
        "uint32=[[1, 2]]",
        "uint64=[[0, 18446744073709551615]]",
        "bool=[[true, false]]",
    ];
    let given: Vec<&str> = inputs.iter().flat_map(|input| ["--input", input]).collect();
    let printed = home.ok([&["run", model][..], &given].concat());
    let outputs: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(outputs["int64_out"], json!([[i64::MIN, i64::MAX]]));
    assert_eq!(outputs["uint64_out"], json!([[0, u64::MAX]]));
    assert_eq!(outputs["float64_out"], json!([[0.1, 1e300]]));
    assert_eq!(outputs["bool_out"], json!([[true, false]]));

    // What was written goes in again, and comes out the same.
    let first = home.path().join("first");
    home.ok([&["run", model, "--out", first.to_str().unwrap()][..], &given].concat());
    let files: Vec<String> = inputs
        .iter()
        .map(|input| input.split_once('=').unwrap().0)
        .map(|name| format!("{name}={}", first.join(format!("{name}_out.npy")).display()))
        .collect();
    let again: Vec<&str> = files.iter().flat_map(|input| ["--input", input.as_str()]).collect();
    assert_eq!(home.ok([&["run", model][..], &again].concat()), printed);

    let listed = home.json(["model", "list"]);
    assert_eq!(listed["models"], json!([]), "a path is taken in for one call alone");
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let home = Home::new();
    let model = models::mlp(&home.path().join("mlp"), 4, 1);
    let model = model.to_str().unwrap();
    let broken = file(&home, "broken.npy", b"\x93NUMPY\x01\x00");
    let broken = format!("X={}", broken.display());
    for (input, want) in [
        ("Z=[[1, 2, 3, 4]]", "'Z'"),
        ("X=[[1, 2], [3]]", "different lengths"),
        ("X=missing.npy", "missing.npy"),
        ("X=neither", "neither"),
        (&broken, "header is cut off"),
    ] {
        let (code, error) = home.fails(["run", model, "--input", input]);
        assert_eq!(code, 1, "{input}: {error}");
        assert!(error.contains(want), "{input}: {error}");
    }
    let outputs: Value =
        serde_json::from_str(&home.ok(["run", model, "--input", "X=[[1, 2, 3, 4]]"])).unwrap();
    assert_eq!(outputs["Y"].as_array().unwrap().len(), 1);
}
