//! From the start of the process to the first paint, and to a page that does what is clicked.

use serde_json::Value;

use super::{Desk, User, add, median, processes};

const STARTS: usize = 8;

/// Where the page was painted and ready, in milliseconds after the process began.
struct Times {
    paint_ms: f64,
    interactive_ms: f64,
}

/// Says how long starts take: the first one in a new home, then with a model in the list; the files that the page loads at one.
pub(super) async fn print(user: &User) -> Vec<String> {
    let (first, _) = once(user).await;
    add(user, "minilm");
    user.home.ok(["server", "stop"]);
    let (mut times, mut loaded) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let (again, files) = once(user).await;
        times.push(again);
        loaded = files;
    }
    said("first paint", &first, &times, |times| times.paint_ms, 900);
    said("interactive", &first, &times, |times| times.interactive_ms, 1200);
    loaded
}

fn said(what: &str, first: &Times, times: &[Times], of: impl Fn(&Times) -> f64, aim_ms: u32) {
    let times_ms: Vec<f64> = times.iter().map(&of).collect();
    println!(
        "{what}: {:.0} ms after the start at the median of {STARTS}, {:.0} at worst, {:.0} in a new home   (at most {aim_ms})",
        median(&times_ms),
        times_ms.iter().copied().fold(0.0, f64::max),
        of(first),
    );
}

async fn once(user: &User) -> (Times, Vec<String>) {
    let desk = user.opens().await;
    let seen = seen(&desk).await;
    let pid = user.host().await["pid"].as_u64().expect("a process");
    let began_ms = processes::began_ms(pid);
    desk.quits().await;
    let after_ms = |of: &str| seen[of].as_f64().expect("a time") - began_ms;
    let files = seen["loaded"].as_array().expect("names").iter().filter_map(Value::as_str);
    let times = Times { paint_ms: after_ms("paint"), interactive_ms: after_ms("interactive") };
    (times, files.map(str::to_owned).collect())
}

/// When the page was painted and ready, in milliseconds since 1970, and what it had loaded by then.
async fn seen(desk: &Desk<'_>) -> Value {
    let script = "
        while (performance.getEntriesByName('interactive').length === 0) await new Promise((next) => setTimeout(next, 20));
        const [paint] = performance.getEntriesByName('first-contentful-paint');
        const [interactive] = performance.getEntriesByName('interactive');
        return {
            paint: performance.timeOrigin + paint.startTime,
            interactive: performance.timeOrigin + interactive.startTime,
            // The page names in its head what it fetches, but for scripts that need no other.
            loaded: [...document.querySelectorAll('script[src], link[href]')].map(({ src, href }) => src ?? href),
        };";
    let seen = desk.run(script, vec![]).await;
    assert!(seen["thrown"].is_null(), "{seen}");
    seen
}
