//! `ebb chat` and `ebb complete`, on a fake model that says the last message again, a word a step.

use ebb_tests::home::Home;
use serde_json::{Value, json};

use super::{err, file, out, with_stdin};

fn home() -> Home {
    Home::with_fakes(["chat"])
}

#[test]
fn one_question_gets_one_answer() {
    let home = home();
    let output = home.ebb(["chat", "chat", "give it back"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(out(&output), "give it back\n");
    let figures = err(&output);
    assert!(figures.starts_with("prompt 3 tokens, answer 3 tokens, first after "), "{figures}");

    for args in
        [&["chat", "chat"][..], &["chat", "chat", "-"], &["complete", "chat"], &["complete", "chat", "-"]]
    {
        let output = with_stdin(&home, args, "größer,\n模型\n".as_bytes());
        assert_eq!(out(&output), "größer,\n模型\n", "{args:?}");
    }

    let answer = home.json(["chat", "chat", "one two three", "--max-tokens", "2", "--shrink-after"]);
    assert_eq!(answer["text"], "one two ");
    assert_eq!(answer["figures"]["completion_tokens"], 2);
    assert_eq!(answer["figures"]["finish_reason"], "length");
    assert_eq!(home.ok(["complete", "chat", "as it is"]), "as it is\n");
    // By its folder: nothing of it stays in the catalogue.
    let folder = home.path().join("models").join("chat two");
    std::fs::create_dir_all(&folder).unwrap();
    let typed = ["chat".as_ref(), folder.as_os_str(), "hello".as_ref()];
    assert_eq!(home.ok(typed), "hello\n");
    assert_eq!(home.json(["model", "list"])["models"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_wrong_is_said_before_a_model_is_asked() {
    let home = home();
    let broken = file(&home, "broken.json", b"{");
    for (args, code, said) in [
        (vec!["chat", "chat", "x", "--json-schema", broken.to_str().unwrap()], 1, "is no JSON"),
        (vec!["chat", "chat", "x", "--json-schema", "nowhere.json"], 1, "nowhere.json"),
        (vec!["chat", "chat", "x", "--json-schema", "{}", "--regex", "a"], 2, "cannot be used with"),
        (vec!["chat", "chat", "x", "--timeout", "0"], 2, "above 0"),
        (vec!["chat", "nope", "x"], 1, "nope"),
    ] {
        let (got, error) = home.fails(&args);
        assert_eq!(got, code, "{args:?}: {error}");
        assert!(error.starts_with("error: ") && error.contains(said), "{args:?}: {error}");
    }
    for (args, typed) in [(&["chat", "chat"][..], "\n"), (&["chat", "chat", " "], "")] {
        let output = with_stdin(&home, args, typed.as_bytes());
        assert!(err(&output).contains("the question is empty"), "{args:?}: {output:?}");
    }
    let output = with_stdin(&home, &["complete", "chat"], b"na\xefve");
    assert!(err(&output).contains("stdin is not valid UTF-8, from byte 3 on"), "{output:?}");
    // What fails in the middle keeps what came before it.
    let output = home.ebb(["chat", "chat", "this will fail now"]);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), "this will \n"));
    assert!(err(&output).contains("told to fail"), "{output:?}");
}

#[test]
fn a_conversation_remembers_what_was_said() {
    let home = home();
    let saved = home.path().join("saved chat.json");
    let lines = format!(
        "one\n\n/system be brief\ntwo \\\nlines\n/save {}\n/stats\n/shrink\n/nonsense\n /said as it is\n/exit\nnot said\n",
        saved.display()
    );
    let output =
        with_stdin(&home, &["chat", "chat", "--interactive", "--system", "be kind"], lines.as_bytes());
    assert!(output.status.success(), "{output:?}");
    let text = out(&output);
    assert!(text.starts_with("one\ntwo \nlines\n"), "{text}");
    assert!(text.contains("cpu:0") && text.contains("gave back"), "{text}");
    assert!(text.ends_with("/said as it is\n"), "{text}");
    let said = err(&output);
    assert!(said.contains("5 messages written to"), "{said}");
    assert!(said.contains("'/nonsense' is no command"), "{said}");
    let messages: Value = serde_json::from_slice(&std::fs::read(saved).unwrap()).unwrap();
    assert_eq!(
        messages,
        json!([
            { "role": "system", "content": "be brief" },
            { "role": "user", "content": "one" },
            { "role": "assistant", "content": "one" },
            { "role": "user", "content": "two \nlines" },
            { "role": "assistant", "content": "two \nlines" },
        ])
    );
}

#[test]
fn a_conversation_in_json_is_a_line_for_each_answer() {
    let home = home();
    let output =
        with_stdin(&home, &["--json", "chat", "chat", "-i"], b"one\n/clear\ntwo words\nfail\nnot said\n");
    assert_eq!(output.status.code(), Some(1), "where nobody types, an error ends it");
    let answers: Vec<Value> = out(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<_> = answers.iter().map(|answer| &answer["text"]).collect();
    assert_eq!(texts, ["one", "two words"]);
    let error: Value = serde_json::from_str(&err(&output)).unwrap();
    assert_eq!(error["error"]["code"], "internal");
}

/// The fake takes long for a long text: each word takes longer the more there are.
#[cfg(unix)]
#[test]
fn an_answer_can_be_stopped() {
    use std::{
        io::{Read as _, Write as _},
        process::Stdio,
    };

    let home = home();
    home.ok(["model", "load", "chat"]);
    let mut command = home.command("ebb");
    command.args(["chat", "chat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all("word ".repeat(100_000).as_bytes()).unwrap();
    let mut first = [0; 5];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"word ");
    super::hosts::signal("INT", child.id().into());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Its place is free again.
    assert_eq!(home.ok(["chat", "chat", "next"]), "next\n");
}

/// A person at a terminal, played by the program `script`.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_lines_are_edited_and_remembered() {
    use std::{
        io::{BufReader, Read as _, Write as _},
        process::{Command, Stdio},
    };

    let home = home();
    let ebb = home.command("ebb");
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", "exec \"$EBB\" chat chat", "/dev/null"]);
    for (key, value) in ebb.get_envs().filter_map(|(key, value)| Some((key, value?))) {
        terminal.env(key, value);
    }
    terminal.env("EBB", ebb.get_program()).env("TERM", "xterm").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = terminal.spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    let mut until = |wanted: &str| {
        let mut seen = Vec::new();
        while !seen.ends_with(wanted.as_bytes()) {
            let mut byte = [0];
            let read = shown.read_exact(&mut byte);
            assert!(read.is_ok(), "it ended before '{wanted}': {}", String::from_utf8_lossy(&seen));
            seen.extend(byte);
        }
    };
    // Once the prompt is there, keys are the editor's.
    until("> ");
    // The left arrow, then the letter that was missing.
    typed.write_all(b"helo\x1b[Dl\r").unwrap();
    until("answer 1 token");
    until("> ");
    // A long answer, in the middle of which Ctrl-C stops it, and not the conversation. The line is pasted; written by a
    // thread, since the terminal takes it only as fast as what it shows is read.
    let pasted = format!("\x1b[200~{}\x1b[201~\r", "word ".repeat(20_000));
    let writing = std::thread::spawn(move || typed.write_all(pasted.as_bytes()).map(|()| typed));
    // The editor has given the terminal back: what follows is the answer.
    until("\x1b[?2004l");
    until("word word word");
    let mut typed = writing.join().unwrap().unwrap();
    typed.write_all(b"\x03").unwrap();
    until("stopped");
    until("> ");
    typed.write_all(b"still here\r").unwrap();
    until("answer 2 tokens");
    until("> ");
    typed.write_all(b"\x03").unwrap();
    until("Ctrl-C once more");
    until("> ");
    typed.write_all(b"\x03").unwrap();
    assert!(child.wait().unwrap().success());
    let history = std::fs::read_to_string(home.path().join("chat-history")).unwrap();
    assert!(history.lines().any(|line| line == "hello"), "{history}");
}
