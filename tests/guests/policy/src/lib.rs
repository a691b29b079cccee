//! A policy that misbehaves in the way that its model is called.

mod sys;

use std::hint::black_box;

use ebb_plugin_sdk::{Decision, Idle, RunReport, ShrinkPolicy, export_policy, info, memory};

include!("../behaviours.rs");

type Decided = Result<Decision, String>;

macro_rules! choose {
    ($($name:ident)*) => {
        fn behaviour(model: &str) -> fn() -> Decided {
            match model {
                $(stringify!($name) => $name,)*
                // One that behaves: it shrinks after each request.
                _ => || Ok(Decision::shrink_all()),
            }
        }
    };
}

policy_behaviours!(choose);

#[derive(Default)]
struct Hostile;

export_policy!(Hostile);

impl ShrinkPolicy for Hostile {
    fn on_run(&mut self, run: &RunReport) -> Decided {
        behaviour(&run.model)()
    }

    fn on_idle(&mut self, _: &Idle) -> Decided {
        Ok(Decision::Keep)
    }
}

fn loops_forever() -> Decided {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn recurses() -> Decided {
    fn deeper(depth: u64) -> u64 {
        let here = black_box([depth; 64]);
        if black_box(false) {
            return 0;
        }
        deeper(depth + 1) + here[black_box(3)]
    }
    Ok(if deeper(0) == 0 { Decision::Keep } else { Decision::Unload })
}

fn allocates() -> Decided {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        // Not written to: what is tried is the limit, not the time that filling takes.
        held.push(black_box(Vec::with_capacity(1 << 20)));
    }
}

fn traps() -> Decided {
    sys::trap()
}

fn panics() -> Decided {
    panic!("it was asked to panic")
}

fn fails() -> Decided {
    Err("it was asked to fail".to_owned())
}

fn fails_hugely() -> Decided {
    Err("x".repeat(8 << 20))
}

fn floods_the_log() -> Decided {
    for line in 0..1_000 {
        info!("line {line} of many");
    }
    Ok(Decision::Keep)
}

fn logs_a_huge_line() -> Decided {
    info!("{}", "x".repeat(64 << 10));
    Ok(Decision::Keep)
}

fn logs_no_utf8() -> Decided {
    sys::log(&[b'a', 0xff, 0xfe]);
    Ok(Decision::Keep)
}

fn names_unknown_targets() -> Decided {
    Ok(Decision::Shrink(vec!["disk:9".to_owned(), "cpu:0".to_owned(), "\u{1b}[2J".to_owned()]))
}

fn decides_something_new() -> Decided {
    Ok(Decision::Other("hibernate".to_owned()))
}

fn sets_an_option() -> Decided {
    Ok(Decision::set_option("memory.enable_memory_arena_shrinkage", "cpu:0"))
}

fn reads_another_model() -> Decided {
    memory::latest("somebody_elses").map_err(|error| error.to_string())?;
    Ok(Decision::Keep)
}
