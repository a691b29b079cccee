//! How byte-level vocabularies cut text into pieces before they merge: by the name that GGUF files give the rule.

use serde_json::{Value, json};

/// A rule, and what goes along with it in the models that use it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// As `tokenizer.ggml.pre` has it.
    names: &'static [&'static str],
    steps: &'static [Step],
    /// Text begins with a token unless the file says otherwise.
    pub(super) add_bos: bool,
    /// A piece that is a token as a whole is not put together by merges.
    pub(super) whole_words: bool,
    /// Letters and their accents become one.
    pub(super) composes: bool,
    /// As tokenizer_config.json names it.
    pub(super) class: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Each digit for itself.
    Digits,
    /// Digits in a row, and what is between them.
    Numbers,
    /// Marks in a row, and what is between them.
    Punctuation,
    /// The rule of GPT-2, which the byte-level step has built in.
    Gpt2,
    /// Pieces that match, and what is between them.
    Split(&'static str),
}

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const PLAIN: Rule = Rule {
    names: &["gpt-2", "phi-2", "jina-es", "jina-de", "mpt", "olmo", "jais", "trillion"],
    steps: &[Step::Gpt2],
    add_bos: false,
    whole_words: false,
    composes: false,
    class: "GPT2Tokenizer",
};

static RULES: [Rule; 6] = [
    PLAIN,
    Rule {
        names: &["smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"],
        steps: &[Step::Digits, Step::Gpt2],
        ..PLAIN
    },
    Rule {
        names: &["llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral"],
        steps: &[Step::Split(LLAMA3)],
        add_bos: true,
        whole_words: true,
        class: "PreTrainedTokenizerFast",
        ..PLAIN
    },
    Rule {
        names: &["qwen2", "deepseek-r1-qwen", "megrez"],
        steps: &[Step::Split(QWEN2)],
        composes: true,
        class: "Qwen2Tokenizer",
        ..PLAIN
    },
    Rule {
        names: &["tekken"],
        steps: &[Step::Split(TEKKEN)],
        add_bos: true,
        whole_words: true,
        class: "PreTrainedTokenizerFast",
        ..PLAIN
    },
    Rule {
        // What files say that do not know: it is the rule of Falcon, nearly.
        names: &["falcon", "default"],
        steps: &[Step::Punctuation, Step::Gpt2, Step::Numbers, Step::Split("[0-9][0-9][0-9]")],
        ..PLAIN
    },
];

impl Rule {
    /// The rule of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.names.contains(&name))
    }

    /// All names.
    pub(super) fn names() -> String {
        RULES.iter().flat_map(|rule| rule.names).copied().collect::<Vec<_>>().join(", ")
    }

    /// As tokenizer.json has it.
    pub(super) fn pre_tokenizer(&self) -> Value {
        let to_bytes = |use_regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex});
        let mut steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| match step {
                Step::Digits => json!({"type": "Digits", "individual_digits": true}),
                Step::Numbers => json!({"type": "Digits", "individual_digits": false}),
                Step::Punctuation => json!({"type": "Punctuation", "behavior": "Contiguous"}),
                Step::Gpt2 => to_bytes(true),
                Step::Split(pattern) => {
                    json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false})
                }
            })
            .collect();
        if !self.steps.contains(&Step::Gpt2) {
            steps.push(to_bytes(false));
        }
        json!({"type": "Sequence", "pretokenizers": steps})
    }
}
