//! A host that runs without a window makes room: it is asked to end, its models come back here, and clients find them at the
//! same port.

use std::{
    fs::File,
    path::Path,
    time::{Duration, Instant},
};

use ebb_client::Client;
use ebb_core::{Code, Endpoint, Failure, Places};
use tokio::time::{sleep, timeout};

/// What the old host gets for requests in flight.
const DRAIN: Duration = Duration::from_secs(10);
/// Ending workers and the process itself takes some more.
const AFTER_DRAIN: Duration = Duration::from_secs(10);
/// A host that does not answer in this time hangs.
const ANSWER: Duration = Duration::from_secs(5);
/// One that is starting soon says where it is; one that is ending soon is gone.
const SETTLE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A host that made room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TookOver {
    /// Where it listened.
    pub(crate) port: Option<u16>,
    /// What to say of it.
    pub(crate) note: String,
}

/// Has the running host, if there is one, end in favour of this process.
///
/// # Errors
/// [`Code::Conflict`] where it does not answer, refuses or does not end.
pub(crate) async fn take_over(places: &Places) -> Result<Option<TookOver>, Failure> {
    if !settled(places).await {
        return Ok(None);
    }
    let client = match Client::connect_in(places) {
        Ok(client) => client,
        Err(ebb_client::Error::NotRunning { .. }) => return Ok(None),
        Err(error) => return Err(stuck(None, &error.failure().message)),
    };
    let endpoint = client.endpoint().clone();
    tracing::info!(url = endpoint.url, pid = endpoint.pid, "asking the running host to make room");
    let drain_ms = u64::try_from(DRAIN.as_millis()).unwrap_or(u64::MAX);
    let status = match timeout(ANSWER, client.shutdown(Some(drain_ms))).await {
        Ok(Ok(status)) => status,
        // It ended in this moment.
        Ok(Err(_)) if !held(&places.lock_file()) => return Ok(None),
        Ok(Err(error)) => return Err(stuck(Some(&endpoint), &error.failure().message)),
        Err(_) => return Err(stuck(Some(&endpoint), "it does not answer")),
    };
    if !freed(&places.lock_file(), DRAIN + AFTER_DRAIN).await {
        return Err(stuck(Some(&endpoint), "it was asked to end and has not"));
    }
    let mut models = status.models;
    models.extend(status.coming_back);
    Ok(Some(TookOver { port: port_of(&endpoint), note: note(&endpoint, &models) }))
}

/// Whether a host runs, once it is clear.
async fn settled(places: &Places) -> bool {
    let begun = Instant::now();
    loop {
        if !held(&places.lock_file()) {
            return false;
        }
        if places.endpoint_file().exists() || begun.elapsed() > SETTLE {
            return true;
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Waits until the process that held the lock is gone.
async fn freed(lock_file: &Path, within: Duration) -> bool {
    let begun = Instant::now();
    while held(lock_file) {
        if begun.elapsed() > within {
            return false;
        }
        sleep(LOOK_EVERY).await;
    }
    true
}

/// Whether a host holds the lock: from before it says where it listens until its process is gone.
fn held(lock_file: &Path) -> bool {
    // Shared, so that two who look do not take each other for a host.
    File::open(lock_file).is_ok_and(|file| file.try_lock_shared().is_err())
}

fn port_of(endpoint: &Endpoint) -> Option<u16> {
    endpoint.url.rsplit(':').next()?.trim_end_matches('/').parse().ok()
}

fn note(endpoint: &Endpoint, models: &[String]) -> String {
    let began = format!("A host was running without a window (process {})", endpoint.pid);
    match models {
        [] => format!("{began}. This app has taken over from it."),
        [model] => format!("{began}. This app has taken over from it and loads {model} again."),
        [first @ .., last] => {
            let first = first.join(", ");
            format!("{began}. This app has taken over from it and loads {first} and {last} again.")
        }
    }
}

fn stuck(endpoint: Option<&Endpoint>, why: &str) -> Failure {
    let whose = match endpoint {
        Some(Endpoint { url, pid, version, .. }) => {
            format!("the host that runs already at {url} (process {pid}, Ebb {version}) does not make room")
        }
        None => "the host that runs already does not make room".to_owned(),
    };
    Failure::new(Code::Conflict, format!("{whose}: {why}"))
        .hint("end it with `ebb server stop`, then open the app again")
}

#[cfg(test)]
mod tests {
    use std::{fs, net::TcpListener};

    use super::*;

    fn places(folder: &Path) -> Places {
        Places { home: folder.join("home"), cache: folder.join("cache") }
    }

    /// A file that is locked as a host's, and an endpoint file that names `url`.
    fn host(places: &Places, url: &str) -> File {
        fs::create_dir_all(places.lock_file().parent().unwrap()).unwrap();
        let file = File::create(places.lock_file()).unwrap();
        file.lock().unwrap();
        let endpoint = Endpoint { url: url.into(), pid: 7, token: "secret".into(), version: "0.0.9".into() };
        fs::write(places.endpoint_file(), serde_json::to_vec(&endpoint).unwrap()).unwrap();
        file
    }

    #[tokio::test]
    async fn where_none_runs_there_is_nothing_to_take_over() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        assert_eq!(take_over(&places).await.unwrap(), None);
        let lock = host(&places, "http://127.0.0.1:1");
        drop(lock);
        assert_eq!(take_over(&places).await.unwrap(), None, "what a killed host left");
    }

    #[tokio::test]
    async fn a_host_that_cannot_be_reached_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let _lock = host(&places, &format!("http://127.0.0.1:{port}"));
        let failure = take_over(&places).await.unwrap_err();
        assert_eq!(failure.code, Code::Conflict);
        assert!(failure.message.contains(&format!("127.0.0.1:{port} (process 7, Ebb 0.0.9)")), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
        assert!(failure.hint.unwrap().contains("ebb server stop"));
    }

    #[tokio::test]
    async fn what_is_no_host_is_left_alone() {
        use tokio::io::AsyncWriteExt as _;
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _lock = host(&places, &format!("http://{}", listener.local_addr().unwrap()));
        let answering = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"SSH-2.0-something\r\n").await.unwrap();
        };
        let (failure, ()) = tokio::join!(take_over(&places), answering);
        assert_eq!(failure.unwrap_err().code, Code::Conflict);
    }

    #[test]
    fn the_note_names_the_models() {
        let endpoint = Endpoint {
            url: "http://127.0.0.1:4771".into(),
            pid: 7,
            token: String::new(),
            version: "0.1.0".into(),
        };
        assert_eq!(port_of(&endpoint), Some(4771));
        let note =
            |models: &[&str]| note(&endpoint, &models.iter().map(|&one| one.into()).collect::<Vec<_>>());
        assert!(note(&[]).ends_with("This app has taken over from it."));
        assert!(note(&["a"]).ends_with("loads a again."));
        assert!(note(&["a", "b", "c"]).ends_with("loads a, b and c again."));
    }
}
