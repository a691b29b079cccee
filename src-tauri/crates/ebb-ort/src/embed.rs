//! Texts to vectors.

mod config;
mod graph;
mod pool;
mod window;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use ebb_core::{
    Chunk, DType, EmbedFigures, EmbeddingInfo, Figures, LoadOptions, Pooling, Progress, Step, Truncation,
};
use ort::session::SessionOutputs;

use crate::{Error, batch::Batch, session::Loaded, sys, tokens::TextTokenizer};
use config::Config;
use graph::Graph;
use pool::{Number, pool};
use window::Window;

/// Tokens in a batch, padding included, where the user does not say. Measured with MiniLM on CPUs: 512 to 1024 are fastest,
/// 4096 take 10 to 15 % longer a token and 16384 a third, for their activations outgrow the caches; memory grows with it.
const DEFAULT_BATCH_TOKENS: u32 = 1024;

/// Bytes of text that one step tokenises at most, so that a step takes about as long as a batch.
const STEP_TEXT_BYTES: usize = 128 << 10;

/// An embedding model.
#[derive(Debug)]
pub(crate) struct Embedder {
    loaded: Loaded,
    tokenizer: Arc<TextTokenizer>,
    config: Config,
    graph: Graph,
    info: EmbeddingInfo,
}

/// An embed job in flight.
#[derive(Debug)]
pub(crate) struct EmbedRun {
    texts: Vec<String>,
    run_options: BTreeMap<String, String>,
    /// The first text that is not tokenised yet.
    next: usize,
    /// Texts whose vectors are there.
    done: usize,
    batch_tokens: usize,
    window: Window,
    figures: EmbedFigures,
}

impl Embedder {
    /// Makes an embedding model of a loaded model file and the folder that it belongs to.
    ///
    /// # Errors
    /// Where the tokenizer is missing or broken, the folder asks for what Ebb does not do, or the file's inputs and outputs
    /// are not those of an embedding model.
    pub(crate) fn open(folder: &Path, loaded: Loaded, options: &LoadOptions) -> Result<Self, Error> {
        let config = Config::read(folder)?;
        let tokenizer =
            Arc::new(TextTokenizer::open(&config.tokenizer_file, config.max_tokens, config.pad_id)?);
        let graph = Graph::read(folder, loaded.inputs(), loaded.outputs())?;
        let pooling = match &config.pooling {
            _ if !graph.per_token => Pooling::Model,
            Ok(pooling) => *pooling,
            Err(why) => {
                return Err(Error::invalid_model(folder, format!("{why}; Ebb pools by mean or cls"))
                    .hint("export the model with its pooling inside, as the output sentence_embedding"));
            }
        };
        let batch_tokens = options.batch_tokens.unwrap_or(DEFAULT_BATCH_TOKENS);
        if batch_tokens == 0 {
            return Err(Error::request("a batch of 0 tokens holds no text", "batch_tokens"));
        }
        let info = EmbeddingInfo {
            dimensions: 0,
            max_tokens: config.max_tokens as u32,
            pooling,
            normalized: config.normalize,
            batch_tokens,
            matryoshka: config.matryoshka.clone(),
        };
        let mut embedder = Self { loaded, tokenizer, config, graph, info };
        embedder.info.dimensions = embedder.dimensions(folder)?;
        Ok(embedder)
    }

    /// What is particular to the model.
    pub(crate) fn info(&self) -> &EmbeddingInfo {
        &self.info
    }

    /// What makes tokens of texts.
    pub(crate) fn tokenizer(&self) -> &Arc<TextTokenizer> {
        &self.tokenizer
    }

    /// Prepares a job.
    ///
    /// # Errors
    /// Where there are no texts.
    pub(crate) fn begin(
        &mut self,
        texts: Vec<String>,
        run_options: &BTreeMap<String, String>,
    ) -> Result<EmbedRun, Error> {
        if texts.is_empty() {
            return Err(Error::request("no texts were given", "texts"));
        }
        let figures = EmbedFigures {
            texts: texts.len() as u32,
            dimensions: self.info.dimensions,
            ..EmbedFigures::default()
        };
        Ok(EmbedRun {
            texts,
            run_options: run_options.clone(),
            next: 0,
            done: 0,
            batch_tokens: self.info.batch_tokens as usize,
            window: Window::default(),
            figures,
        })
    }

    /// Runs a batch. Where no batch is ready it tokenises first, and leaves it at that if there is much to tokenise.
    ///
    /// # Errors
    /// Where the model fails.
    pub(crate) fn step(&mut self, run: &mut EmbedRun, chunks: &mut Vec<Chunk>) -> Result<Step, Error> {
        let dimensions = self.info.dimensions as usize;
        if run.window.is_idle() {
            if !self.tokenize(run)? {
                return Ok(Step::More(run.progress()));
            }
            run.window.plan(run.batch_tokens, dimensions);
        }
        if let Some(batch) = run.window.next_batch() {
            self.run_batch(run, batch)?;
        }
        if run.window.is_idle() {
            chunks.push(run.window.take_chunk(dimensions));
        }
        if run.done < run.texts.len() {
            return Ok(Step::More(run.progress()));
        }
        Ok(Step::Done(Figures::Embed(std::mem::take(&mut run.figures))))
    }

    /// Tokenises the next texts; whether the window is complete now.
    fn tokenize(&self, run: &mut EmbedRun) -> Result<bool, Error> {
        let mut bytes = 0;
        while run.next < run.texts.len() && !run.window.is_full() {
            if bytes >= STEP_TEXT_BYTES {
                return Ok(false);
            }
            let index = run.next;
            // Taken: it is not needed any more once its tokens are there.
            let text = std::mem::take(&mut run.texts[index]);
            let encoded = run
                .window
                .push(|ids| self.tokenizer.encode(&text, ids))
                .map_err(|why| Error::request(format!("text {index} cannot be tokenised: {why}"), "texts"))?;
            bytes += text.len();
            run.next += 1;
            run.figures.tokens += encoded.used as u64;
            if encoded.used < encoded.tokens {
                run.figures.truncated.push(Truncation {
                    index: index as u32,
                    tokens: encoded.tokens as u32,
                    exact: encoded.exact,
                    used: encoded.used as u32,
                });
            }
        }
        Ok(true)
    }

    fn run_batch(&mut self, run: &mut EmbedRun, batch: Batch) -> Result<(), Error> {
        let rows: Vec<&[u32]> = batch.texts.iter().map(|&text| run.window.tokens(text)).collect();
        let lengths: Vec<usize> = rows.iter().map(|row| row.len()).collect();
        let inputs = self.graph.inputs(&rows, batch.len, &self.config, self.tokenizer.pad_id())?;
        let target = Target { graph: &self.graph, info: &self.info, len: batch.len, lengths: &lengths };
        let window = &mut run.window;
        let ran = self.loaded.run(&inputs, &[&self.graph.output], &run.run_options, |outputs| {
            target.read(outputs, |row, vector| window.set_vector(batch.texts[row], vector))
        });
        let padded = batch.texts.len() * batch.len;
        match ran {
            Ok(ran) => {
                run.done += batch.texts.len();
                run.figures.batches += 1;
                run.figures.padding_tokens += (padded - lengths.iter().sum::<usize>()) as u64;
                run.figures.cap_retries += ran.cap_retries;
                Ok(())
            }
            // Under a tight cap a batch may be too much where half of it is not.
            Err(Error::ArenaLimit { .. }) if batch.texts.len() > 1 => {
                run.batch_tokens = padded / 2;
                run.figures.cap_retries += 1;
                run.window.split_again(batch, run.batch_tokens);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Length of a vector: as the model file declares it, else as a run on an empty text shows it.
    fn dimensions(&mut self, folder: &Path) -> Result<u32, Error> {
        let output = self.loaded.outputs().iter().find(|output| output.name == self.graph.output);
        let declared = output.and_then(|output| output.shape.last()).copied().unwrap_or(-1);
        let dimensions = if declared > 0 {
            declared
        } else {
            let mut ids = Vec::new();
            self.tokenizer.encode("", &mut ids).map_err(|why| Error::request(why, "texts"))?;
            let inputs = self.graph.inputs(&[&ids], ids.len(), &self.config, self.tokenizer.pad_id())?;
            let name = self.graph.output.as_str();
            let shape = self.loaded.run(&inputs, &[name], &BTreeMap::new(), |outputs| {
                outputs.get(name).map_or(Ok(Vec::new()), |value| Ok(sys::contents(name, value)?.1))
            })?;
            shape.value.last().map_or(0, |&dimensions| dimensions as i64)
        };
        u32::try_from(dimensions).ok().filter(|&dimensions| dimensions > 0).ok_or_else(|| {
            Error::invalid_model(folder, format!("its output '{}' is empty", self.graph.output))
        })
    }
}

impl EmbedRun {
    fn progress(&self) -> Progress {
        Progress { done: self.done as u64, total: self.texts.len() as u64 }
    }
}

/// What a batch's output must look like, and what its vectors are made of.
struct Target<'a> {
    graph: &'a Graph,
    info: &'a EmbeddingInfo,
    len: usize,
    lengths: &'a [usize],
}

impl Target<'_> {
    /// Gives every row's vector to `set`.
    fn read(&self, outputs: &SessionOutputs<'_>, set: impl FnMut(usize, &[f32])) -> Result<(), Error> {
        let name = self.graph.output.as_str();
        let value = outputs.get(name).ok_or_else(|| self.unfit("nothing"))?;
        let (rows, dimensions) = (self.lengths.len() as u64, u64::from(self.info.dimensions));
        let want = if self.graph.per_token {
            vec![rows, self.len as u64, dimensions]
        } else {
            vec![rows, dimensions]
        };
        let (dtype, shape, data) = sys::contents(name, value)?;
        if shape != want {
            return Err(self.unfit(&format!("the shape {shape:?} where {want:?} was due")));
        }
        match dtype {
            DType::Float16 => self.pool_rows::<[u8; 2]>(data.as_chunks().0, set),
            _ => self.pool_rows::<[u8; 4]>(data.as_chunks().0, set),
        }
        Ok(())
    }

    fn pool_rows<T: Number>(&self, numbers: &[T], mut set: impl FnMut(usize, &[f32])) {
        let mut vector = vec![0.0; self.info.dimensions as usize];
        let stride = numbers.len() / self.lengths.len();
        for (row, (numbers, &tokens)) in numbers.chunks_exact(stride).zip(self.lengths).enumerate() {
            pool(numbers, tokens, self.info.pooling, self.info.normalized, &mut vector);
            set(row, &vector);
        }
    }

    fn unfit(&self, what: &str) -> Error {
        Error::Unsupported(format!("the model's output '{}' has {what}", self.graph.output))
    }
}

#[cfg(test)]
mod tests;
