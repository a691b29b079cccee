use ebb_core::operations::LogLevel;
use tracing_subscriber::layer::SubscriberExt as _;

use super::*;

/// Other tests of this process may log too; only this thread's lines are kept, and told apart by their model.
fn lines_of(model: &str) -> Vec<HostLogLine> {
    RING.last(usize::MAX).into_iter().filter(|line| line.model.as_deref() == Some(model)).collect()
}

fn kept(log: impl FnOnce()) {
    tracing::subscriber::with_default(tracing_subscriber::registry().with(keep_log()), log);
}

#[test]
fn a_line_keeps_its_fields_and_those_of_the_request_that_it_happened_in() {
    kept(|| {
        let span = tracing::info_span!("request", id = 7_u64, path = "/x", late = tracing::field::Empty);
        span.record("late", true);
        let _in_it = span.enter();
        tracing::warn!(model = "log-a", freed_bytes = 12_u64, ratio = f64::NAN, path = %"/y", "shrunk {}", 1);
        tracing::debug!(model = "log-a", "not kept");
    });
    let [line] = lines_of("log-a").try_into().unwrap();
    assert_eq!((line.level, line.message.as_str()), (LogLevel::Warn, "shrunk 1"));
    assert_eq!(line.target, "ebb_api::log::tests");
    assert!(line.time_ms > 1_600_000_000_000);
    let fields: Vec<(&str, String)> =
        line.fields.iter().map(|(name, value)| (name.as_str(), value.0.to_string())).collect();
    let expected = [
        ("freed_bytes", "12".to_owned()),
        ("id", "7".to_owned()),
        ("late", "true".to_owned()),
        ("path", "\"/y\"".to_owned()),
        ("ratio", "\"NaN\"".to_owned()),
    ];
    assert_eq!(fields, expected);
}

#[test]
fn what_is_long_is_cut_between_letters() {
    let long = "é".repeat(5_000);
    kept(|| tracing::info!(model = "log-b", long, "{long}"));
    let [line] = lines_of("log-b").try_into().unwrap();
    assert_eq!(line.message, "é".repeat(1_024));
    assert_eq!(line.fields["long"].0.as_str().map(str::len), Some(2_048));
}

#[tokio::test]
async fn who_follows_gets_the_last_lines_and_each_that_comes_once() {
    kept(|| tracing::info!(model = "log-c", "before"));
    let (before, mut coming) = RING.last_and_coming(usize::MAX);
    let last = before.iter().rev().find(|line| line.model.as_deref() == Some("log-c")).unwrap();
    assert_eq!(last.message, "before");
    kept(|| tracing::info!(model = "log-c", "after"));
    let line = loop {
        let line = coming.recv().await.unwrap();
        assert!(line.seq > before.last().unwrap().seq);
        if line.model.as_deref() == Some("log-c") {
            break line;
        }
    };
    assert_eq!(line.message, "after");
}
