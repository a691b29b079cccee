//! The plugin's own durable store.

use ebb_core::operations::LogLevel;
use ebb_store::{Collection as Stored, Store};
use wasmtime::component::{HasSelf, Linker, Resource};

use crate::{
    bindings::{
        self,
        store::{Chunk, Hit, Host, HostCollection, Query, StoredDocument},
        types::{Error, Vectors},
    },
    guest::{Guest, allowed, given},
    host::within,
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
        let working = tokio::task::spawn_blocking(move || work(&plugin.store.get()?));
        Ok(given!(within(working).await)?.map_err(|error| self.told(error)))
    }

    async fn in_collection<T: Send + 'static>(
        &mut self,
        collection: &Resource<Collection>,
        work: impl FnOnce(&Stored) -> Result<T, ebb_store::Error> + Send + 'static,
    ) -> wasmtime::Result<Result<T, Error>> {
        let Some(stored) = self.table.get(collection)?.stored.clone() else {
            return Ok(Err(Error::Invalid("this collection was closed".to_owned())));
        };
        let working = tokio::task::spawn_blocking(move || work(&stored));
        Ok(given!(within(working).await)?.map_err(|error| self.told(error)))
    }

    /// What the guest is told of a failure. Where its store lies is not its to know: that is in its log.
    fn told(&self, error: ebb_store::Error) -> Error {
        use ebb_store::Error as Told;
        let words = error.to_string();
        match error {
            Told::Quota { .. } => return Error::Busy(words),
            Told::Gone(_) => return Error::NotFound(words),
            Told::File { .. }
            | Told::Storage { .. }
            | Told::DiskFull { .. }
            | Told::InUse { .. }
            | Told::Foreign { .. }
            | Told::Damaged { .. }
            | Told::Newer { .. } => {}
            _ => return Error::Invalid(words),
        }
        self.plugin.log.on_call(LogLevel::Error, self.about(), &words);
        match error {
            Told::DiskFull { .. } => Error::Busy("the disk is full".to_owned()),
            Told::InUse { .. } => Error::Busy("another program uses the store".to_owned()),
            _ => Error::Failed("the store cannot be used: the plugin's log says why".to_owned()),
        }
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
    use ebb_core::Capability;

    use super::*;
    use crate::fake::{Scene, grant};

    fn scene() -> Scene {
        Scene::new(vec![grant(Capability::Store, &[])])
    }

    async fn open(guest: &mut Guest, name: &str, dimensions: u32) -> Result<Resource<Collection>, Error> {
        HostCollection::open(guest, name.to_owned(), dimensions).await.unwrap()
    }

    /// The handle once more, as a guest has it.
    fn same(collection: &Resource<Collection>) -> Resource<Collection> {
        Resource::new_own(collection.rep())
    }

    fn block(numbers: &[f32], dimensions: u32) -> Vectors {
        let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Vectors { dimensions, count: numbers.len() as u32 / dimensions, data }
    }

    fn text(id: &str, text: &str) -> Chunk {
        Chunk { id: id.to_owned(), text: text.to_owned(), metadata: "{}".to_owned() }
    }

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

    #[tokio::test]
    async fn what_was_committed_is_found_by_the_next_call() {
        let scene = scene();
        let mut guest = scene.guest();
        let notes = open(&mut guest, "notes", 2).await.unwrap();
        let (chunks, vectors) =
            (vec![text("0", "arenas"), text("1", "sessions")], block(&[1.0, 0.0, 0.0, 1.0], 2));
        guest.stage(same(&notes), "a.md".to_owned(), chunks, vectors).await.unwrap().unwrap();
        assert_eq!(guest.count(same(&notes)).await.unwrap().unwrap(), 0, "nothing before the commit");
        guest.commit(same(&notes), "a.md".to_owned(), "hash".to_owned()).await.unwrap().unwrap();
        drop(guest);
        let mut later = scene.guest();
        let notes = open(&mut later, "notes", 2).await.unwrap();
        let query = Query {
            text: Some("sessions".to_owned()),
            vector: Some(block(&[0.0, 1.0], 2)),
            limit: 1,
            documents: Vec::new(),
            more: Vec::new(),
        };
        let hits = later.search(same(&notes), query.clone()).await.unwrap().unwrap();
        assert_eq!((&hits[0].document[..], &hits[0].id[..]), ("a.md", "1"));
        let stored = later.documents(same(&notes)).await.unwrap().unwrap();
        assert_eq!((&stored[0].fingerprint[..], stored[0].chunks), ("hash", 2));
        let wish = Query { more: vec![("rerank".to_owned(), "yes".to_owned())], ..query };
        assert!(matches!(later.search(same(&notes), wish).await.unwrap(), Err(Error::Invalid(_))));
        assert_eq!(later.remove(same(&notes), "a.md".to_owned()).await.unwrap().unwrap(), 2);
        later.close(same(&notes)).await.unwrap();
        let closed = later.count(notes).await.unwrap();
        assert!(matches!(&closed, Err(Error::Invalid(why)) if why.contains("closed")), "{closed:?}");
        assert!(later.drop_collection("notes".to_owned()).await.unwrap().unwrap());
        assert!(!later.drop_collection("notes".to_owned()).await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn errors_are_those_of_the_contract() {
        let scene = scene();
        let mut guest = scene.guest();
        open(&mut guest, "notes", 2).await.unwrap();
        let other = open(&mut guest, "notes", 3).await.map(|collection| collection.rep());
        assert!(matches!(&other, Err(Error::Invalid(why)) if why.contains("2 numbers")), "{other:?}");
        let notes = open(&mut guest, "notes", 2).await.unwrap();
        guest.drop_collection("notes".to_owned()).await.unwrap().unwrap();
        assert!(matches!(guest.count(notes).await.unwrap(), Err(Error::NotFound(_))));
        for name in ["../other", "a/b", "", "x\0"] {
            let opened = open(&mut guest, name, 2).await.map(|collection| collection.rep());
            assert!(matches!(opened, Err(Error::Invalid(_))), "{name}: {opened:?}");
        }
        let set = guest.kv_set("key".to_owned(), vec![0; 17 << 20]).await.unwrap();
        assert!(matches!(set, Err(Error::Invalid(_))), "{set:?}");
        guest.kv_set("key".to_owned(), vec![7]).await.unwrap().unwrap();
        assert_eq!(guest.kv_get("key".to_owned()).await.unwrap().unwrap(), Some(vec![7]));
        guest.kv_delete("key".to_owned()).await.unwrap().unwrap();
        assert_eq!(guest.kv_get("key".to_owned()).await.unwrap().unwrap(), None);
        scene.plugin.grants.set(Vec::new());
        assert!(matches!(guest.kv_get("key".to_owned()).await.unwrap(), Err(Error::Denied(_))));
    }

    #[tokio::test]
    async fn where_the_store_lies_is_told_to_the_user_alone() {
        let scene = scene();
        let file = scene.folder.path().join("store.sqlite");
        std::fs::write(&file, "something else").unwrap();
        let got = scene.guest().kv_get("key".to_owned()).await.unwrap();
        assert!(matches!(&got, Err(Error::Failed(why)) if !why.contains("store.sqlite")), "{got:?}");
        let line = &scene.plugin.log.tail(1)[0];
        assert!(line.from_host && line.message.contains("store.sqlite"), "{line:?}");
    }
}
