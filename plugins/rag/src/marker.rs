//! Which documents broke the reader. A trap ends the whole call and leaves nothing behind but what was written before it: so the
//! document that is about to be read is noted, and whoever finds the note afterwards knows.
//!
//! A host that is stopped at that moment leaves the same note. A document is therefore read once more, after all the others; only
//! when the second try does not end either, it is left out until it changes.

use std::collections::BTreeMap;

use ebb_plugin_sdk::Error;

use crate::host::Host;

const READING: &str = "reading";
const SUSPECTS: &str = "suspects";
/// Tries that a document has.
const TRIES: u32 = 2;

/// Documents that were being read when a call ended: the fingerprint, and how often.
#[derive(Debug)]
pub(crate) struct Suspects(BTreeMap<String, (String, u32)>);

impl Suspects {
    /// Reads the notes, and adds what the last call left behind.
    pub(crate) fn read(host: &impl Host) -> Result<Self, Error> {
        let value = |key: &str| host.kv_get(key).map(|value| value.unwrap_or_default());
        let mut suspects = Self(serde_json::from_slice(&value(SUSPECTS)?).unwrap_or_default());
        if let Ok((document, fingerprint)) = serde_json::from_slice::<(String, String)>(&value(READING)?) {
            let tries = suspects.tries(&document, &fingerprint);
            suspects.0.insert(document, (fingerprint, tries + 1));
            suspects.keep(host)?;
            host.kv_delete(READING)?;
        }
        Ok(suspects)
    }

    /// Whether a document is better read after the others.
    pub(crate) fn suspects(&self, document: &str) -> bool {
        self.0.contains_key(document)
    }

    /// Whether a document had its tries.
    pub(crate) fn is_given_up(&self, document: &str, fingerprint: &str) -> bool {
        self.tries(document, fingerprint) >= TRIES
    }

    fn tries(&self, document: &str, fingerprint: &str) -> u32 {
        self.0.get(document).filter(|(known, _)| known == fingerprint).map_or(0, |(_, tries)| *tries)
    }

    /// Notes that a document is about to be read.
    pub(crate) fn begin(&self, host: &impl Host, document: &str, fingerprint: &str) -> Result<(), Error> {
        host.kv_set(READING, &json(&(document, fingerprint))?)
    }

    /// It was read, to whatever end.
    pub(crate) fn end(&mut self, host: &impl Host, document: &str) -> Result<(), Error> {
        host.kv_delete(READING)?;
        if self.0.remove(document).is_some() {
            self.keep(host)?;
        }
        Ok(())
    }

    fn keep(&self, host: &impl Host) -> Result<(), Error> {
        host.kv_set(SUSPECTS, &json(&self.0)?)
    }
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| Error::Failed(error.to_string()))
}
