//! The life of a host that the CLI starts and ends.

use std::{net::TcpListener, process::Stdio, thread, time::Duration};

use ebb_tests::home::Home;
use serde_json::Value;

use super::with_embedder;

fn pid(status: &Value) -> u64 {
    status["pid"].as_u64().unwrap_or_else(|| panic!("no host: {status}"))
}

/// C20: restart always works and brings models back with their options; so does starting what runs and stopping what
/// does not.
#[test]
fn a_host_starts_restarts_and_stops_again_and_again() {
    let home = with_embedder();
    home.ok(["model", "load", "m", "--threads", "1", "--shrink-every", "7"]);
    let first = home.json(["server", "status"]);
    assert_eq!(pid(&home.json(["server", "start"])), pid(&first));

    for _ in 0..2 {
        let before = home.json(["server", "status"]);
        let after = home.json(["server", "restart"]);
        assert_ne!(pid(&before), pid(&after));
        assert_eq!(before["url"], after["url"]);
    }
    home.ok(["embed", "m", "a text"]);
    let entry = home.json(["model", "info", "m"]);
    assert_eq!(entry["state"], "loaded");
    assert_eq!((&entry["options"]["threads"], &entry["options"]["shrink_every"]), (&1.into(), &7.into()));

    assert_eq!(home.json(["server", "stop"])["running"], false);
    home.ok(["server", "stop"]);
    let output = home.ebb(["server", "status"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no host is running"));
    let restarted = home.json(["service", "restart"]);
    assert_eq!(restarted["running"], true);
    assert!(home.ok(["server", "logs", "-n", "1000"]).contains("m"));
}

#[test]
fn of_two_that_start_a_host_at_once_both_find_the_one() {
    let home = Home::new();
    let pids: Vec<u64> = thread::scope(|scope| {
        let starts: Vec<_> = (0..4).map(|_| scope.spawn(|| pid(&home.json(["server", "start"])))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    // Those that lost must not take the place of the one once it is gone.
    home.ok(["server", "stop"]);
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(home.ebb(["server", "status"]).status.code(), Some(3));
}

#[test]
fn a_port_that_is_taken_is_said() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, error) = home.fails(["server", "start", "--port", &port]);
    assert_eq!(code, 3, "{error}");
    assert!(error.contains(&port) && error.contains("hint: "), "{error}");
    drop(taken);
    let status = home.json(["server", "start", "--port", &port]);
    assert_eq!(status["url"], format!("http://127.0.0.1:{port}"));
}

/// C20: a restart that cannot succeed leaves what runs.
#[test]
fn a_restart_on_a_port_that_is_taken_ends_nothing() {
    let home = Home::new();
    let before = home.json(["server", "start"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, error) = home.fails(["server", "restart", "--port", &port]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains(&port) && error.contains("hint: "), "{error}");
    assert_eq!(pid(&home.json(["server", "status"])), pid(&before));
    // Its own port is taken by itself.
    let own = before["url"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    let after = home.json(["server", "restart", "--port", &own]);
    assert_eq!(after["url"], before["url"]);
    assert_ne!(pid(&after), pid(&before));
}

#[cfg(unix)]
pub(super) fn signal(name: &str, pid: u64) {
    let sent = std::process::Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.unwrap().success());
}

#[cfg(unix)]
#[test]
fn after_a_host_was_killed_the_next_command_starts_another() {
    use std::net::TcpStream;

    let home = with_embedder();
    home.ok(["model", "load", "m"]);
    let status = home.json(["server", "status"]);
    let killed = pid(&status);
    signal("KILL", killed);
    let address = status["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
    while TcpStream::connect(&address).is_ok() {
        thread::yield_now();
    }
    assert_eq!(rows(&home, "a text"), 1);
    assert_ne!(pid(&home.json(["server", "status"])), killed);
    assert_eq!(home.json(["model", "info", "m"])["state"], "loaded");
}

#[cfg(unix)]
fn rows(home: &Home, text: &str) -> usize {
    home.ok(["embed", "m", text]).lines().count()
}

#[cfg(unix)]
#[test]
fn watching_goes_on_until_it_is_interrupted() {
    use std::io::{BufRead as _, BufReader};

    let home = with_embedder();
    home.ok(["model", "load", "m"]);
    let mut child =
        home.command("ebb").args(["model", "stats", "m", "--watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with("at_ms=") && line.contains("cpu:0.reserved_bytes="), "{line}");
    }
    signal("INT", child.id().into());
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_written_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    // A file where the folder should be stops even root, whom permissions do not.
    let home = Home::new();
    std::fs::write(home.path().join("run"), "").unwrap();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let (code, error) = home.fails(["model", "list"]);
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("run") && error.contains("EBB_HOME"), "{error}");
}
