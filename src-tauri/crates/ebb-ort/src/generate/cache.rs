//! The keys and values of a conversation's tokens, as the model keeps them.

use std::sync::Arc;

use ort::{
    memory::{AllocationDevice, Allocator},
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
    sys::{self, Binding, Side},
};

/// Caches have room for a multiple of so many tokens: an arena reuses regions of the sizes that it has.
const STEP_TOKENS: usize = 128;

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

    fn tensor(&self, kv: &Kv, tokens: usize) -> ort::Result<DynTensor> {
        DynTensor::new(&self.allocator, element_of(kv.dtype), shape(kv, tokens))
    }

    /// Tensors with room for nothing.
    fn empty(&self, graph: &Graph) -> ort::Result<Vec<Arc<DynTensor>>> {
        graph.kv.iter().map(|kv| self.tensor(kv, 0).map(Arc::new)).collect()
    }

    /// A tensor with room for so many tokens, holding the first `kept` of another that has room, or is laid out, for
    /// `from_tokens`.
    fn copied(
        &self,
        kv: &Kv,
        tokens: usize,
        (from, from_tokens): (&DynTensor, usize),
        kept: usize,
    ) -> ort::Result<DynTensor> {
        let mut tensor = self.tensor(kv, tokens)?;
        if kept == 0 {
            return Ok(tensor);
        }
        if self.in_main_memory {
            copy_tokens(kv, (sys::bytes(from), from_tokens), (sys::bytes_mut(&mut tensor), tokens), kept);
            return Ok(tensor);
        }
        // Rows are moved in main memory, since ONNX Runtime copies whole tensors only.
        let from = from.to(AllocationDevice::CPU, 0)?;
        let mut staged = DynTensor::new(&Allocator::default(), element_of(kv.dtype), shape(kv, tokens))?;
        copy_tokens(kv, (sys::bytes(&from), from_tokens), (sys::bytes_mut(&mut staged), tokens), kept);
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

/// Copies the first `tokens` of every head between tensors that are laid out for more.
fn copy_tokens(
    kv: &Kv,
    (from, from_tokens): (&[u8], usize),
    (to, to_tokens): (&mut [u8], usize),
    tokens: usize,
) {
    let token_bytes = kv.head_size * kv.dtype.size_bytes();
    let len = tokens.min(from_tokens).min(to_tokens) * token_bytes;
    if len == 0 {
        return;
    }
    let heads =
        from.chunks_exact(from_tokens * token_bytes).zip(to.chunks_exact_mut(to_tokens * token_bytes));
    for (from, to) in heads.take(kv.heads) {
        to[..len].copy_from_slice(&from[..len]);
    }
}

/// Keys and values of every layer, in tensors that have room to spare.
///
/// Where the model takes its cache in place it reads and writes the same tensor, laid out for all that there is room for. Else
/// it reads one, laid out for just the tokens that it holds, and writes those and the new ones into another; then the two
/// change places.
#[derive(Debug)]
pub(super) struct Cache {
    /// In the order of [`Graph::kv`].
    tensors: Vec<Arc<DynTensor>>,
    /// What is written to, where that is another.
    spare: Vec<Arc<DynTensor>>,
    /// Tokens that it holds.
    tokens: usize,
    in_place: bool,
    charge: Charge,
}

impl Cache {
    /// One that holds nothing.
    ///
    /// # Errors
    /// Where ONNX Runtime makes no empty tensor.
    pub(super) fn empty(graph: &Graph, memory: &CacheMemory, charge: Charge) -> ort::Result<Self> {
        let tensors = memory.empty(graph)?;
        Ok(Self { tensors, spare: Vec::new(), tokens: 0, in_place: graph.in_place, charge })
    }

    /// Makes it ready for runs.
    ///
    /// # Errors
    /// Where ONNX Runtime makes no empty tensor.
    pub(super) fn wake(&mut self, graph: &Graph, memory: &CacheMemory) -> ort::Result<()> {
        if !self.in_place && self.spare.is_empty() {
            self.spare = memory.empty(graph)?;
        }
        Ok(())
    }

    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    pub(super) fn bytes(&self) -> u64 {
        self.charge.bytes()
    }

    pub(super) fn charge_mut(&mut self) -> &mut Charge {
        &mut self.charge
    }

    /// Binds what the next run reads, and writes so that there are `end` tokens.
    ///
    /// # Errors
    /// Where there is no room for them.
    pub(super) fn bind(&self, binding: &mut Binding, graph: &Graph, end: usize) -> ort::Result<()> {
        let written = if self.in_place { &self.tensors } else { &self.spare };
        for ((kv, read), written) in graph.kv.iter().zip(&self.tensors).zip(written) {
            let (past, present) = if self.in_place { (room(read), room(read)) } else { (self.tokens, end) };
            binding.bind_part(Side::Input, &kv.past, read, &shape(kv, past))?;
            binding.bind_part(Side::Output, &kv.present, written, &shape(kv, present))?;
        }
        Ok(())
    }

    /// Says that a run has written what was bound: there are `end` tokens now.
    pub(super) fn written(&mut self, end: usize) {
        self.tokens = end;
        if !self.in_place {
            std::mem::swap(&mut self.tensors, &mut self.spare);
        }
    }

    /// Lets go of what only a run needs.
    pub(super) fn rest(&mut self) {
        self.spare.clear();
        self.recount();
    }

    /// Tokens to make room for, where `needed` must be written and `most` can come at all: known needs at once, then half as
    /// much again, so that the copies of a long answer stay few. `None` where there is room.
    pub(super) fn growth(&self, needed: usize, most: usize) -> Option<usize> {
        let written = if self.in_place { &self.tensors } else { &self.spare };
        let has = written.iter().map(|tensor| room(tensor)).min().unwrap_or(0);
        let wanted = needed.max(most.min(has + has / 2)).next_multiple_of(STEP_TOKENS);
        (needed > has).then_some(wanted)
    }

    /// Makes room for so many tokens in what is written to, one tensor after the other, each bound at once in place of the old
    /// one, so that only one is there twice. At the arena's cap other room is made once; says how often.
    ///
    /// # Errors
    /// [`Error::ArenaLimit`] at the cap.
    pub(super) fn grow(
        &mut self,
        tokens: usize,
        (graph, memory, held): (&Graph, &CacheMemory, &Held),
        binding: &mut Binding,
    ) -> Result<u32, Error> {
        let mut cap_retries = 0;
        let (kept, in_place) = (if self.in_place { self.tokens } else { 0 }, self.in_place);
        let written = if in_place { &mut self.tensors } else { &mut self.spare };
        for (kv, tensor) in graph.kv.iter().zip(written) {
            while room(tensor) < tokens {
                match memory.copied(kv, tokens, (tensor, room(tensor)), kept) {
                    Ok(grown) => *tensor = Arc::new(grown),
                    Err(error) => retry(held, error, &mut cap_retries)?,
                }
            }
            let shape = shape(kv, tokens);
            let mut bound = binding.bind_part(Side::Output, &kv.present, tensor, &shape);
            if in_place {
                bound = bound.and_then(|()| binding.bind_part(Side::Input, &kv.past, tensor, &shape));
            }
            bound.map_err(Error::runtime("bind the cache"))?;
        }
        self.recount();
        Ok(cap_retries)
    }

    /// Keeps only the first `tokens`.
    ///
    /// # Errors
    /// Where that takes memory which is not there.
    pub(super) fn truncate(&mut self, tokens: usize, graph: &Graph, memory: &CacheMemory) -> ort::Result<()> {
        if tokens < self.tokens && !self.in_place {
            self.tensors = self.copies(tokens, graph, memory)?;
            self.recount();
        }
        self.tokens = tokens;
        Ok(())
    }

    /// A copy of the first `tokens`.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub(super) fn fork(
        &self,
        tokens: usize,
        graph: &Graph,
        memory: &CacheMemory,
        charge: Charge,
    ) -> ort::Result<Self> {
        let tensors = self.copies(tokens, graph, memory)?;
        let mut fork = Self { tensors, spare: Vec::new(), tokens, in_place: self.in_place, charge };
        fork.recount();
        Ok(fork)
    }

    fn copies(&self, tokens: usize, graph: &Graph, memory: &CacheMemory) -> ort::Result<Vec<Arc<DynTensor>>> {
        let laid_out = |tensor| if self.in_place { room(tensor) } else { self.tokens };
        let each = graph.kv.iter().zip(&self.tensors);
        each.map(|(kv, tensor)| memory.copied(kv, tokens, (tensor, laid_out(tensor)), tokens).map(Arc::new))
            .collect()
    }

    fn recount(&mut self) {
        let tensors = self.tensors.iter().chain(&self.spare);
        self.charge.set(tensors.map(|tensor| sys::len_bytes(tensor) as u64).sum());
    }
}
