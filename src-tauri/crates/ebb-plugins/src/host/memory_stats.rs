//! What loaded models hold.

use ebb_core::{ArenaSample, Capability, Pool, Sample, Target};
use wasmtime::component::{HasSelf, Linker};

use crate::{
    bindings::{
        memory_stats::{self, Host},
        types::Error,
    },
    guest::Guest,
};

/// Most samples that one call gives.
const MAX_HISTORY: u32 = 10_000;

impl Host for Guest {
    fn latest(&mut self, model: String) -> wasmtime::Result<Result<memory_stats::Sample, Error>> {
        if let Err(refused) = self.allow(Capability::MemoryRead, Some(&model))? {
            return Ok(Err(refused));
        }
        Ok(self.plugin.models.latest(&model).map(|sample| told(&sample)).map_err(Error::from))
    }

    fn history(
        &mut self,
        model: String,
        count: u32,
    ) -> wasmtime::Result<Result<Vec<memory_stats::Sample>, Error>> {
        if let Err(refused) = self.allow(Capability::MemoryRead, Some(&model))? {
            return Ok(Err(refused));
        }
        let samples = self.plugin.models.history(&model, count.min(MAX_HISTORY));
        Ok(samples.map(|samples| samples.iter().map(told).collect()).map_err(Error::from))
    }
}

/// Offers it.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    memory_stats::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

/// A sample in the contract's words.
pub(crate) fn told(sample: &Sample) -> memory_stats::Sample {
    let mut told = empty();
    refill(&mut told, sample);
    told
}

/// A sample of nothing.
pub(crate) fn empty() -> memory_stats::Sample {
    memory_stats::Sample {
        model: String::new(),
        at_ms: 0,
        resident_bytes: 0,
        private_bytes: 0,
        runs: 0,
        arenas: Vec::new(),
        pools: Vec::new(),
        more: Vec::new(),
    }
}

/// Writes a sample over another, and into the memory that it has: a policy gets one after each request.
pub(crate) fn refill(told: &mut memory_stats::Sample, sample: &Sample) {
    let Sample { model, at_ms, resident_bytes, private_bytes, runs, arenas, pools } = sample;
    told.model.clone_from(model);
    (told.at_ms, told.runs) = (*at_ms, *runs);
    (told.resident_bytes, told.private_bytes) = (*resident_bytes, *private_bytes);
    told.arenas.resize_with(arenas.len(), || memory_stats::Arena {
        device: String::new(),
        in_use_bytes: 0,
        reserved_bytes: 0,
        peak_in_use_bytes: 0,
        limit_bytes: None,
        regions: 0,
        shrinkages: 0,
    });
    for (told, arena) in told.arenas.iter_mut().zip(arenas) {
        refill_arena(told, arena);
    }
    let pool = || memory_stats::Pool { name: String::new(), bytes: 0, droppable: false };
    told.pools.resize_with(pools.len(), pool);
    for (told, Pool { name, bytes, droppable }) in told.pools.iter_mut().zip(pools) {
        told.name.clone_from(name);
        (told.bytes, told.droppable) = (*bytes, *droppable);
    }
}

fn refill_arena(told: &mut memory_stats::Arena, arena: &ArenaSample) {
    told.device.clear();
    match arena.device {
        Target::Cpu(0) => told.device.push_str("cpu:0"),
        Target::Gpu(0) => told.device.push_str("gpu:0"),
        other => told.device.push_str(&other.to_string()),
    }
    told.in_use_bytes = arena.in_use_bytes;
    told.reserved_bytes = arena.reserved_bytes;
    told.peak_in_use_bytes = arena.peak_in_use_bytes;
    told.limit_bytes = arena.limit_bytes;
    told.regions = arena.regions;
    told.shrinkages = arena.shrinkages;
}

#[cfg(test)]
mod tests {
    use ebb_core::Memory;

    use super::*;

    fn arena(device: Target) -> ArenaSample {
        ArenaSample {
            device,
            in_use_bytes: 1,
            reserved_bytes: 2,
            peak_in_use_bytes: 3,
            limit_bytes: Some(4),
            regions: 5,
            shrinkages: 6,
        }
    }

    #[test]
    fn a_sample_written_over_another_leaves_nothing_of_it() {
        let pool = |name: &str| Pool { name: name.to_owned(), bytes: 7, droppable: true };
        let two = Memory {
            resident_bytes: 8,
            private_bytes: 9,
            arenas: vec![arena(Target::cpu(0)), arena(Target::gpu(12))],
            pools: vec![pool("weights"), pool("kv")],
        };
        let one = Memory { arenas: vec![arena(Target::gpu(0))], ..Memory::default() };
        let (two, one) = (Sample::new("two", 10, 11, two), Sample::new("one", 0, 1, one));
        let mut over = told(&two);
        assert_eq!(over.arenas[1].device, "gpu:12");
        assert_eq!((over.arenas[0].limit_bytes, over.arenas[0].shrinkages), (Some(4), 6));
        assert_eq!((over.pools[1].name.as_str(), over.at_ms, over.runs), ("kv", 10, 11));
        refill(&mut over, &one);
        assert_eq!(format!("{over:?}"), format!("{:?}", told(&one)));
        assert_eq!((over.arenas.len(), over.pools.len(), over.model.as_str()), (1, 0, "one"));
    }
}
