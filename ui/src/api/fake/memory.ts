import type { FakeHost } from './host';
import type { Routes } from './routes';

/** What models hold, and giving it back. */
export const memoryRoutes = (host: FakeHost): Routes => ({
  'GET /ebb/v1/models/{alias}/stats': ({ path, query }) => {
    const model = host.loaded(path.alias ?? '');
    const now = host.sample(model);
    const history = Number(query.get('history') ?? 0);
    return {
      now,
      after_load: model.history[0] ?? now,
      history: history === 0 ? [] : model.history.slice(-history),
      queued: 0,
      unloads_in_ms: null,
      cap_retries: 0,
      shrinks: model.shrinks,
      freed_bytes: model.freed,
    };
  },
  'POST /ebb/v1/models/{alias}/shrink': ({ path }) => host.shrink(path.alias ?? ''),
  'POST /ebb/v1/models/{alias}/shrink-after-next-run': ({ path }) => {
    const model = host.loaded(path.alias ?? '');
    model.armed = true;
    return { model: path.alias, run: model.runs + 1 };
  },
  'GET /ebb/v1/models/{alias}/runtime-options': ({ path }) => options(host, path.alias ?? ''),
  'POST /ebb/v1/models/{alias}/runtime-options': ({ path, body }) => {
    const { key, value } = body as { key: string; value: string };
    const model = host.loaded(path.alias ?? '');
    if (value === '') delete model.runtime[key];
    else model.runtime[key] = value;
    host.tell(model.entry.alias, { event: 'runtime_option', key, value: value === '' ? null : value });
    return options(host, path.alias ?? '');
  },
});

function options(host: FakeHost, alias: string) {
  const lines = Object.entries(host.loaded(alias).runtime).map(([key, value]) => ({
    scope: 'run',
    key,
    requested: value,
    forwarded: value,
    effective: value,
    note: null,
    warning: null,
  }));
  return { model: alias, options: lines };
}
