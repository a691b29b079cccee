//! Where chunks are kept: a collection for each embedding model. Vectors of two models cannot be compared, whatever their length,
//! so a new model begins a new collection, and the old one goes once the new one is complete.

use ebb_plugin_sdk::{Error, Level, inference::Vectors};
use sha2::{Digest, Sha256};

use crate::host::Host;

/// Key of the names of all collections, as JSON.
const COLLECTIONS: &str = "collections";
/// What tells whether a name still stands for the same model: its vector of this.
const PROBE: &str = "The same words give the same numbers as long as the model is the same.";
/// Cosine from which two vectors of the probe are of the same model; another device rounds otherwise, another model differs more.
const SAME: f32 = 0.995;

/// The collection of one model.
#[derive(Debug)]
pub(crate) struct Index<C> {
    pub(crate) collection: C,
    name: String,
}

/// Opens the collection of a model to write into it. It begins anew where the model behind the name has changed.
pub(crate) fn open<H: Host>(host: &H, model: &str) -> Result<Index<H::Collection>, Error> {
    let probe = host.embed(model, &[PROBE.to_owned()])?;
    let name = name(model, probe.dimensions);
    let key = format!("probe/{name}");
    if let Some(before) = host.kv_get(&key)?
        && cosine(&before, &probe.data) < SAME
    {
        host.log(Level::Warn, &format!("'{model}' is another model than before: its index begins anew"));
        host.drop_collection(&name)?;
    }
    let mut names = names(host)?;
    if !names.contains(&name) {
        names.push(name.clone());
        keep_names(host, &names)?;
    }
    host.kv_set(&key, &probe.data)?;
    Ok(Index { collection: host.open(&name, probe.dimensions)?, name })
}

/// Opens the collection of a model to search in it, with a vector of the model; `None` where nothing was ever put into it.
pub(crate) fn find<H: Host>(
    host: &H,
    model: &str,
    vectors: &Vectors,
) -> Result<Option<H::Collection>, Error> {
    let name = name(model, vectors.dimensions);
    if !names(host)?.contains(&name) {
        return Ok(None);
    }
    let collection = host.open(&name, vectors.dimensions)?;
    Ok(Some(collection))
}

/// Drops the collections of other models; says how many.
pub(crate) fn drop_others<H: Host>(host: &H, index: &Index<H::Collection>) -> Result<u64, Error> {
    let (kept, others): (Vec<_>, Vec<_>) = names(host)?.into_iter().partition(|name| *name == index.name);
    for name in &others {
        host.drop_collection(name)?;
        host.kv_delete(&format!("probe/{name}"))?;
    }
    if !others.is_empty() {
        keep_names(host, &kept)?;
    }
    Ok(others.len() as u64)
}

fn names(host: &impl Host) -> Result<Vec<String>, Error> {
    let names = host.kv_get(COLLECTIONS)?;
    Ok(names.and_then(|names| serde_json::from_slice(&names).ok()).unwrap_or_default())
}

fn keep_names(host: &impl Host, names: &[String]) -> Result<(), Error> {
    let json = serde_json::to_vec(names).map_err(|error| Error::Failed(error.to_string()))?;
    host.kv_set(COLLECTIONS, &json)
}

/// The name of a model's collection: at most 64 of the characters that one may have, and different for different models.
fn name(model: &str, dimensions: u32) -> String {
    let known = |char: char| if char.is_ascii_alphanumeric() || "-_.".contains(char) { char } else { '_' };
    let readable: String = model.chars().map(known).take(32).collect();
    let hash =
        if readable == model { String::new() } else { format!(".{}", &hex(&Sha256::digest(model))[..12]) };
    format!("{readable}{hash}.{dimensions}")
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Cosine of two vectors of normal length; 0 where they are of different lengths.
fn cosine(a: &[u8], b: &[u8]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    floats(a).iter().zip(floats(b)).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_has_a_collection_of_its_own() {
        assert_eq!(name("minilm", 384), "minilm.384");
        let long = "a/".repeat(40);
        assert!(name(&long, 1024).len() <= 64, "{}", name(&long, 1024));
        assert_ne!(name("a/b", 384), name("a:b", 384));
        assert_ne!(name("a/b", 384), name("a_b", 384));
    }
}
