//! What it costs to watch two models that work.

use std::time::Duration;

use fantoccini::Locator;
use tokio::time::sleep;

use super::{User, add, processes};

const MODELS: [&str; 2] = ["minilm", "another"];
/// Between two requests of both.
const PAUSE: Duration = Duration::from_secs(1);
const SETTLED: Duration = Duration::from_secs(5);
const MEASURED: Duration = Duration::from_secs(30);

pub(super) async fn print(user: &User) {
    let desk = user.opens().await;
    let home = &user.home;
    add(user, MODELS[1]);
    for model in MODELS {
        home.ok(["model", "load", model]);
    }
    // Where there are several, their sum is drawn, from the figures of each.
    desk.run("location.hash = '#/memory';", vec![]).await;
    desk.page.wait().for_element(Locator::Css("main canvas")).await.expect("a chart");
    let work = async {
        loop {
            for model in MODELS {
                home.ok(["embed", model, "The tide goes out."]);
            }
            sleep(PAUSE).await;
        }
    };
    let measured = async {
        sleep(SETTLED).await;
        let processes = processes::of(home.path());
        let cpu = processes::cpu_percent(&processes, MEASURED).await;
        (processes, cpu)
    };
    let (processes, cpu) = tokio::select! {
        measured = measured => measured,
        () = work => unreachable!("work goes on"),
    };
    let of_models = |name: &str| name == "ebb-worker";
    let watching = processes.iter().zip(&cpu).filter(|(process, _)| !of_models(&process.name));
    println!(
        "two models that work, watched: {:.1} % of a core over {} s, without the workers: {}   (under 10)",
        watching.map(|(_, cpu)| cpu).sum::<f64>(),
        MEASURED.as_secs(),
        processes::named(&processes, &cpu, 1)
    );
    for model in MODELS {
        home.ok(["model", "unload", model]);
    }
    desk.quits().await;
}
