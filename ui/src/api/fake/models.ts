import type { LoadOptions } from '../types';
import type { FakeHost } from './host';
import { Refusal, type Routes } from './routes';

/** Models: listing, adding, loading, unloading. */
export const modelRoutes = (host: FakeHost): Routes => ({
  'GET /ebb/v1/models': () => ({ models: [...host.models.values()].map((model) => model.entry) }),
  'POST /ebb/v1/models': ({ body }) => {
    const { path, alias } = body as { path: string; alias?: string };
    const name = alias ?? path.split('/').at(-1) ?? path;
    if (host.models.has(name)) throw new Refusal(409, 'conflict', `a model is named '${name}' already`);
    return host.add(name, 'embeddings', 64 * 1024 * 1024, path).entry;
  },
  'GET /ebb/v1/models/{alias}': ({ path }) => host.model(path.alias ?? '').entry,
  'DELETE /ebb/v1/models/{alias}': ({ path }) => {
    const { entry } = host.model(path.alias ?? '');
    host.models.delete(entry.alias);
    return entry;
  },
  'POST /ebb/v1/models/{alias}/load': ({ path, body }) => {
    const model = host.load(path.alias ?? '', (body ?? {}) as LoadOptions);
    return { info: model.entry.info, sample: host.sample(model), already_loaded: false, warnings: [] };
  },
  'POST /ebb/v1/models/{alias}/unload': ({ path }) => {
    const freed_bytes = host.unload(path.alias ?? '');
    return { model: path.alias, freed_bytes, worker_gone: true, took_ms: 12, warnings: [] };
  },
});
