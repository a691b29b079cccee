// {{name}}: answers questions about text files.
//
// What can be imported of the host is in `wit/`, in camel case. A u64 may be a Number or a BigInt: `Number(x)` does for both.

import { granted, read } from 'ebb:plugin/documents@0.1.0';
import { Generation, embed, models } from 'ebb:plugin/inference@0.1.0';
import { progress, setting } from 'ebb:plugin/plugin-host@0.1.0';
import { Collection } from 'ebb:plugin/store@0.1.0';

import { passages } from './passages.js';

const BLOCK_BYTES = 2 ** 20;
const BATCH = 16;
const PROMPT =
  'Answer the question from the numbered passages alone, and name the passages you used, like [1]. ' +
  'If they do not say, say so.';

/** The first model of a kind that was granted. */
function modelFor(kind) {
  const model = models().find((model) => model.kind === kind);
  if (!model) throw { tag: 'not-found', val: `no model for ${kind} was granted` };
  return model.alias;
}

function contentOf(document) {
  const blocks = [];
  let length = 0;
  for (;;) {
    const block = Uint8Array.from(read(document.id, length, BLOCK_BYTES));
    if (block.length === 0) break;
    blocks.push(block);
    length += block.length;
  }
  const content = new Uint8Array(length);
  let at = 0;
  for (const block of blocks) {
    content.set(block, at);
    at += block.length;
  }
  return content;
}

/** Changes whenever the content does (FNV-1a). */
function fingerprintOf(content) {
  let hash = 0x811c9dc5;
  for (const byte of content) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return `${content.length}-${hash.toString(16)}`;
}

/** UTF-8 as a string. QuickJS has no TextDecoder. */
function textOf(content) {
  let escaped = '';
  for (const byte of content) escaped += byte < 0x80 && byte !== 0x25 ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`;
  return decodeURIComponent(escaped);
}

/** Cuts a document into passages and keeps them, all or none. */
function add(collection, model, document, content, fingerprint) {
  const chunks = passages(textOf(content)).map(({ start, end, text }, number) => {
    return { id: String(number), text, metadata: JSON.stringify({ start, end }) };
  });
  for (let at = 0; at < chunks.length; at += BATCH) {
    const batch = chunks.slice(at, at + BATCH);
    collection.stage(document.name, batch, embed(model, batch.map((chunk) => chunk.text)));
  }
  collection.commit(document.name, fingerprint);
  return chunks.length;
}

function ingest() {
  const model = modelFor('embeddings');
  const collection = Collection.open('passages', embed(model, ['a']).dimensions);
  const known = new Map(collection.documents().map((stored) => [stored.document, stored.fingerprint]));
  const done = { documents: 0, chunks: 0, unchanged: 0, removed: 0, skipped: [], more: [] };
  const all = granted();
  all.forEach((document, number) => {
    progress(number / all.length, document.name);
    const before = known.get(document.name);
    known.delete(document.name);
    try {
      if (!document.mediaType.startsWith('text/')) throw `${document.mediaType} is not read`;
      const content = contentOf(document);
      const fingerprint = fingerprintOf(content);
      if (before === fingerprint) {
        done.unchanged += 1;
        return;
      }
      done.chunks += add(collection, model, document, content, fingerprint);
      done.documents += 1;
    } catch (error) {
      // What the host refuses stops the whole; a document of another kind, or that is no text, only itself.
      if (error.tag) throw error;
      done.skipped.push([document.name, String(error)]);
    }
  });
  for (const gone of known.keys()) {
    collection.remove(gone);
    done.removed += 1;
  }
  collection.close();
  return done;
}

class Answer {
  constructor(found, generation) {
    this.found = found;
    this.generation = generation;
  }

  static ask(question, history) {
    const vector = embed(modelFor('embeddings'), [question]);
    const collection = Collection.open('passages', vector.dimensions);
    const limit = JSON.parse(setting('passages') ?? '4');
    const found = collection.search({ text: question, vector, limit, documents: [], more: [] });
    collection.close();
    const numbered = found.map((hit, index) => `[${index + 1}] ${hit.text}`).join('\n\n');
    const messages = [{ role: 'system', content: PROMPT }];
    for (const [asked, answered] of history) {
      messages.push({ role: 'user', content: asked }, { role: 'assistant', content: answered });
    }
    messages.push({ role: 'user', content: `${numbered}\n\nQuestion: ${question}` });
    const options = {
      maxTokens: 400, temperature: 0, topP: null, topK: null, seed: null, stop: [], jsonSchema: null, more: [],
    };
    return new Answer(found, Generation.start(modelFor('chat'), messages, options));
  }

  citations() {
    return this.found.map((hit, index) => {
      const { start, end } = JSON.parse(hit.metadata);
      return { number: index + 1, document: hit.document, text: hit.text, start, end, score: hit.score };
    });
  }

  next() {
    return this.generation.next();
  }

  cancel() {
    this.generation.cancel();
  }
}

export const pipeline = { ingest, Answer };
