use super::*;
use crate::gguf::{TensorType, sample::Sample};

/// Keys of a small model, but those that `without` names.
fn keys(without: &[&str]) -> Sample {
    let mut sample = Sample::default();
    sample.text("general.architecture", "llama");
    for (key, size) in [
        ("block_count", 2),
        ("embedding_length", 64),
        ("feed_forward_length", 96),
        ("attention.head_count", 4),
        ("context_length", 128),
    ] {
        if !without.contains(&key) {
            sample.unsigned(&format!("llama.{key}"), size);
        }
    }
    sample.tensor("token_embd.weight", TensorType::F32, &[64, 3], &[0; 768]);
    sample
}

fn read(sample: &Sample) -> Result<Config, Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), sample.bytes()).unwrap();
    Config::read(&mut Gguf::open(file.path()).unwrap())
}

#[test]
fn what_the_file_leaves_out_is_what_the_format_says() {
    let config = read(&keys(&[])).unwrap();
    assert_eq!((config.heads, config.kv_heads, config.head_size), (4, 4, 16));
    assert_eq!((config.rope_theta, config.epsilon, config.vocabulary_size), (10_000.0, 1e-5, 3));
    assert_eq!((config.positions, config.tied), (128, true));
    assert_eq!(config.frequencies.len(), 8);
    assert_eq!(config.frequencies[4], 0.01, "10000 to the power of -8/16");
}

#[test]
fn positions_are_stretched_as_the_file_says() {
    let mut linear = keys(&[]);
    linear.text("llama.rope.scaling.type", "linear").number("llama.rope.scaling.factor", 4.0);
    assert_eq!(read(&linear).unwrap().frequencies[0], 0.25);
    let mut none = keys(&[]);
    none.text("llama.rope.scaling.type", "none").number("llama.rope.scaling.factor", 4.0);
    assert_eq!(read(&none).unwrap().frequencies[0], 1.0);
    let mut old = keys(&[]);
    assert_eq!(read(old.number("llama.rope.scale_linear", 2.0)).unwrap().frequencies[0], 0.5);

    let factors: Vec<u8> = [8.0f32; 8].iter().flat_map(|factor| factor.to_le_bytes()).collect();
    let mut by_pair = keys(&[]);
    by_pair.tensor("rope_freqs.weight", TensorType::F32, &[8], &factors);
    assert_eq!(read(&by_pair).unwrap().frequencies[0], 0.125);
}

#[test]
fn what_the_graph_would_not_do_is_refused() {
    let told = |change: &dyn Fn(&mut Sample)| {
        let mut sample = keys(&[]);
        change(&mut sample);
        match read(&sample) {
            Err(Error::UnsupportedGguf { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(told(&|keys| _ = keys.text("llama.rope.scaling.type", "yarn")).contains("\"yarn\""));
    assert!(told(&|keys| _ = keys.unsigned("llama.expert_count", 8)).contains("8 experts"));
    assert!(
        told(&|keys| _ = keys.unsigned("llama.rope.dimension_count", 8))
            .contains("is 8, not the head size 16")
    );
    assert!(told(&|keys| _ = keys.unsigned("llama.attention.value_length", 32)).contains("is 32"));
    assert!(told(&|keys| _ = keys.unsigned("llama.attention.key_length", 20)).contains("20 values"));
    assert!(
        told(&|keys| _ = keys.unsigned("llama.attention.key_length", 1 << 31)).contains("2147483648 values")
    );
}

#[test]
fn what_cannot_be_right_is_refused() {
    let told = |sample: &Sample| match read(sample) {
        Err(Error::BrokenGguf { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    for key in
        ["block_count", "embedding_length", "feed_forward_length", "attention.head_count", "context_length"]
    {
        assert!(told(&keys(&[key])).contains(&format!("no key llama.{key}")));
        let mut zero = keys(&[key]);
        assert!(told(zero.unsigned(&format!("llama.{key}"), 0)).contains("is 0"));
        let mut huge = keys(&[key]);
        assert!(told(huge.unsigned(&format!("llama.{key}"), u32::MAX)).contains("is 4294967295"));
    }
    let mut heads = keys(&["attention.head_count"]);
    assert!(told(heads.unsigned("llama.attention.head_count", 5)).contains("cannot be shared among 5 heads"));
    assert!(told(keys(&[]).unsigned("llama.attention.head_count_kv", 3)).contains("cannot share 3 heads"));
    assert!(told(keys(&[]).integers("llama.attention.head_count_kv", &[2, 4])).contains("a list of numbers"));
    assert!(told(keys(&[]).number("llama.rope.freq_base", f32::NAN)).contains("rope.freq_base is NaN"));
    assert!(told(keys(&[]).number("llama.attention.layer_norm_rms_epsilon", 0.0)).contains("epsilon is 0"));
    assert!(told(keys(&[]).number("llama.rope.scaling.factor", -1.0)).contains("scaling.factor is -1"));
    let mut factors = keys(&[]);
    factors.tensor("rope_freqs.weight", TensorType::F32, &[8], &[0; 32]);
    assert!(told(&factors).contains("rope_freqs.weight holds 0"));
}
