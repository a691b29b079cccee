import type { HostLogLine } from '../generated/schema';
import type { Event, LoadOptions, ModelEntry, Sample, ShrinkReport } from '../types';
import { parseBytes } from '../../shared/format';
import { Refusal } from './routes';

const MiB = 1024 * 1024;

/** A model of the recorded host: what it weighs, and an arena that grows as requests come. */
export interface FakeModel {
  entry: ModelEntry;
  /** Bytes of its weights in the arena. */
  weights: number;
  reserved: number;
  peak: number;
  runs: number;
  shrinks: number;
  freed: number;
  regions: number;
  loaded_at: number;
  armed: boolean;
  runtime: Record<string, string>;
  /** What it held, oldest first. */
  history: Sample[];
}

/**
 * A host made of recorded figures: enough of one that every view can be looked at, designed and tested without a process
 * behind it. Its clock is given, so that a day passes in a moment.
 */
export class FakeHost {
  readonly models = new Map<string, FakeModel>();
  readonly past: Event[] = [];
  /** The host's log, and who follows it. */
  readonly log: HostLogLine[] = [];
  readonly readers = new Set<(line: HostLogLine) => void>();
  readonly total_bytes = 24 * 1024 * MiB;

  #seq = 0;
  #listeners = new Set<(event: Event) => void>();

  constructor(readonly now: () => number = Date.now) {
    this.add('minilm', 'embeddings', 88 * MiB, '/models/all-MiniLM-L6-v2');
    this.add('smollm2', 'chat', 212 * MiB, '/models/SmolLM2-135M-Instruct');
    this.add('moonshine', 'audio', 104 * MiB, '/models/moonshine-tiny');
  }

  add(alias: string, kind: ModelEntry['kind'], weights: number, path: string): FakeModel {
    const entry: ModelEntry = {
      alias,
      path,
      kind,
      weights_bytes: weights,
      state: 'unloaded',
      reason: null,
      info: null,
      options: noOptions(),
    };
    const model: FakeModel = {
      entry,
      weights,
      reserved: 0,
      peak: 0,
      runs: 0,
      shrinks: 0,
      freed: 0,
      regions: 0,
      loaded_at: 0,
      armed: false,
      runtime: {},
      history: [],
    };
    this.models.set(alias, model);
    return model;
  }

  /** The model of this alias, or the host's refusal. */
  model(alias: string): FakeModel {
    const model = this.models.get(alias);
    if (model !== undefined) return model;
    throw new Refusal(404, 'not_found', `no model is named '${alias}'`, 'list them: `ebb model list`');
  }

  /** As `model`, for what needs it in memory. */
  loaded(alias: string): FakeModel {
    const model = this.model(alias);
    if (model.entry.state === 'loaded') return model;
    throw new Refusal(404, 'not_loaded', `'${alias}' is not loaded`, `load it: \`ebb model load ${alias}\``);
  }

  load(alias: string, options: LoadOptions): FakeModel {
    const model = this.model(alias);
    this.tell(alias, { event: 'loading' });
    Object.assign(model, { reserved: model.weights + 4 * MiB, peak: model.weights, regions: 2, runs: 0 });
    Object.assign(model, { loaded_at: this.now(), shrinks: 0, freed: 0, history: [] });
    model.entry = { ...model.entry, state: 'loaded', reason: null, options, info: infoOf(model, options) };
    this.tell(alias, { event: 'loaded', load_ms: 180, sample: this.sample(model) });
    return model;
  }

  unload(alias: string): number {
    const model = this.loaded(alias);
    const before = this.sample(model).resident_bytes;
    model.entry = { ...model.entry, state: 'unloaded', info: null };
    this.tell(alias, { event: 'unloaded', resident_before_bytes: before, worker_gone: true });
    return before;
  }

  /** A request that needed so much working memory; the arena keeps it. */
  run(alias: string, working: number, took_us = 18_000): void {
    const model = this.loaded(alias);
    model.runs += 1;
    const limit = capOf(model);
    const near = () => limit !== null && model.reserved >= limit * 0.9;
    const was_near = near();
    const wanted = Math.min(model.weights + working, limit ?? Infinity);
    if (model.entry.info?.arenas.length !== 0 && wanted > model.reserved) {
      model.regions += 1;
      model.reserved = wanted;
    }
    if (near() && !was_near) {
      const figures = { reserved_bytes: model.reserved, limit_bytes: limit ?? 0 };
      this.tell(alias, { event: 'near_cap', device: 'cpu:0', ...figures });
    }
    model.peak = Math.max(model.peak, Math.min(model.weights + working, limit ?? Infinity));
    const after = this.sample(model);
    const figures = { run: model.runs, took_us, items: 8, cap_retries: 0, queued: 0 };
    this.tell(alias, { event: 'run', outcome: 'ok', after, ...figures });
    if (model.armed) {
      model.armed = false;
      this.shrink(alias, 'after_run');
    }
  }

  shrink(alias: string, cause = 'request', wanted: string[] | null = null): ShrinkReport {
    const model = this.loaded(alias);
    const arenas = model.entry.info?.arenas ?? [];
    const targets = arenas.filter((target) => wanted === null || wanted.includes(target));
    const before = this.sample(model);
    const reserved_before = targets.length === 0 ? 0 : model.reserved;
    if (targets.length > 0) model.reserved = Math.min(model.reserved, model.weights + 4 * MiB);
    const freed = Math.max(reserved_before - model.reserved, 0);
    model.shrinks += 1;
    model.freed += freed;
    model.regions = 2;
    const after = this.sample(model);
    const report: ShrinkReport = {
      model: alias,
      freed_bytes: freed,
      reserved_before_bytes: reserved_before,
      reserved_after_bytes: reserved_before - freed,
      resident_before_bytes: before.resident_bytes,
      resident_after_bytes: after.resident_bytes,
      private_before_bytes: before.private_bytes,
      private_after_bytes: after.private_bytes,
      took_us: 18_400,
      trim_us: 900,
      targets,
      dropped: (wanted ?? [])
        .filter((target) => !arenas.includes(target))
        .map((target) => ({ target, reason: 'no arena here: the model runs on the CPU' })),
      pools_dropped: [],
    };
    this.tell(alias, { event: 'shrink', cause, report });
    return report;
  }

  /** The worker ends by itself. */
  crash(alias: string, reason = 'killed by signal 9'): void {
    const model = this.loaded(alias);
    model.entry = { ...model.entry, state: 'failed', reason, info: null };
    this.tell(alias, { event: 'crashed', reason, restart_in_ms: null });
  }

  /** Takes note of what a model holds now, as the host does once a second. */
  keep(alias: string): void {
    const model = this.loaded(alias);
    model.history = [...model.history.slice(-3599), this.sample(model)];
  }

  /** Something that the host writes into its log. */
  write(level: HostLogLine['level'], target: string, message: string, more: Partial<HostLogLine> = {}): void {
    const seq = this.log.length;
    const line = { seq, time_ms: this.now(), level, target, message, model: null, fields: {}, ...more };
    this.log.push(line);
    for (const reader of this.readers) reader(line);
  }

  sample(model: FakeModel): Sample {
    const overhead = 56 * MiB;
    return {
      model: model.entry.alias,
      at_ms: this.now() - model.loaded_at,
      resident_bytes: model.reserved + overhead,
      private_bytes: model.reserved + overhead - 22 * MiB,
      runs: model.runs,
      arenas: (model.entry.info?.arenas ?? ['cpu:0']).map((device) => ({
        device,
        in_use_bytes: model.weights,
        reserved_bytes: model.reserved,
        peak_in_use_bytes: model.peak,
        limit_bytes: capOf(model),
        regions: model.regions,
        shrinkages: model.shrinks,
      })),
      pools: [{ name: 'weights', bytes: model.weights, droppable: false }],
    };
  }

  tell(model: string, kind: Kind): void {
    const event = { seq: this.#seq++, time_ms: this.now(), model, ...kind } as Event;
    this.past.push(event);
    if (this.past.length > 5000) this.past.shift();
    for (const listener of this.#listeners) listener(event);
  }

  listen(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

type Without<T> = T extends unknown ? Omit<T, 'seq' | 'time_ms' | 'model'> : never;
/** What happened, without when and to whom. */
export type Kind = Without<Event>;

/** What was loaded: no more of it than a view shows. */
const infoOf = ({ entry, weights }: FakeModel, options: LoadOptions): ModelEntry['info'] => ({
  alias: entry.alias,
  kind: entry.kind,
  file: 'model.onnx',
  provider: 'cpu',
  // Under either of its names this switches the arena off.
  arenas: ['enable_cpu_mem_arena', 'session.enable_cpu_mem_arena'].some(
    (key) => options.session_options?.[key] === '0',
  )
    ? []
    : ['cpu:0'],
  weights_bytes: weights,
  inputs: [],
  outputs: [],
  options: Object.entries(options.session_options ?? {}).map(([key, requested]) => ({
    scope: 'session',
    key,
    requested,
    forwarded: `${key}=${requested}`,
  })),
  runtime_version: '1.31.1',
  runtime_library: '/runtimes/libonnxruntime.so.1.31.1',
  load_ms: 180,
});

const noOptions = (): LoadOptions => ({}) as LoadOptions;

/** The whole arena's cap, or that on top of what it holds after load. */
function capOf({ entry, weights }: FakeModel): number | null {
  const { max_mem, working_mem } = entry.options.arena_options ?? {};
  if (working_mem !== undefined) return weights + 4 * MiB + (parseBytes(working_mem) ?? 0);
  return max_mem === undefined ? null : parseBytes(max_mem) || null;
}
