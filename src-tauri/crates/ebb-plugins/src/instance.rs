//! An instance of a plugin: its wasmtime store, held to the plugin's limits.

use std::sync::Arc;

use wasmtime::{Store, Trap, UpdateDeadline, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::{
    Error, Plugin, Stop,
    guest::{Call, Guest},
    meter::Meter,
};

/// Functions that are told of where a guest trapped, the innermost first.
const TRACE: usize = 8;

/// Longest name of such a function that is told, in characters.
const NAME: usize = 80;

/// What a call of the host costs besides the bytes that a guest may hand over in it: names, lengths, the frames of records.
const CALL_BYTES: usize = 1 << 20;

/// What happens to a guest that is within its limits at a tick of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtTick {
    /// It runs on: policies, whose calls take a few ticks at most.
    Continue,
    /// Others get their turn first: pipelines.
    Yield,
}

/// A store for one instance, and what measures its calls.
pub(crate) fn store(plugin: &Plugin, call: Call, at_tick: AtTick) -> (Store<Guest>, Arc<Meter>) {
    let shared = &plugin.shared;
    let mut guest = Guest::new(Arc::clone(shared));
    guest.begin(call);
    let meter = Arc::new(Meter::new(&shared.limits, Arc::clone(&shared.consumption)));
    let mut store = Store::new(plugin.sandbox.engine(), guest);
    store.limiter(|guest| &mut guest.limiter);
    let payload = usize::try_from(shared.limits.payload_bytes).unwrap_or(usize::MAX);
    store.set_hostcall_fuel(payload.saturating_mul(2).saturating_add(CALL_BYTES));
    // Also those of the guest's own resources, which the host's table knows nothing of.
    store.set_max_component_handles(usize::try_from(shared.limits.handles).unwrap_or(usize::MAX));
    let ticking = Arc::clone(&meter);
    store.epoch_deadline_callback(move |mut context| match ticking.tick() {
        Some(stop) => Err(context.data_mut().limiter.stop(stop)),
        None if at_tick == AtTick::Yield => Ok(UpdateDeadline::Yield(1)),
        None => Ok(UpdateDeadline::Continue(1)),
    });
    store.set_epoch_deadline(1);
    (store, meter)
}

/// Why a call ended that did not return.
pub(crate) fn told(error: &wasmtime::Error, guest: &Guest) -> Error {
    if let Some(stop) = guest.limiter.hit {
        return Error::Stopped(stop);
    }
    if matches!(error.downcast_ref::<Trap>(), Some(Trap::StackOverflow)) {
        return Error::Stopped(Stop::Stack);
    }
    let cause = error.root_cause().to_string();
    if cause.contains("allocated for hostcalls") {
        return Error::Stopped(Stop::Payload(guest.plugin.limits.payload_bytes));
    }
    if cause.contains("handle limit exceeded") {
        return Error::Stopped(Stop::Handles(guest.plugin.limits.handles));
    }
    let why = match error.downcast_ref::<I32Exit>() {
        Some(exit) => format!("it ended itself with the code {}", exit.0),
        None => cause,
    };
    Error::Trapped(why + &place(error))
}

/// In which functions of the guest it trapped, where the component has their names.
fn place(error: &wasmtime::Error) -> String {
    let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
    let names = frames.iter().filter_map(|frame| frame.func_name()).take(TRACE);
    let names: Vec<String> = names.map(|name| name.escape_debug().take(NAME).collect()).collect();
    if names.is_empty() { String::new() } else { format!(", in {}", names.join(" < ")) }
}
