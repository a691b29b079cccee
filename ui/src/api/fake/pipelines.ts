import type { AskRequest } from '../generated/schema';
import type { FakePlugins } from './plugins';
import { lines, Refusal, type Routes } from './routes';
import { PASSAGES, type Pace } from './work';

const DOCUMENTS = ['handbook/memory.md', 'handbook/policies/idle.md', 'handbook/scan.pdf'];

/** What pipelines are asked: to ingest documents, and to answer questions about them. */
export function pipelineRoutes(plugins: FakePlugins, pace: Pace): Routes {
  let indexed = 0;
  const paths = (id: string) =>
    plugins.of(id).capabilities.find(({ capability }) => capability === 'documents')?.granted?.paths ?? [];
  const allowed = (id: string) => {
    const state = plugins.of(id).capabilities.find(({ capability }) => capability === 'inference.embed');
    plugins.used(id, 'inference.embed');
    if (state?.granted != null) return;
    throw new Refusal(403, 'forbidden', `'${id}' was not granted inference.embed`, 'grant it on a model');
  };

  async function* ingested(id: string) {
    for (const [index, message] of DOCUMENTS.entries()) {
      plugins.used(id, 'documents');
      yield { progress: { fraction: index / DOCUMENTS.length, message } };
    }
    indexed = 2;
    plugins.change(id, { store_bytes: 1_400_000, memory_bytes: 9_000_000, cpu_us: 184_000 });
    plugins.say(id, 'warn', 'handbook/scan.pdf is left out: it has no text');
    const skipped = [{ document: 'handbook/scan.pdf', reason: 'it has no text: it is scanned' }];
    yield {
      report: {
        documents: 2,
        chunks: 31,
        unchanged: 0,
        removed: 0,
        skipped,
        more: { tokens: 4211 },
        took_ms: 1840,
      },
    };
  }

  async function* answered(id: string, question: string) {
    plugins.used(id, 'inference.generate');
    yield { progress: { fraction: 0.1, message: 'looking for passages' } };
    if (indexed === 0) {
      yield { text: 'Nothing is indexed yet.' };
      yield { done: { took_ms: 12 } };
      return;
    }
    yield { citations: PASSAGES };
    const answer = `About “${question}”: an arena keeps what it has once taken [1]. A policy can give it back [2].`;
    for (const text of answer.match(/\S+\s*/g) ?? []) yield { text };
    yield { done: { took_ms: 2310 } };
  }

  return {
    'GET /ebb/v1/plugins/{id}/index': ({ path }) => {
      const entry = plugins.of(path.id ?? '');
      const collection = {
        name: 'minilm-384',
        dimensions: 384,
        documents: indexed,
        chunks: indexed === 0 ? 0 : 31,
      };
      return {
        plugin: entry.manifest.id,
        collections: indexed === 0 ? [] : [collection],
        store_bytes: entry.store_bytes,
        index_memory_bytes: indexed === 0 ? 0 : 47_616,
        paths: paths(entry.manifest.id),
        running: null,
      };
    },
    'POST /ebb/v1/plugins/{id}/ingest': ({ path }) => {
      allowed(path.id ?? '');
      return lines(ingested(path.id ?? ''), pace.every_ms);
    },
    'POST /ebb/v1/plugins/{id}/ask': ({ path, body }) => {
      allowed(path.id ?? '');
      return lines(answered(path.id ?? '', (body as AskRequest).question ?? ''), pace.every_ms);
    },
  };
}
