//! A session without a model, for tests of everything around one. Deterministic: an embed job of `n` texts takes one step
//! a text, its vector holds the text's length in bytes, and the arena grows by the longest text's length until shrunk. A
//! generation says the last message again, a word a step; a transcription gives one segment a KiB of audio.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;

use crate::{
    ArenaSample, AudioInfo, ChatInfo, Chunk, ChunkBody, Code, Control, EmbedFigures, Failure, Figures,
    FinishReason, GenerateFigures, Generation, Job, JobKind, Memory, ModelInfo, ModelKind, Piece, Progress,
    Segment, Session, ShrinkReport, Step, Target, TensorFigures, ToolCall, TranscribeFigures,
    options::{self, OptionLine},
};

/// Bytes of the fake's weights.
pub const WEIGHTS_BYTES: u64 = 1_000;

/// The text on which an embed job fails.
pub const FAIL: &str = "fail";

/// The fake session.
#[derive(Debug)]
pub struct FakeSession {
    info: ModelInfo,
    control: Arc<FakeControl>,
}

/// Its controls.
#[derive(Debug)]
pub struct FakeControl {
    alias: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    slack_bytes: u64,
    shrinkages: u64,
}

/// A job in flight in the fake.
#[derive(Debug)]
pub struct FakeRun {
    job: Job,
    data: Bytes,
    done: usize,
}

impl FakeSession {
    /// A fake embedding model with one CPU arena.
    pub fn new(alias: &str) -> Self {
        Self::of_kind(alias, ModelKind::Embeddings)
    }

    /// A fake model of this kind, which does all kinds of work nevertheless.
    pub fn of_kind(alias: &str, kind: ModelKind) -> Self {
        let chat = ChatInfo {
            context_tokens: 1_000,
            kv_bytes_per_token: 1,
            kv_shared: true,
            prefill_tokens: 10,
            prefix_cache_bytes: 0,
            template: true,
            tools: true,
        };
        let audio = AudioInfo {
            family: "fake".to_owned(),
            sample_rate_hz: 16_000,
            languages: Vec::new(),
            voice_detector: false,
        };
        let info = ModelInfo {
            alias: alias.to_owned(),
            kind,
            file: "fake".to_owned(),
            provider: "cpu".to_owned(),
            arenas: vec![Target::cpu(0)],
            weights_bytes: WEIGHTS_BYTES,
            inputs: Vec::new(),
            outputs: Vec::new(),
            embedding: None,
            chat: (kind == ModelKind::Chat).then_some(chat),
            audio: (kind == ModelKind::Audio).then_some(audio),
            options: Vec::new(),
            runtime_version: "fake".to_owned(),
            runtime_library: "fake".to_owned(),
            load_ms: 0,
        };
        let control = Arc::new(FakeControl { alias: alias.to_owned(), state: Mutex::default() });
        Self { info, control }
    }
}

impl FakeControl {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session for FakeSession {
    type Run = FakeRun;

    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn control(&self) -> Arc<dyn Control> {
        Arc::clone(&self.control) as Arc<dyn Control>
    }

    fn begin(
        &mut self,
        job: Job,
        data: Bytes,
        _run_options: &BTreeMap<String, String>,
    ) -> Result<FakeRun, Failure> {
        match &job.kind {
            JobKind::Embed { texts } if texts.is_empty() => {
                Err(Failure::new(Code::InvalidRequest, "no texts were given").param("texts"))
            }
            _ => Ok(FakeRun { job, data, done: 0 }),
        }
    }

    fn step(&mut self, run: &mut FakeRun, chunks: &mut Vec<Chunk>) -> Result<Step, Failure> {
        match &run.job.kind {
            JobKind::Embed { texts } => {
                let text = &texts[run.done];
                if text == FAIL {
                    return Err(Failure::new(Code::Internal, "the fake was told to fail"));
                }
                let mut state = self.control.state();
                state.slack_bytes = state.slack_bytes.max(text.len() as u64);
                drop(state);
                let first = run.done as u32;
                let data = Bytes::copy_from_slice(&(text.len() as f32).to_le_bytes());
                chunks.push(Chunk { body: ChunkBody::Vectors { first, count: 1, dimensions: 1 }, data });
                run.done += 1;
                if run.done < texts.len() {
                    return Ok(Step::More(Progress { done: run.done as u64, total: texts.len() as u64 }));
                }
                Ok(Step::Done(Figures::Embed(EmbedFigures {
                    texts: texts.len() as u32,
                    dimensions: 1,
                    batches: texts.len() as u32,
                    ..EmbedFigures::default()
                })))
            }
            JobKind::Tensors { inputs, .. } => {
                let mut at = 0;
                for spec in inputs {
                    let len = spec.len_bytes().unwrap_or(0).min(run.data.len() - at);
                    let data = run.data.slice(at..at + len);
                    at += len;
                    chunks.push(Chunk { body: ChunkBody::Tensor(spec.clone()), data });
                }
                Ok(Step::Done(Figures::Tensors(TensorFigures {
                    outputs: inputs.len() as u32,
                    cap_retries: 0,
                })))
            }
            JobKind::Generate(generation) => {
                let step = said_again(generation, run.done, chunks)?;
                run.done += 1;
                Ok(step)
            }
            JobKind::Transcribe(_) => {
                let segments = run.data.len().div_ceil(1 << 10);
                if run.done < segments {
                    let index = run.done as u32;
                    let (start_ms, end_ms) = (u64::from(index) * 1_000, u64::from(index + 1) * 1_000);
                    let text = format!(" part {index}");
                    let segment = Segment { index, start_ms, end_ms, text, partial: false };
                    chunks.push(Chunk { body: ChunkBody::Segment(segment), data: Bytes::new() });
                    run.done += 1;
                    return Ok(Step::More(Progress { done: end_ms, total: segments as u64 * 1_000 }));
                }
                Ok(Step::Done(Figures::Transcribe(TranscribeFigures {
                    audio_ms: segments as u64 * 1_000,
                    segments: segments as u32,
                    ..TranscribeFigures::default()
                })))
            }
        }
    }
}

/// A step of the fake's generation: the next word of the last message. Where tools are given, the last step calls the first
/// of them with that message. Ends after `max_tokens` words.
fn said_again(generation: &Generation, done: usize, chunks: &mut Vec<Chunk>) -> Result<Step, Failure> {
    let last = generation.messages.last().map(|message| message.content.as_str());
    let text = generation.prompt.as_deref().or(last).ok_or_else(|| {
        Failure::new(Code::InvalidRequest, "there is neither a message nor a prompt").param("messages")
    })?;
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let all = words.len().min(generation.max_tokens.map_or(usize::MAX, |tokens| tokens as usize));
    if let Some(word) = words[..all].get(done) {
        if word.trim() == FAIL {
            return Err(Failure::new(Code::Internal, "the fake was told to fail"));
        }
        let piece = Piece { text: (*word).to_owned(), logprobs: Vec::new() };
        chunks.push(Chunk { body: ChunkBody::Piece(piece), data: Bytes::new() });
        return Ok(Step::More(Progress { done: words.len() as u64, total: words.len() as u64 }));
    }
    let mut finish_reason = if all < words.len() { FinishReason::Length } else { FinishReason::Stop };
    if let Some(tool) = generation.tools.first() {
        finish_reason = FinishReason::ToolCalls;
        let arguments = serde_json::json!({ "text": text }).to_string();
        let call = ToolCall { id: "call_1".to_owned(), name: tool.name.clone(), arguments };
        chunks.push(Chunk { body: ChunkBody::ToolCall(call), data: Bytes::new() });
    }
    Ok(Step::Done(Figures::Generate(GenerateFigures {
        prompt_tokens: words.len() as u32,
        completion_tokens: all as u32,
        finish_reason,
        ..GenerateFigures::default()
    })))
}

impl Control for FakeControl {
    fn memory(&self) -> Result<Memory, Failure> {
        let state = self.state();
        let reserved_bytes = WEIGHTS_BYTES + state.slack_bytes;
        let arena = ArenaSample {
            device: Target::cpu(0),
            in_use_bytes: WEIGHTS_BYTES,
            reserved_bytes,
            peak_in_use_bytes: reserved_bytes,
            limit_bytes: None,
            regions: 1 + u64::from(state.slack_bytes > 0),
            shrinkages: state.shrinkages,
        };
        Ok(Memory {
            resident_bytes: 10_000 + reserved_bytes,
            private_bytes: reserved_bytes,
            arenas: vec![arena],
            pools: Vec::new(),
        })
    }

    fn shrink_slack(&self, targets: Option<&[Target]>) -> Result<ShrinkReport, Failure> {
        // It has no caches.
        self.shrink(targets)
    }

    fn shrink(&self, targets: Option<&[Target]>) -> Result<ShrinkReport, Failure> {
        let cpu = Target::cpu(0);
        let every = [cpu];
        let wanted = targets.unwrap_or(&every);
        let before = self.memory()?;
        let mut state = self.state();
        let freed_bytes = if wanted.contains(&cpu) { std::mem::take(&mut state.slack_bytes) } else { 0 };
        state.shrinkages += u64::from(freed_bytes > 0);
        drop(state);
        let after = self.memory()?;
        let dropped = wanted.iter().filter(|target| **target != cpu).map(|&target| crate::DroppedTarget {
            target,
            reason: "no arena here: the fake has only cpu:0".to_owned(),
        });
        Ok(ShrinkReport {
            model: self.alias.clone(),
            freed_bytes,
            reserved_before_bytes: before.arenas[0].reserved_bytes,
            reserved_after_bytes: after.arenas[0].reserved_bytes,
            resident_before_bytes: before.resident_bytes,
            resident_after_bytes: after.resident_bytes,
            private_before_bytes: before.private_bytes,
            private_after_bytes: after.private_bytes,
            took_us: 1,
            trim_us: 0,
            targets: if wanted.contains(&cpu) { vec![cpu] } else { Vec::new() },
            dropped: dropped.collect(),
            pools_dropped: Vec::new(),
        })
    }

    fn judge_run_option(&self, key: &str, value: &str) -> Result<OptionLine, Failure> {
        options::judge_run_option(key, value, &[Target::cpu(0)])
    }

    fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, Failure> {
        Ok(texts.iter().map(|text| text.split_whitespace().count() as u32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_and_gives_back() {
        let mut session = FakeSession::new("m");
        let control = session.control();
        let job = Job::new(JobKind::Embed { texts: vec!["four".into(), "sixsix".into()] });
        let mut run = session.begin(job, Bytes::new(), &BTreeMap::new()).unwrap();
        let mut chunks = Vec::new();
        assert!(matches!(
            session.step(&mut run, &mut chunks).unwrap(),
            Step::More(Progress { done: 1, total: 2 })
        ));
        assert!(matches!(session.step(&mut run, &mut chunks).unwrap(), Step::Done(_)));
        assert_eq!(chunks.len(), 2);
        assert_eq!(control.memory().unwrap().arenas[0].slack_bytes(), 6);
        let report = control.shrink(Some(&[Target::gpu(0), Target::cpu(0)])).unwrap();
        assert_eq!((report.freed_bytes, report.targets, report.dropped.len()), (6, vec![Target::cpu(0)], 1));
        assert_eq!(control.memory().unwrap().arenas[0].slack_bytes(), 0);
    }
}
