//! Fifty texts and the vectors that all-MiniLM-L6-v2 gives for them, by a forward pass in NumPy that shares no code with
//! Ebb (`models/reference_vectors.py`): mean over the tokens, length 1, at most 256 tokens.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The fifty texts, short and long, in many scripts.
pub fn texts() -> Vec<String> {
    let json = fs::read(path("reference_texts.json")).expect("the texts are in the checkout");
    serde_json::from_slice(&json).expect("the texts are a JSON list")
}

/// Their vectors, in the same order.
pub fn vectors() -> Vec<Vec<f32>> {
    read_npy(&path("reference_vectors.npy"))
}

/// The rows of a two-dimensional little-endian f32 array in NumPy's format. Panics on any other.
pub fn read_npy(file: &Path) -> Vec<Vec<f32>> {
    let bytes = fs::read(file).expect("the file can be read");
    assert!(bytes.starts_with(b"\x93NUMPY\x01"), "{} is not an .npy file of version 1", file.display());
    let data_start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..data_start]);
    assert!(header.contains("'descr': '<f4'") && header.contains("'fortran_order': False"), "{header}");
    let shape =
        header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')')).expect("a shape").0;
    let shape: Vec<usize> = shape.split(',').map(|size| size.trim().parse().expect("two sizes")).collect();
    let values = bytes[data_start..]
        .chunks_exact(4)
        .map(|value| f32::from_le_bytes([value[0], value[1], value[2], value[3]]));
    let values: Vec<f32> = values.collect();
    assert_eq!(values.len(), shape[0] * shape[1], "{} is cut short", file.display());
    values.chunks_exact(shape[1]).map(<[f32]>::to_vec).collect()
}

/// Cosine of the angle between two vectors.
pub fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_a_vector_of_length_one() {
        let (texts, vectors) = (texts(), vectors());
        assert_eq!((texts.len(), vectors.len()), (50, 50));
        for vector in &vectors {
            assert_eq!(vector.len(), 384);
            let length: f32 = vector.iter().map(|value| value * value).sum();
            assert!((length - 1.0).abs() < 1e-5, "{length}");
        }
    }

    #[test]
    fn kindred_texts_lie_closer_than_others() {
        let vectors = vectors();
        let near = cosine(&vectors[0], &vectors[1]);
        let far = cosine(&vectors[0], &vectors[2]);
        assert!(near > 0.6 && far < 0.3, "{near} {far}");
    }
}
