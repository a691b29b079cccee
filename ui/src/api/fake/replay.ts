import type { PluginEntry, Sample } from '../types';
import type { FakeHost } from './host';
import { Refusal } from './routes';

/** A recording of a model: what it held after load, then each request, as long as somebody reads. */
export async function* recording(host: FakeHost, alias: string) {
  const model = host.loaded(alias);
  const begun = host.now();
  const after_load = { ...host.sample(model), at_ms: 0 };
  yield { trace: { version: 1, kind: model.entry.kind, provider: 'cpu', load_ms: 180, after_load } };
  const waiting: unknown[] = [];
  let wake = () => {};
  const end = host.listen((event) => {
    if (event.event !== 'run' || event.model !== alias) return;
    waiting.push({ at_ms: host.now() - begun, run: event });
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

interface Line {
  at_ms?: number;
  trace?: { kind: string; provider: string; after_load: Sample };
  run?: { after: Sample };
}

const reserved = (sample: Sample) => sample.arenas.reduce((sum, arena) => sum + arena.reserved_bytes, 0);

/** What a policy that shrinks above so many times what it was after load would have made of a recording. */
export function replay(plugin: PluginEntry, text: string, tried: Record<string, unknown>) {
  const ratio = Number(tried.ratio ?? plugin.settings.ratio ?? 1.5);
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  const head = lines[0]?.trace;
  if (head === undefined) {
    throw new Refusal(400, 'invalid_request', 'line 1 of the recording is no trace', 'record a model first');
  }
  const least = reserved(head.after_load);
  const points = [{ at_ms: 0, with_bytes: least, without_bytes: least }];
  const decisions = [];
  let [with_bytes, without_bytes, freed] = [least, least, 0];
  for (const { at_ms = 0, run } of lines) {
    if (run === undefined) continue;
    without_bytes = Math.max(without_bytes, reserved(run.after));
    with_bytes = Math.max(with_bytes, reserved(run.after));
    points.push({ at_ms, with_bytes, without_bytes });
    if (with_bytes < least * ratio) continue;
    const saw = { in_use_bytes: least, reserved_bytes: with_bytes, reserved_after_bytes: least };
    decisions.push({ at_ms, hook: 'run', decision: 'shrink', ...saw });
    freed += with_bytes - least;
    with_bytes = least;
    points.push({ at_ms, with_bytes, without_bytes });
  }
  const duration_ms = points.at(-1)?.at_ms ?? 0;
  const figures = (of: 'with_bytes' | 'without_bytes', shrinks: number) => ({
    duration_ms,
    after_load_bytes: least,
    peak_bytes: Math.max(...points.map((point) => point[of])),
    mean_bytes: Math.round(points.reduce((sum, point) => sum + point[of], 0) / points.length),
    end_bytes: points.at(-1)?.[of] ?? least,
    freed_bytes: shrinks === 0 ? 0 : freed,
    shrinks,
    unloads: 0,
    reloads: 0,
    shrink_ms: shrinks * 12,
    reload_ms: 0,
    over_twice_in_use: 0,
    idle_slack_ms: 0,
    relief_ms: 0,
    short_ms: 0,
  });
  const { promise } = plugin.manifest;
  const runs = lines.filter((line) => line.run !== undefined).length;
  return {
    plugin: plugin.manifest.id,
    kind: head.kind,
    provider: head.provider,
    without: figures('without_bytes', 0),
    with: figures('with_bytes', decisions.length),
    runs,
    estimated_runs: 0,
    asked: runs,
    decided: decisions.length,
    failed: 0,
    decisions,
    failures: [],
    call_us: 41,
    given_up: null,
    promise: promise ? { ...promise, value: 0, kept: true } : null,
    points,
  };
}
