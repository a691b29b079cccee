import type { DemoModel, PullPiece, PullProgress } from '../generated/schema';
import type { LoadOptions } from '../types';
import type { FakeHost } from './host';
import { problemsOf } from './options';
import { Refusal, type Routes, lines } from './routes';

const MiB = 1024 * 1024;

/** Models: listing, adding, loading, unloading. */
export const modelRoutes = (host: FakeHost, pace = { every_ms: 0 }): Routes => ({
  'GET /ebb/v1/models': () => ({ models: [...host.models.values()].map((model) => model.entry) }),
  'POST /ebb/v1/models': ({ body }) => {
    const { path, alias } = body as { path: string; alias?: string };
    return added(host, path, alias);
  },
  'POST /ebb/v1/models/import': ({ body }) => {
    const { path, alias } = body as { path: string; alias?: string | null };
    if (!path.startsWith('/')) {
      const message = `${path} is not an absolute path`;
      throw new Refusal(400, 'invalid_request', message, 'give the whole path', 'path');
    }
    const isForeign = /\.(gguf|safetensors)$/i.test(path);
    return lines(
      work(isForeign ? ['importing', 'verifying'] : [], path, () => added(host, path, alias)),
      pace.every_ms,
    );
  },
  'POST /ebb/v1/models/pull': ({ body }) => {
    const { model, alias } = body as { model: string; alias?: string | null };
    if (!/^hf:[^/\s]+\/[^/\s]+$/.test(model)) {
      const message = `'${model}' is not a name of the Hub`;
      throw new Refusal(400, 'invalid_request', message, 'write it as hf:ORG/NAME', 'model');
    }
    const name = model.split('/').at(-1)?.replace(/:.*/, '') ?? model;
    const path = `/data/me/.local/share/ebb/models/${name}`;
    return lines(
      work(['downloading'], 'model.onnx', () => added(host, path, alias ?? name)),
      pace.every_ms,
    );
  },
  'GET /ebb/v1/demo-models': () => ({ models: demos(host) }),
  'GET /ebb/v1/models/{alias}': ({ path }) => host.model(path.alias ?? '').entry,
  'DELETE /ebb/v1/models/{alias}': ({ path }) => {
    const { entry } = host.model(path.alias ?? '');
    host.models.delete(entry.alias);
    host.tell(entry.alias, { event: 'removed' });
    return entry;
  },
  'POST /ebb/v1/models/{alias}/load': async ({ path, query, body }) => {
    const alias = path.alias ?? '';
    const options = (body ?? {}) as LoadOptions;
    const { entry } = host.model(alias);
    if (entry.state === 'loaded' && query.get('force') !== 'true') {
      if (JSON.stringify(entry.options) !== JSON.stringify(options)) {
        throw new Refusal(409, 'conflict', `'${alias}' is loaded with other options`, 'force it');
      }
      return { info: entry.info, sample: host.sample(host.model(alias)), already_loaded: true, warnings: [] };
    }
    const error = problemsOf(host.model(alias), options).find(({ severity }) => severity === 'error');
    if (error !== undefined) {
      throw new Refusal(400, 'invalid_value', error.message, error.hint, error.field?.split('.').at(-1));
    }
    if (pace.every_ms > 0) await new Promise((next) => setTimeout(next, 20 * pace.every_ms));
    const model = host.load(alias, options);
    return { info: model.entry.info, sample: host.sample(model), already_loaded: false, warnings: [] };
  },
  'POST /ebb/v1/models/{alias}/unload': ({ path }) => {
    const freed_bytes = host.unload(path.alias ?? '');
    return { model: path.alias, freed_bytes, worker_gone: true, took_ms: 12, warnings: [] };
  },
});

function added(host: FakeHost, path: string, alias?: string | null) {
  const name = alias ?? path.split('/').at(-1) ?? path;
  if (host.models.has(name)) {
    const hint = 'choose another alias, or remove that model first';
    throw new Refusal(409, 'already_exists', `there is a model '${name}' already`, hint, 'alias');
  }
  host.tell(name, { event: 'added', kind: 'embeddings' });
  return host.add(name, 'embeddings', 64 * MiB, path).entry;
}

/** A long work, stage by stage, and the model at its end. */
function* work(stages: PullProgress['stage'][], file: string, end: () => unknown): Generator<PullPiece> {
  const whole = 80 * MiB;
  for (const stage of stages) {
    for (let done_bytes = 0; done_bytes <= whole; done_bytes += 2 * MiB) {
      yield { progress: { stage, file, done_bytes, total_bytes: whole, reason: null } };
    }
  }
  try {
    yield { report: end() } as PullPiece;
  } catch (thrown) {
    const { code, message, hint, param } = thrown as Refusal;
    yield { error: { code, message, hint, param, type: 'invalid_request_error' } } as PullPiece;
  }
}

function demos(host: FakeHost): DemoModel[] {
  const at = (path: string) =>
    [...host.models.values()].find(({ entry }) => entry.path === path)?.entry.alias ?? null;
  const minilm = '/models/all-MiniLM-L6-v2';
  return [
    {
      alias: 'minilm',
      name: 'all-MiniLM-L6-v2',
      kind: 'embeddings',
      description: 'Turns sentences into vectors that are near where their meaning is.',
      bytes: 88 * MiB,
      licence: 'Apache-2.0',
      added: at(minilm),
      path: minilm,
      pull: 'hf:sentence-transformers/all-MiniLM-L6-v2',
    },
    {
      alias: 'smollm2',
      name: 'SmolLM2-135M-Instruct',
      kind: 'chat',
      description: 'A very small chat model.',
      bytes: 212 * MiB,
      licence: 'Apache-2.0',
      added: at('/models/SmolLM2-135M-Instruct'),
      path: null,
      pull: 'hf:HuggingFaceTB/SmolLM2-135M-Instruct',
    },
    {
      alias: 'moonshine',
      name: 'Moonshine tiny',
      kind: 'audio',
      description: 'Writes down what is said in English.',
      bytes: 104 * MiB,
      licence: 'MIT',
      added: at('/models/moonshine-tiny'),
      path: null,
      pull: null,
    },
  ];
}
