//! From the click on "Shrink now" to figures on screen, against the shrink's own time.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{User, median};

const TIMES: usize = 10;
/// A page that nothing happens on asks once a second.
const QUIET: Duration = Duration::from_secs(2);
const TEXTS: usize = 48;

pub(super) async fn print(user: &User) {
    let desk = user.opens().await;
    user.home.ok(["model", "load", "minilm", "--shrink-every", "0"]);
    desk.run("location.hash = '#/memory/minilm';", vec![]).await;
    let work =
        json!({ "texts": vec!["The tide goes out, and it comes in again. ".repeat(20); TEXTS] }).to_string();
    let (mut own_ms, mut report_ms, mut figures_ms) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let (status, answer) = desk.send("POST", "/ebb/v1/models/minilm/embed", &work).await;
        assert_eq!(status, 200, "{answer}");
        sleep(QUIET).await;
        let clicked = desk.run(CLICK, vec![]).await;
        let ms = |of: &str| clicked[of].as_f64().unwrap_or_else(|| panic!("{clicked}"));
        own_ms.push(ms("own"));
        report_ms.push(ms("report") - ms("own"));
        figures_ms.push(ms("figures") - ms("own"));
    }
    println!(
        "\"Shrink now\": its report is on screen {:.0} ms, all figures {:.0} ms after the click at the median of {TIMES}, \
        besides the shrink's own {:.0} ms   (at most 100)",
        median(&report_ms),
        median(&figures_ms),
        median(&own_ms),
    );
    desk.quits().await;
}

/// Clicks, and says in milliseconds when the report and the figures had changed in a frame that was drawn, and what the shrink
/// itself took, as its event tells.
const CLICK: &str = "
    const head = await invoke('send', new Uint8Array(), {
        headers: { 'ebb-method': 'GET', 'ebb-path': '/ebb/v1/events', 'ebb-content-type': '' },
    });
    const shrunk = (async () => {
        let text = '';
        for (;;) {
            const piece = await invoke('read', { body: head.body });
            if (piece.byteLength === 0) throw new Error('the events ended');
            text += new TextDecoder().decode(piece);
            const line = text.split('\\n').find((line) => line.includes('\"event\":\"shrink\"') && line.endsWith('}'));
            if (line) return JSON.parse(line.slice(line.indexOf('{'))).report;
        }
    })();
    const found = (selector) => {
        const element = document.querySelector(selector);
        if (element === null) throw new Error(`the page has no ${selector}`);
        return element;
    };
    const said = (selector) => found(selector).textContent;
    const [told, cards] = ['main .actions [role=status]', 'main section > dl'];
    const before = { told: said(told), cards: said(cards) };
    const frame = () => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    const changed = async (selector, from) => {
        while (said(selector) === from) await new Promise((next) => requestAnimationFrame(next));
        await frame();
        return performance.now();
    };
    const clicked = performance.now();
    found('main .actions button.primary').click();
    const [report, figures] = await Promise.all([changed(told, before.told), changed(cards, before.cards)]);
    const { took_us, trim_us } = await shrunk;
    await invoke('close', { body: head.body });
    return { report: report - clicked, figures: figures - clicked, own: (took_us + trim_us) / 1000 };";
