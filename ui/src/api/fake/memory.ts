import type { ShrinkRequest } from '../generated/schema';
import { CATALOGUE } from './catalogue';
import type { FakeHost } from './host';
import { Refusal, type Routes } from './routes';

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
      shrink_after_run: model.armed ? model.runs + 1 : null,
      cap_retries: 0,
      shrinks: model.shrinks,
      freed_bytes: model.freed,
    };
  },
  'POST /ebb/v1/models/{alias}/shrink': ({ path, body }) =>
    host.shrink(path.alias ?? '', 'request', (body as ShrinkRequest | null)?.targets),
  'POST /ebb/v1/models/shrink-all': () => {
    const loaded = [...host.models.values()].filter(({ entry }) => entry.state === 'loaded');
    const reports = loaded.map(({ entry }) => host.shrink(entry.alias));
    return {
      reports,
      failed: [],
      freed_bytes: reports.reduce((sum, { freed_bytes }) => sum + freed_bytes, 0),
    };
  },
  'POST /ebb/v1/models/{alias}/shrink-after-next-run': ({ path }) => {
    const model = host.loaded(path.alias ?? '');
    model.armed = true;
    return { model: path.alias, run: model.runs + 1 };
  },
  'GET /ebb/v1/models/{alias}/runtime-options': ({ path }) => options(host, path.alias ?? ''),
  'POST /ebb/v1/models/{alias}/runtime-options': ({ path, body }) => {
    const { key, value } = body as { key: string; value: string };
    if (key === SHRINKAGE && value !== '' && !/^(cpu|gpu):\d+(;(cpu|gpu):\d+)*$/.test(value)) {
      const message = `'${value}' is no shrink target`;
      throw new Refusal(
        400,
        'invalid_target',
        message,
        'write cpu:0, or gpu:0, or both joined by a semicolon',
        key,
      );
    }
    const model = host.loaded(path.alias ?? '');
    if (value === '') delete model.runtime[key];
    else model.runtime[key] = value;
    host.tell(model.entry.alias, { event: 'runtime_option', key, value: value === '' ? null : value });
    return options(host, path.alias ?? '');
  },
});

const SHRINKAGE = 'memory.enable_memory_arena_shrinkage';

function options(host: FakeHost, alias: string) {
  const known = CATALOGUE.filter(({ scope }) => scope === 'run').map(({ key }) => key);
  const lines = Object.entries(host.loaded(alias).runtime).map(([key, value]) => ({
    scope: 'run',
    key,
    requested: value,
    forwarded: `${key}=${value}`,
    effective: known.includes(key) ? value : 'no known effect',
    note: known.includes(key)
      ? null
      : `unknown to Ebb's catalogue; forwarded as typed; nearest known key: ${SHRINKAGE}`,
    warning: !known.includes(key),
  }));
  return { model: alias, options: lines };
}
