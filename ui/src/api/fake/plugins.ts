import type { Grant, PluginEntry, PluginLogLine, PluginManifest } from '../types';
import type { FakeHost } from './host';
import { lines, Refusal, type Routes } from './routes';
import { recording, replay } from './replay';
import { MEANING, SHIPPED } from './shipped';

const MiB = 1024 * 1024;

const LIMITS = {
  memory_bytes: 64 * MiB,
  table_elements: 20_000,
  handles: 1000,
  cpu_ms: 5,
  call_ms: 50,
  host_calls_per_s: 10_000,
  payload_bytes: 16 * MiB,
  store_bytes: 1024 * MiB,
  log_bytes: MiB,
};

/** Plugins of the recorded host. */
export class FakePlugins {
  readonly entries = new Map<string, PluginEntry>();
  readonly logs = new Map<string, PluginLogLine[]>();
  /** Ids of the policies of a model, first to last. */
  readonly order = new Map<string, string[]>();
  #listeners = new Set<(id: string, line: PluginLogLine) => void>();
  #seq = 0;

  constructor(readonly host: FakeHost) {
    for (const manifest of SHIPPED) this.add(manifest, 'bundled');
  }

  add(manifest: PluginManifest, origin: PluginEntry['origin'], path = ''): PluginEntry {
    const entry: PluginEntry = {
      manifest,
      origin,
      path: path === '' ? `/usr/lib/ebb/plugins/${manifest.id}.wasm` : path,
      size_bytes: 41_848,
      sha256: '676980b76b79e31a5aff493141ff1a41227230dd7ee54a340e58b98407ca1a0b',
      capabilities: (manifest.capabilities ?? []).map(({ capability, reason }) => ({
        capability,
        asked: reason,
        meaning: MEANING[capability],
        granted: null,
        calls: 0,
        refused: 0,
        last_used_at_ms: null,
      })),
      attachments: [],
      settings: defaults(manifest),
      limits: LIMITS,
      store_bytes: 0,
      memory_bytes: 0,
      cpu_us: 0,
      compiling_percent: null,
      broken: null,
    };
    this.entries.set(manifest.id, entry);
    this.say(manifest.id, 'info', 'installed', true);
    return entry;
  }

  of(id: string): PluginEntry {
    const entry = this.entries.get(id);
    if (entry !== undefined) return entry;
    throw new Refusal(404, 'not_found', `no plugin is named '${id}'`, 'list them: `ebb plugin list`');
  }

  say(id: string, level: PluginLogLine['level'], message: string, from_host = false): void {
    const time_ms = this.host.now();
    const line = { seq: this.#seq++, time_ms, level, request: 0, model: null, from_host, message };
    this.logs.set(id, [...(this.logs.get(id) ?? []), line].slice(-1000));
    for (const listener of this.#listeners) listener(id, line);
  }

  onLine(listener: (id: string, line: PluginLogLine) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  grant(id: string, grants: Grant[]): PluginEntry {
    for (const grant of grants) {
      const state = this.of(id).capabilities.find(({ capability }) => capability === grant.capability);
      if (state?.asked == null) {
        throw new Refusal(400, 'invalid_request', `'${id}' does not ask for ${grant.capability}`);
      }
      const wrong = grant.paths?.find((path) => !path.startsWith('/'));
      if (wrong !== undefined) {
        const why = `${wrong} is not an absolute path`;
        throw new Refusal(400, 'invalid_request', why, 'give the whole path', 'paths');
      }
      const models = [...new Set([...(state.granted?.models ?? []), ...(grant.models ?? [])])].sort();
      const paths = [...new Set([...(state.granted?.paths ?? []), ...(grant.paths ?? [])])].sort();
      const granted = { ...grant, models: models.includes('*') ? ['*'] : models, paths };
      this.#state(id, grant.capability, { granted });
    }
    return this.of(id);
  }

  revoke(id: string, grants: Grant[]): PluginEntry {
    for (const taken of grants) {
      const state = this.of(id).capabilities.find(({ capability }) => capability === taken.capability);
      const whole = (taken.models ?? []).length + (taken.paths ?? []).length === 0;
      const models = (state?.granted?.models ?? []).filter((model) => !taken.models?.includes(model));
      const paths = (state?.granted?.paths ?? []).filter((path) => !taken.paths?.includes(path));
      const nothing = whole || models.length + paths.length === 0;
      this.#state(id, taken.capability, {
        granted: nothing ? null : { capability: taken.capability, models, paths },
      });
    }
    return this.of(id);
  }

  /** Notes that a capability was used. */
  used(id: string, capability: Grant['capability']): void {
    const state = this.of(id).capabilities.find((state) => state.capability === capability);
    if (state === undefined) return;
    const refused = state.refused + (state.granted === null ? 1 : 0);
    this.#state(id, capability, { calls: state.calls + 1, refused, last_used_at_ms: this.host.now() });
  }

  attach(id: string, model: string, position: number | null | undefined, grant: boolean): PluginEntry {
    const entry = this.of(id);
    this.host.model(model);
    const on = (granted: Grant | null | undefined) =>
      granted?.models?.some((name) => name === model || name === '*') === true;
    const missing = entry.capabilities.filter(({ asked, granted }) => asked != null && !on(granted));
    if (grant) {
      this.grant(
        id,
        missing.map(({ capability }) => ({ capability, models: [model], paths: [] })),
      );
    } else if (missing.length > 0) {
      const names = missing.map(({ capability }) => capability).join(' and ');
      throw new Refusal(403, 'forbidden', `'${id}' was not granted ${names} on '${model}'`, null, 'grant');
    }
    const others = (this.order.get(model) ?? []).filter((other) => other !== id);
    others.splice(position ?? others.length, 0, id);
    this.order.set(model, others);
    this.#attachments(model);
    this.host.tell(model, { event: 'attached', policy: id });
    return this.of(id);
  }

  detach(id: string, model: string): PluginEntry {
    this.order.set(
      model,
      (this.order.get(model) ?? []).filter((other) => other !== id),
    );
    this.#attachments(model);
    this.host.tell(model, { event: 'detached', policy: id, reason: null });
    return this.of(id);
  }

  change(id: string, change: Partial<PluginEntry>): PluginEntry {
    const entry = { ...this.of(id), ...change };
    this.entries.set(id, entry);
    return entry;
  }

  #state(id: string, capability: Grant['capability'], change: object): void {
    const capabilities = this.of(id).capabilities.map((state) =>
      state.capability === capability ? { ...state, ...change } : state,
    );
    this.change(id, { capabilities });
  }

  #attachments(model: string): void {
    const order = this.order.get(model) ?? [];
    const active = this.host.models.get(model)?.entry.state === 'loaded';
    for (const [id, entry] of this.entries) {
      const here = entry.attachments.find((attachment) => attachment.model === model);
      const others = entry.attachments.filter((attachment) => attachment.model !== model);
      const position = order.indexOf(id);
      const none = { detached_because: null, calls: 0, decisions: 0, failures: 0, call_us: null };
      const now = { ...none, ...here, plugin: id, model, position, active };
      this.change(id, { attachments: position < 0 ? others : [...others, now] });
    }
  }
}

interface Schema {
  properties?: Record<string, { default: unknown; minimum?: number; maximum?: number }>;
}

const schemaOf = (manifest: PluginManifest) => (manifest.settings as Schema | null)?.properties ?? {};

const defaults = (manifest: PluginManifest) =>
  Object.fromEntries(Object.entries(schemaOf(manifest)).map(([name, setting]) => [name, setting.default]));

/** Plugins: installing, granting, attaching, settings, logs, replays. */
export const pluginRoutes = (host: FakeHost, plugins: FakePlugins): Routes => ({
  'GET /ebb/v1/plugins': () => ({
    plugins: [...plugins.entries.values()].sort((a, b) => (a.manifest.id < b.manifest.id ? -1 : 1)),
  }),
  'POST /ebb/v1/plugins': ({ body }) => {
    const { path, replace } = body as { path: string; replace?: boolean };
    if (!/\.wasm$|\/[^./]+$/.test(path)) {
      throw new Refusal(400, 'invalid_request', `${path} is no plugin`, 'name a .wasm file', 'path');
    }
    const id = (path.split('/').at(-1) ?? '').replace(/\.wasm$/, '');
    if (plugins.entries.has(id) && replace !== true) {
      throw new Refusal(409, 'conflict', `a plugin is named '${id}' already`, 'replace it', 'replace');
    }
    const like = SHIPPED.find(({ id }) => id === 'slack') ?? SHIPPED[0];
    return plugins.add({ ...like, id, name: id, promise: null } as PluginManifest, 'installed', path);
  },
  'GET /ebb/v1/plugins/{id}': ({ path }) => plugins.of(path.id ?? ''),
  'DELETE /ebb/v1/plugins/{id}': ({ path }) => {
    const entry = plugins.of(path.id ?? '');
    plugins.entries.delete(entry.manifest.id);
    return entry;
  },
  'POST /ebb/v1/plugins/{id}/grant': ({ path, body }) =>
    plugins.grant(path.id ?? '', (body as { grants: Grant[] }).grants),
  'POST /ebb/v1/plugins/{id}/revoke': ({ path, body }) =>
    plugins.revoke(path.id ?? '', (body as { grants: Grant[] }).grants),
  'POST /ebb/v1/plugins/{id}/attach': ({ path, body }) => {
    const { model, position, grant } = body as { model: string; position?: number; grant?: boolean };
    return plugins.attach(path.id ?? '', model, position, grant === true);
  },
  'POST /ebb/v1/plugins/{id}/detach': ({ path, body }) =>
    plugins.detach(path.id ?? '', (body as { model: string }).model),
  'POST /ebb/v1/plugins/{id}/settings': ({ path, body }) => {
    const entry = plugins.of(path.id ?? '');
    const schema = schemaOf(entry.manifest);
    const settings = { ...entry.settings };
    for (const [name, value] of Object.entries((body as { settings: Record<string, unknown> }).settings)) {
      const { minimum = -Infinity, default: preset } = schema[name] ?? { default: null };
      if (typeof value === 'number' && value < minimum) {
        const why = `the setting ${name} must be at least ${minimum}`;
        throw new Refusal(400, 'invalid_value', why, null, name);
      }
      settings[name] = value ?? preset;
    }
    plugins.say(entry.manifest.id, 'info', 'settings changed', true);
    return plugins.change(entry.manifest.id, { settings });
  },
  'GET /ebb/v1/plugins/{id}/log': ({ path, query }) => {
    const id = path.id ?? '';
    const tail = (plugins.logs.get(plugins.of(id).manifest.id) ?? []).slice(
      -Number(query.get('lines') ?? 100),
    );
    if (query.get('follow') !== 'true') return { lines: tail };
    return lines(followed(plugins, id, tail));
  },
  'GET /ebb/v1/models/{alias}/recording': ({ path }) => lines(recording(host, path.alias ?? '')),
  'POST /ebb/v1/plugins/{id}/replay': async ({ path, query, request }) => {
    const tried = JSON.parse(query.get('settings') ?? '{}') as Record<string, unknown>;
    return replay(plugins.of(path.id ?? ''), await request.text(), tried);
  },
});

async function* followed(plugins: FakePlugins, id: string, tail: PluginLogLine[]) {
  const waiting = [...tail];
  let wake = () => {};
  const end = plugins.onLine((of, line) => {
    if (of === id) waiting.push(line);
    wake();
  });
  try {
    for (;;) {
      const line = waiting.shift();
      if (line === undefined) await new Promise<void>((next) => (wake = next));
      else yield line;
    }
  } finally {
    end();
  }
}
