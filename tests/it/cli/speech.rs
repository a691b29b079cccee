//! `ebb transcribe`, on a fake model that hears "part N" in each KiB, a second each.

use std::path::PathBuf;

use ebb_tests::home::Home;
use serde_json::{Value, json};

use super::{err, file, out, with_stdin};

fn home() -> (Home, PathBuf) {
    let home = Home::with_fakes(["speech"]);
    let audio = file(&home, "two seconds für mich.wav", &[0; 2_000]);
    (home, audio)
}

fn transcribe(home: &Home, audio: &std::path::Path, more: &[&str]) -> std::process::Output {
    let mut command = home.command("ebb");
    command.args(["transcribe", "speech"]).arg(audio).args(more);
    command.output().unwrap()
}

#[test]
fn what_is_said_is_written_in_each_format() {
    let (home, audio) = home();
    let output = transcribe(&home, &audio, &[]);
    assert_eq!(out(&output), "part 0\npart 1\n");
    assert!(err(&output).starts_with("2.0 s of audio, "), "{output:?}");
    let output = with_stdin(&home, &["transcribe", "speech", "-"], &[0; 1_024]);
    assert_eq!(out(&output), "part 0\n");

    let written = |format: &str| out(&transcribe(&home, &audio, &["--format", format]));
    assert_eq!(written("text"), "part 0\npart 1\n");
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(json(&written("json")), json!({ "text": "part 0 part 1" }));
    let verbose = json(&written("verbose-json"));
    assert_eq!(verbose["segments"][1]["start"], 1.0);
    assert!(written("srt").starts_with("1\n00:00:00,000 --> 00:00:01,000\npart 0\n\n2\n"));
    assert!(written("vtt").starts_with("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\npart 0\n\n"));
}

#[test]
fn as_json_it_is_the_answer_or_its_parts() {
    let (home, audio) = home();
    let answer: Value = serde_json::from_str(&out(&transcribe(&home, &audio, &["--json"]))).unwrap();
    assert_eq!((&answer["text"], &answer["figures"]["segments"]), (&json!("part 0 part 1"), &json!(2)));
    let parts = out(&transcribe(&home, &audio, &["--json", "--partial"]));
    let parts: Vec<Value> = parts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(parts.len(), 3, "{parts:?}");
    assert_eq!(parts[1]["segment"]["start_ms"], 1_000);
    assert_eq!(parts[2]["figures"]["audio_ms"], 2_000);
}

#[test]
fn a_recording_that_is_none_is_said() {
    let (home, _) = home();
    let empty = file(&home, "empty.wav", b"");
    for (audio, said) in [(empty, "is empty"), (home.path().join("nowhere.wav"), "cannot read")] {
        let output = transcribe(&home, &audio, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).contains(said), "{output:?}");
    }
    let output = with_stdin(&home, &["transcribe", "speech", "-"], b"");
    assert!(err(&output).contains("stdin is empty"), "{output:?}");
}
