//! The keys and values of a conversation's tokens, as the model keeps them.

use ort::{
    memory::{AllocationDevice, Allocator, MemoryInfo},
    value::DynTensor,
};

use super::{
    graph::{Graph, Kv},
    idle::Charge,
};
use crate::{
    Error,
    held::Held,
    session::{element_of, retry},
    sys,
};

/// Tokens that a cache grows by at least.
const STEP_TOKENS: usize = 256;

/// Where caches lie: in the arena of the model's own session, on its device.
#[derive(Debug)]
pub(super) struct CacheMemory {
    allocator: Allocator,
    in_main_memory: bool,
}

impl CacheMemory {
    pub(super) fn new(allocator: Allocator) -> Self {
        let in_main_memory = allocator.memory_info().is_cpu_accessible();
        Self { allocator, in_main_memory }
    }

    /// What an output is to be bound to that lies there.
    pub(super) fn info(&self) -> &MemoryInfo<'_> {
        self.allocator.memory_info()
    }

    fn tensor(&self, kv: &Kv, tokens: usize) -> ort::Result<DynTensor> {
        DynTensor::new(&self.allocator, element_of(kv.dtype), shape(kv, tokens))
    }

    /// The tensor with room for so many tokens, holding the first `kept` of another.
    fn resized(&self, kv: &Kv, from: &DynTensor, tokens: usize, kept: usize) -> ort::Result<DynTensor> {
        let mut tensor = self.tensor(kv, tokens)?;
        if kept == 0 {
            return Ok(tensor);
        }
        if self.in_main_memory {
            copy_tokens(kv, sys::bytes(from), sys::bytes_mut(&mut tensor), kept);
            return Ok(tensor);
        }
        // Rows are moved in main memory, since ONNX Runtime copies whole tensors only.
        let from = from.to(AllocationDevice::CPU, 0)?;
        let mut staged = DynTensor::new(&Allocator::default(), element_of(kv.dtype), shape(kv, tokens))?;
        copy_tokens(kv, sys::bytes(&from), sys::bytes_mut(&mut staged), kept);
        staged.copy_into(&mut tensor)?;
        Ok(tensor)
    }
}

fn shape(kv: &Kv, tokens: usize) -> [i64; 4] {
    [1, kv.heads as i64, tokens as i64, kv.head_size as i64]
}

/// Tokens that a tensor of a cache has room for.
fn room(tensor: &DynTensor) -> usize {
    tensor.shape().get(2).map_or(0, |&tokens| usize::try_from(tokens).unwrap_or(0))
}

/// Copies the first `tokens` of every head, whatever room the two have.
fn copy_tokens(kv: &Kv, from: &[u8], to: &mut [u8], tokens: usize) {
    let len = tokens * kv.head_size * kv.dtype.size_bytes();
    let (from_stride, to_stride) = (from.len() / kv.heads, to.len() / kv.heads);
    if len == 0 || from_stride < len || to_stride < len {
        return;
    }
    for (from, to) in from.chunks_exact(from_stride).zip(to.chunks_exact_mut(to_stride)) {
        to[..len].copy_from_slice(&from[..len]);
    }
}

/// Keys and values of every layer. Where the model takes its cache in place they have room to spare, else exactly that for
/// the tokens that they hold, for then each run gives new ones.
#[derive(Debug)]
pub(super) struct Cache {
    /// In the order of [`Graph::kv`].
    tensors: Vec<DynTensor>,
    /// Tokens that they hold.
    tokens: usize,
    charge: Charge,
}

impl Cache {
    /// One that holds nothing.
    ///
    /// # Errors
    /// Where ONNX Runtime makes no empty tensor.
    pub(super) fn empty(graph: &Graph, memory: &CacheMemory, charge: Charge) -> Result<Self, Error> {
        let tensors = graph.kv.iter().map(|kv| memory.tensor(kv, 0)).collect::<ort::Result<_>>();
        Ok(Self { tensors: tensors.map_err(Error::runtime("make an empty cache"))?, tokens: 0, charge })
    }

    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    pub(super) fn set_tokens(&mut self, tokens: usize) {
        self.tokens = tokens;
    }

    pub(super) fn bytes(&self) -> u64 {
        self.charge.bytes()
    }

    pub(super) fn charge_mut(&mut self) -> &mut Charge {
        &mut self.charge
    }

    pub(super) fn tensors_mut(&mut self) -> &mut [DynTensor] {
        &mut self.tensors
    }

    /// Takes what a run gave in place of what it had.
    pub(super) fn replace(&mut self, tensors: Vec<DynTensor>, tokens: usize) {
        self.tensors = tensors;
        self.tokens = tokens;
        self.recount();
    }

    /// Tokens to have room for, where `needed` must be held and `most` can come at all: known needs at once, else a step or
    /// half as much again, so that the copies of a long answer stay few.
    pub(super) fn growth(&self, needed: usize, most: usize) -> Option<usize> {
        let has = self.tensors.iter().map(room).min().unwrap_or(0);
        if needed <= has {
            return None;
        }
        let wanted = needed.max(has + has / 2).next_multiple_of(STEP_TOKENS);
        Some(wanted.min(most).max(needed))
    }

    /// Moves what it holds into tensors with room for so many tokens, one after the other, so that only one is there twice.
    /// `moved` is told of each. At the arena's cap room is made once; says how often.
    ///
    /// # Errors
    /// [`Error::ArenaLimit`] at the cap, what `moved` returns.
    pub(super) fn resize(
        &mut self,
        tokens: usize,
        (graph, memory, held): (&Graph, &CacheMemory, &Held),
        mut moved: impl FnMut(&Kv, &mut DynTensor) -> Result<(), Error>,
    ) -> Result<u32, Error> {
        let mut cap_retries = 0;
        for (kv, tensor) in graph.kv.iter().zip(&mut self.tensors) {
            while room(tensor) != tokens {
                match memory.resized(kv, tensor, tokens, self.tokens.min(tokens)) {
                    Ok(resized) => *tensor = resized,
                    Err(error) => retry(held, error, &mut cap_retries)?,
                }
            }
            moved(kv, tensor)?;
        }
        self.tokens = self.tokens.min(tokens);
        self.recount();
        Ok(cap_retries)
    }

    /// Keeps only the first `tokens`.
    ///
    /// # Errors
    /// Where that takes memory which is not there.
    pub(super) fn truncate(
        &mut self,
        tokens: usize,
        graph: &Graph,
        memory: &CacheMemory,
        held: &Held,
    ) -> Result<(), Error> {
        if tokens < self.tokens && !graph.in_place {
            self.resize(tokens, (graph, memory, held), |_, _| Ok(()))?;
        }
        self.tokens = tokens;
        Ok(())
    }

    /// A copy of the first `tokens`; `None` where there is no memory for it.
    pub(super) fn copied(
        &self,
        tokens: usize,
        graph: &Graph,
        memory: &CacheMemory,
        charge: Charge,
    ) -> Option<Self> {
        let copies =
            graph.kv.iter().zip(&self.tensors).map(|(kv, from)| memory.resized(kv, from, tokens, tokens));
        let mut copy = Self { tensors: copies.collect::<ort::Result<_>>().ok()?, tokens, charge };
        copy.recount();
        Some(copy)
    }

    fn recount(&mut self) {
        self.charge.set(self.tensors.iter().map(|tensor| sys::len_bytes(tensor) as u64).sum());
    }
}
