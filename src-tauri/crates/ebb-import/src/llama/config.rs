use crate::{Error, gguf::Gguf, onnx::Dim};

/// Positions that are kept ready at most: their tables take `positions · head size · 4` bytes of memory, and a cache that
/// long far more.
const POSITIONS_LIMIT: u64 = 32_768;

/// No dimension of a model that fits a machine is larger.
const SIZE_LIMIT: u64 = 1 << 31;

/// No head is larger: its frequencies are worked out before any tensor is looked at.
const HEAD_SIZE_LIMIT: usize = 1024;

/// What a family does its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Llama, Mistral, SmolLM: query and key rows stand in pairs for interleaved rotation.
    Llama,
    /// Qwen 2 and 2.5: rows as they are, biases on query, key and value.
    Qwen2,
}

impl Family {
    /// As `general.architecture`, `model_type` and onnxruntime-genai name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
        }
    }

    /// The class that Hugging Face's config.json names.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Llama => "LlamaForCausalLM",
            Self::Qwen2 => "Qwen2ForCausalLM",
        }
    }
}

/// What shapes the graph.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) family: Family,
    pub(crate) layers: usize,
    pub(crate) hidden_size: usize,
    pub(crate) wide_size: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_size: usize,
    pub(crate) epsilon: f32,
    pub(crate) rope_theta: f64,
    /// Angle per position, by pair of values of a head; scaling included.
    pub(crate) frequencies: Vec<f64>,
    /// The longest context of the imported model.
    pub(crate) positions: usize,
    /// The longest context that the file names.
    pub(crate) trained_positions: u64,
    pub(crate) vocabulary_size: usize,
    /// The table of embeddings is the output matrix as well.
    pub(crate) tied: bool,
}

impl Config {
    /// Reads the keys and checks that they fit each other and what the graph can do.
    pub(crate) fn read(gguf: &mut Gguf) -> Result<Self, Error> {
        let family = family(gguf)?;
        let keys = Keys { gguf, prefix: family.name() };
        let layers = keys.size("block_count")?;
        let hidden_size = keys.size("embedding_length")?;
        let heads = keys.size("attention.head_count")?;
        let kv_heads = keys.optional_size("attention.head_count_kv")?.unwrap_or(heads);
        if !hidden_size.is_multiple_of(heads) && keys.optional_size("attention.key_length")?.is_none() {
            return Err(
                gguf.broken(format!("hidden size {hidden_size} cannot be shared among {heads} heads"))
            );
        }
        let head_size = keys.optional_size("attention.key_length")?.unwrap_or(hidden_size / heads);
        if !heads.is_multiple_of(kv_heads) {
            return Err(
                gguf.broken(format!("{heads} heads cannot share {kv_heads} heads of keys and values"))
            );
        }
        keys.check_attention(head_size)?;
        let rope_theta = gguf.number(&keys.name("rope.freq_base"))?.unwrap_or(10_000.0);
        if !(rope_theta.is_finite() && rope_theta > 0.0) {
            return Err(gguf.broken(format!("{} is {rope_theta}", keys.name("rope.freq_base"))));
        }
        let linear = keys.linear_scaling()?;
        let trained_positions = keys.size("context_length")? as u64;
        let shape = gguf.tensor("token_embd.weight")?.shape();
        let config = Self {
            family,
            layers,
            hidden_size,
            wide_size: keys.size("feed_forward_length")?,
            heads,
            kv_heads,
            head_size,
            epsilon: keys.epsilon()?,
            rope_theta,
            frequencies: Vec::new(),
            positions: trained_positions.min(POSITIONS_LIMIT) as usize,
            trained_positions,
            vocabulary_size: shape.first().copied().unwrap_or_default(),
            tied: !gguf.has_tensor("output.weight"),
        };
        let frequencies = config.frequencies(gguf, linear)?;
        Ok(Self { frequencies, ..config })
    }

    /// Values of all heads of a query.
    pub(crate) fn query_size(&self) -> usize {
        self.heads * self.head_size
    }

    /// The shape of a layer's keys, and of its values, in the cache.
    pub(crate) fn cache_dims(&self, length: &str) -> [Dim; 4] {
        ["batch".into(), (self.kv_heads as i64).into(), length.into(), (self.head_size as i64).into()]
    }

    /// Values of all heads of a key, and of a value.
    pub(crate) fn kv_size(&self) -> usize {
        self.kv_heads * self.head_size
    }

    /// What RoPE turns each pair by, slowed down as `rope_freqs.weight` (Llama 3) and the linear factor say.
    fn frequencies(&self, gguf: &mut Gguf, linear: f64) -> Result<Vec<f64>, Error> {
        const FACTORS: &str = "rope_freqs.weight";
        let pairs = self.head_size / 2;
        let mut factors = vec![1.0; pairs];
        if gguf.has_tensor(FACTORS) {
            factors = super::weights::read_vector(gguf, FACTORS, pairs)?.into_iter().map(f64::from).collect();
        }
        if let Some(factor) = factors.iter().find(|factor| !(factor.is_finite() && **factor > 0.0)) {
            return Err(gguf.broken(format!("{FACTORS} holds {factor}")));
        }
        let of = |(pair, factor): (usize, f64)| {
            1.0 / self.rope_theta.powf((2 * pair) as f64 / self.head_size as f64) / factor / linear
        };
        Ok(factors.into_iter().enumerate().map(of).collect())
    }
}

fn family(gguf: &Gguf) -> Result<Family, Error> {
    match gguf.text("general.architecture")?.unwrap_or_default() {
        "llama" => Ok(Family::Llama),
        "qwen2" => Ok(Family::Qwen2),
        other => Err(Error::UnsupportedGgufArchitecture {
            architecture: if other.is_empty() { "(not named)".to_owned() } else { other.to_owned() },
        }),
    }
}

/// The keys of one architecture.
struct Keys<'a> {
    gguf: &'a Gguf,
    prefix: &'static str,
}

impl Keys<'_> {
    fn name(&self, key: &str) -> String {
        format!("{}.{key}", self.prefix)
    }

    fn size(&self, key: &str) -> Result<usize, Error> {
        let missing = || self.gguf.broken(format!("it has no key {}", self.name(key)));
        self.optional_size(key)?.ok_or_else(missing)
    }

    fn optional_size(&self, key: &str) -> Result<Option<usize>, Error> {
        let Some(size) = self.gguf.unsigned(&self.name(key))? else { return Ok(None) };
        if size == 0 || size > SIZE_LIMIT {
            return Err(self.gguf.broken(format!("{} is {size}", self.name(key))));
        }
        Ok(Some(size as usize))
    }

    fn epsilon(&self) -> Result<f32, Error> {
        let key = self.name("attention.layer_norm_rms_epsilon");
        let epsilon = self.gguf.number(&key)?.unwrap_or(1e-5);
        if epsilon > 0.0 && epsilon < 1.0 {
            return Ok(epsilon as f32);
        }
        Err(self.gguf.broken(format!("{key} is {epsilon}")))
    }

    /// What the operator for attention takes, and what would be left out.
    fn check_attention(&self, head_size: usize) -> Result<(), Error> {
        let unsupported = |what: String| Err(self.gguf.unsupported(what));
        if !head_size.is_multiple_of(16) || head_size > HEAD_SIZE_LIMIT {
            return unsupported(format!(
                "its heads have {head_size} values, which is no multiple of 16 up to {HEAD_SIZE_LIMIT}"
            ));
        }
        for key in ["attention.value_length", "rope.dimension_count"] {
            match self.optional_size(key)? {
                Some(size) if size != head_size => {
                    return unsupported(format!(
                        "{} is {size}, not the head size {head_size}",
                        self.name(key)
                    ));
                }
                _ => {}
            }
        }
        match self.gguf.unsigned(&self.name("expert_count"))? {
            Some(experts @ 1..) => unsupported(format!("it is a mixture of {experts} experts")),
            _ => Ok(()),
        }
    }

    /// By how much positions are stretched.
    fn linear_scaling(&self) -> Result<f64, Error> {
        let kind = self.gguf.text(&self.name("rope.scaling.type"))?;
        let factor = self.gguf.number(&self.name("rope.scaling.factor"))?;
        let old = self.gguf.number(&self.name("rope.scale_linear"))?;
        let factor = match (kind, factor, old) {
            (Some("none"), ..) | (None, None, None) => 1.0,
            (Some("linear") | None, factor, old) => factor.or(old).unwrap_or(1.0),
            (Some(other), ..) => {
                return Err(self.gguf.unsupported(format!("it scales its positions by {other:?}")));
            }
        };
        if factor.is_finite() && factor > 0.0 {
            return Ok(factor);
        }
        Err(self.gguf.broken(format!("{} is {factor}", self.name("rope.scaling.factor"))))
    }
}

#[cfg(test)]
mod tests;
