//! The plugin's own durable store.

use ebb_core::Failure;
use ebb_store::{Collection as Stored, Store};
use wasmtime::component::{HasSelf, Linker, Resource};

use crate::{
    bindings::{
        self,
        store::{Chunk, Hit, Host, HostCollection, Query, StoredDocument},
        types::{Error, Vectors},
    },
    guest::{Guest, allowed, given},
};

/// Most documents that a search can be kept to.
const MAX_DOCUMENTS: usize = 100_000;

/// An open collection.
pub struct Collection {
    /// None once it was closed.
    stored: Option<Stored>,
}

impl Host for Guest {
    async fn drop_collection(&mut self, name: String) -> wasmtime::Result<Result<bool, Error>> {
        allowed!(self, Store, None);
        self.in_store(move |store| store.drop_collection(&name)).await
    }

    async fn kv_get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, Error>> {
        allowed!(self, Store, None);
        self.in_store(move |store| store.kv_get(&key)).await
    }

    async fn kv_set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), Error>> {
        allowed!(self, Store, None);
        given!(self.fits(value.len()));
        self.in_store(move |store| store.kv_set(&key, &value)).await
    }

    async fn kv_delete(&mut self, key: String) -> wasmtime::Result<Result<(), Error>> {
        allowed!(self, Store, None);
        self.in_store(move |store| store.kv_delete(&key)).await
    }
}

impl HostCollection for Guest {
    async fn open(
        &mut self,
        name: String,
        dimensions: u32,
    ) -> wasmtime::Result<Result<Resource<Collection>, Error>> {
        allowed!(self, Store, None);
        let stored = given!(self.in_store(move |store| store.collection(&name, dimensions)).await?);
        Ok(Ok(self.push(Collection { stored: Some(stored) })?))
    }

    async fn stage(
        &mut self,
        collection: Resource<Collection>,
        document: String,
        chunks: Vec<Chunk>,
        vectors: Vectors,
    ) -> wasmtime::Result<Result<(), Error>> {
        allowed!(self, Store, None);
        let text: usize = chunks.iter().map(|chunk| chunk.text.len() + chunk.metadata.len()).sum();
        given!(self.fits(text.saturating_add(vectors.data.len())));
        let numbers = given!(numbers(&vectors, chunks.len()));
        let chunks: Vec<ebb_store::Chunk> = chunks.into_iter().map(chunk).collect();
        self.in_collection(&collection, move |stored| stored.stage(&document, &chunks, &numbers)).await
    }

    async fn commit(
        &mut self,
        collection: Resource<Collection>,
        document: String,
        fingerprint: String,
    ) -> wasmtime::Result<Result<(), Error>> {
        allowed!(self, Store, None);
        self.in_collection(&collection, move |stored| stored.commit(&document, &fingerprint)).await
    }

    async fn remove(
        &mut self,
        collection: Resource<Collection>,
        document: String,
    ) -> wasmtime::Result<Result<u64, Error>> {
        allowed!(self, Store, None);
        self.in_collection(&collection, move |stored| stored.remove(&document)).await
    }

    async fn documents(
        &mut self,
        collection: Resource<Collection>,
    ) -> wasmtime::Result<Result<Vec<StoredDocument>, Error>> {
        allowed!(self, Store, None);
        let found = given!(self.in_collection(&collection, Stored::documents).await?);
        let told = found.into_iter().map(|one| StoredDocument {
            document: one.document,
            fingerprint: one.fingerprint,
            chunks: one.chunks,
        });
        Ok(Ok(told.collect()))
    }

    async fn search(
        &mut self,
        collection: Resource<Collection>,
        query: Query,
    ) -> wasmtime::Result<Result<Vec<Hit>, Error>> {
        allowed!(self, Store, None);
        let query = given!(self.query(query));
        let hits = given!(self.in_collection(&collection, move |stored| stored.search(&query)).await?);
        Ok(Ok(hits.into_iter().map(hit).collect()))
    }

    async fn count(&mut self, collection: Resource<Collection>) -> wasmtime::Result<Result<u64, Error>> {
        allowed!(self, Store, None);
        self.in_collection(&collection, Stored::count).await
    }

    async fn close(&mut self, collection: Resource<Collection>) -> wasmtime::Result<()> {
        self.limiter.count_host_call()?;
        self.table.get_mut(&collection)?.stored = None;
        Ok(())
    }

    async fn drop(&mut self, collection: Resource<Collection>) -> wasmtime::Result<()> {
        self.table.delete(collection)?;
        Ok(())
    }
}

impl Guest {
    /// Works on the plugin's store, on a thread that may wait for the disk.
    async fn in_store<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Store) -> Result<T, ebb_store::Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let plugin = std::sync::Arc::clone(&self.plugin);
        let done = tokio::task::spawn_blocking(move || work(&plugin.store()?)).await?;
        Ok(done.map_err(|error| Error::from(Failure::from(error))))
    }

    async fn in_collection<T: Send + 'static>(
        &mut self,
        collection: &Resource<Collection>,
        work: impl FnOnce(&Stored) -> Result<T, ebb_store::Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let Some(stored) = self.table.get(collection)?.stored.clone() else {
            return Ok(Err(Error::Invalid("this collection was closed".to_owned())));
        };
        let done = tokio::task::spawn_blocking(move || work(&stored)).await?;
        Ok(done.map_err(|error| Error::from(Failure::from(error))))
    }

    fn query(&self, query: Query) -> Result<ebb_store::Query, Error> {
        let named: usize = query.documents.iter().map(String::len).sum();
        self.fits(named.saturating_add(query.text.as_ref().map_or(0, String::len)))?;
        if query.documents.len() > MAX_DOCUMENTS {
            return Err(Error::Invalid(format!("a search can be kept to {MAX_DOCUMENTS} documents at most")));
        }
        if let Some((name, _)) = query.more.first() {
            return Err(Error::Invalid(format!("there is no further wish '{}'", name.escape_debug())));
        }
        let vector = query.vector.map(|vector| numbers(&vector, 1)).transpose()?;
        Ok(ebb_store::Query { text: query.text, vector, limit: query.limit, documents: query.documents })
    }
}

/// The numbers of a block that must hold `count` vectors. Nothing is made before the block's length was checked.
fn numbers(vectors: &Vectors, count: usize) -> Result<Vec<f32>, Error> {
    let told = u64::from(vectors.count) * u64::from(vectors.dimensions);
    if vectors.count as usize != count {
        return Err(Error::Invalid(format!("{} vectors for {count} chunks or queries", vectors.count)));
    }
    if told.checked_mul(size_of::<f32>() as u64) != Some(vectors.data.len() as u64) {
        let (count, dimensions, bytes) = (vectors.count, vectors.dimensions, vectors.data.len());
        return Err(Error::Invalid(format!("{count} vectors of {dimensions} f32 are not {bytes} bytes")));
    }
    Ok(vectors.data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn chunk(chunk: Chunk) -> ebb_store::Chunk {
    ebb_store::Chunk { id: chunk.id, text: chunk.text, metadata: chunk.metadata }
}

fn hit(hit: ebb_store::Hit) -> Hit {
    let ebb_store::Hit { document, id, text, metadata, score } = hit;
    Hit { document, id, text, metadata, score }
}

/// Offers it.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    bindings::store::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_lies_about_its_length_is_refused_before_anything_is_made() {
        let block = |dimensions, count, bytes| Vectors { dimensions, count, data: vec![0; bytes] };
        assert_eq!(numbers(&block(2, 1, 8), 1).unwrap(), [0.0, 0.0]);
        for (vectors, count) in [
            (block(2, 1, 7), 1),
            (block(2, 2, 8), 1),
            (block(u32::MAX, u32::MAX, 8), u32::MAX as usize),
            (block(u32::MAX, 1, 0), 1),
        ] {
            assert!(matches!(numbers(&vectors, count), Err(Error::Invalid(_))), "{vectors:?}");
        }
    }
}
