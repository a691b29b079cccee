//! What an open window costs while no model is in memory and nobody does anything.

use std::time::Duration;

use tokio::time::sleep;

use super::{User, processes};

/// What a start leaves to be done is done by then.
const SETTLED: Duration = Duration::from_secs(15);
const MEASURED: Duration = Duration::from_secs(30);

pub(super) async fn print(user: &User) {
    let desk = user.opens().await;
    sleep(SETTLED).await;
    let processes = processes::of(user.home.path());
    let pss_mib: Vec<f64> = processes.iter().map(processes::Process::pss_mib).collect();
    println!(
        "idle, no model: {:.0} MiB PSS: {}   (at most 280)",
        pss_mib.iter().sum::<f64>(),
        processes::named(&processes, &pss_mib, 0)
    );
    let cpu = processes::cpu_percent(&processes, MEASURED).await;
    println!(
        "idle, no model: {:.2} % of a core over {} s: {}   (under 1)",
        cpu.iter().sum::<f64>(),
        MEASURED.as_secs(),
        processes::named(&processes, &cpu, 2)
    );
    desk.quits().await;
}
