"""{{name}}: answers questions about text files. This is the reading; the answering is in `pipeline.py`.

What `wit_world` offers is made from `wit/`. Import at the top: once the component runs there are no files to import from.
"""

import hashlib
import json

from wit_world.exports.pipeline import Ingested
from wit_world.imports import documents, inference, plugin_host
from wit_world.imports.store import Chunk

from passages import passages
from pipeline import index, model_for

BLOCK_BYTES = 1 << 20
BATCH = 16


def read(document) -> bytes:
    content = b""
    while block := documents.read(document.id, len(content), BLOCK_BYTES):
        content += block
    return content


def add(collection, model, document, content, fingerprint) -> int:
    """Cuts a document into passages and keeps them, all or none."""
    chunks = [
        Chunk(str(number), text, json.dumps({"start": start, "end": end}))
        for number, (start, end, text) in enumerate(passages(content.decode("utf-8", "replace")))
    ]
    for at in range(0, len(chunks), BATCH):
        batch = chunks[at : at + BATCH]
        collection.stage(document.name, batch, inference.embed(model, [chunk.text for chunk in batch]))
    collection.commit(document.name, fingerprint)
    return len(chunks)


class Pipeline:
    def ingest(self):
        model = model_for("embeddings")
        collection = index(inference.embed(model, ["a"]).dimensions)
        known = {stored.document: stored.fingerprint for stored in collection.documents()}
        done = Ingested(documents=0, chunks=0, unchanged=0, removed=0, skipped=[], more=[])
        granted = documents.granted()
        for number, document in enumerate(granted):
            plugin_host.progress(number / len(granted), document.name)
            if not document.media_type.startswith("text/"):
                known.pop(document.name, None)
                done.skipped.append((document.name, f"{document.media_type} is not read"))
                continue
            content = read(document)
            fingerprint = hashlib.sha256(content).hexdigest()
            if known.pop(document.name, None) == fingerprint:
                done.unchanged += 1
                continue
            done.chunks += add(collection, model, document, content, fingerprint)
            done.documents += 1
        for gone in known:
            collection.remove(gone)
            done.removed += 1
        return done
