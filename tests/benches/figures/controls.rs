//! What looking and shrinking cost.

use std::time::Instant;

use ebb_core::{LoadOptions, Session};
use ebb_tests::home::Home;

use crate::{THREADS, inprocess, paired};

const TIMES: usize = 500;

pub(crate) fn print() {
    let mut session = inprocess::open(LoadOptions { threads: Some(THREADS), ..LoadOptions::default() });
    inprocess::embed_us(&mut session, &["warm up".to_owned()]);
    let control = session.control();
    let sample_us: Vec<f64> = (0..TIMES).map(|_| timed_us(|| drop(control.memory()))).collect();
    println!("a sample: {:.1} us at the median   (at most 30)", paired::median(&sample_us));

    let mut shrink_us = Vec::new();
    for _ in 0..TIMES {
        let report = control.shrink(None).expect("it shrinks");
        if report.freed_bytes == 0 {
            shrink_us.push(report.took_us as f64);
        }
    }
    println!(
        "an idle shrink: {:.1} us at the median, heap trimming apart   (at most 50)",
        paired::median(&shrink_us)
    );
    drop(session);
    command_line();
}

/// The whole program, from start to exit, against a host that runs.
fn command_line() {
    let home = Home::new();
    let model = ebb_tests::home::real_model("minilm");
    home.ok(["model".as_ref(), "add".as_ref(), model.as_os_str(), "--alias".as_ref(), "minilm".as_ref()]);
    home.ok(["model", "load", "minilm"]);
    let stats_ms: Vec<f64> =
        (0..40).map(|_| timed_us(|| drop(home.ok(["model", "stats", "minilm"]))) / 1000.0).collect();
    println!("`ebb model stats`: {:.1} ms at the median   (under 30)", paired::median(&stats_ms));
}

fn timed_us(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64() * 1e6
}
