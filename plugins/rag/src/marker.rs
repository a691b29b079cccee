//! Which documents broke the reader. A trap ends the whole call and leaves nothing behind but what was written before it: so the
//! document that is about to be read is noted, and whoever finds the note afterwards knows.
//!
//! The call that finds it leaves the document out. A host that is stopped at that moment leaves the same note, and so does a person
//! who ends the call: the call after that reads the document once more, behind all the others. Only when the second try does not
//! end either, it is left out until it changes.

use std::collections::BTreeMap;

use ebb_plugin_sdk::Error;

use crate::host::Host;

const READING: &str = "reading";
const SUSPECTS: &str = "suspects";
/// Tries that a document has.
const TRIES: u32 = 2;

/// Documents that were being read when a call ended.
#[derive(Debug)]
pub(crate) struct Suspects {
    /// The fingerprint of each, and how often.
    counted: BTreeMap<String, (String, u32)>,
    /// The one that the last call left behind.
    newest: Option<String>,
}

impl Suspects {
    /// Reads the notes, and adds what the last call left behind.
    pub(crate) fn read(host: &impl Host) -> Result<Self, Error> {
        let value = |key: &str| host.kv_get(key).map(|value| value.unwrap_or_default());
        let counted = serde_json::from_slice(&value(SUSPECTS)?).unwrap_or_default();
        let mut suspects = Self { counted, newest: None };
        if let Ok((document, fingerprint)) = serde_json::from_slice::<(String, String)>(&value(READING)?) {
            let tries = suspects.tries(&document, &fingerprint);
            suspects.counted.insert(document.clone(), (fingerprint, tries + 1));
            suspects.newest = Some(document);
            suspects.keep(host)?;
            host.kv_delete(READING)?;
        }
        Ok(suspects)
    }

    /// Whether a document is better read after the others.
    pub(crate) fn suspects(&self, document: &str) -> bool {
        self.counted.contains_key(document)
    }

    /// Why a document is not to be read now, if that is so.
    pub(crate) fn against(&self, document: &str, fingerprint: &str) -> Option<&'static str> {
        match self.tries(document, fingerprint) {
            0 => None,
            TRIES.. => Some("it broke the reader twice; it is tried again once it changes"),
            _ if self.newest.as_deref() == Some(document) => {
                Some("the last update ended while it was read; the next one tries it once more")
            }
            _ => None,
        }
    }

    fn tries(&self, document: &str, fingerprint: &str) -> u32 {
        self.counted.get(document).filter(|(known, _)| known == fingerprint).map_or(0, |(_, tries)| *tries)
    }

    /// Notes that a document is about to be read.
    pub(crate) fn begin(&self, host: &impl Host, document: &str, fingerprint: &str) -> Result<(), Error> {
        host.kv_set(READING, &json(&(document, fingerprint))?)
    }

    /// It was read, to whatever end.
    pub(crate) fn end(&mut self, host: &impl Host, document: &str) -> Result<(), Error> {
        host.kv_delete(READING)?;
        if self.counted.remove(document).is_some() {
            self.keep(host)?;
        }
        Ok(())
    }

    fn keep(&self, host: &impl Host) -> Result<(), Error> {
        host.kv_set(SUSPECTS, &json(&self.counted)?)
    }
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| Error::Failed(error.to_string()))
}
