import { expect, test } from 'vitest';

import type { Event, ShrinkReport } from '../api';
import { causeWords, decisionWords, eventWords, shrinkWords } from './happened';

const MiB = 1024 * 1024;

const report: ShrinkReport = {
  model: 'minilm',
  freed_bytes: 62 * MiB,
  reserved_before_bytes: 66 * MiB,
  reserved_after_bytes: 4 * MiB,
  resident_before_bytes: 351 * MiB,
  resident_after_bytes: 289 * MiB,
  private_before_bytes: 0,
  private_after_bytes: 0,
  took_us: 17_500,
  trim_us: 500,
  targets: ['cpu:0'],
  dropped: [],
  pools_dropped: [],
};

test('what happens to the list of models is told in words', () => {
  const of = (kind: object) => eventWords({ seq: 1, time_ms: 2, model: 'minilm', ...kind } as Event);
  expect(of({ event: 'added', kind: 'audio' })).toBe('added to the models: speech');
  expect(of({ event: 'removed' })).toBe('removed from the models; its files stay');
  expect(of({ event: 'load_options', options: { profile: 'tight' } })).toBe(
    'loaded with other options, on the profile tight',
  );
});

test('a shrink is told in words, with what was left out and why', () => {
  expect(shrinkWords(report)).toEqual([
    'gave back 62.0 MiB of 66.0 MiB in 18 ms; resident 351.0 → 289.0 MiB',
  ]);
  expect(
    shrinkWords({
      ...report,
      resident_before_bytes: 2048 * MiB,
      pools_dropped: [{ name: 'prefix', bytes: 3 * MiB }],
      dropped: [{ target: 'gpu:0', reason: 'no arena here: the model runs on the CPU' }],
    }),
  ).toEqual([
    'gave back 62.0 MiB of 66.0 MiB in 18 ms; resident 2.00 GiB → 289.0 MiB',
    'dropped caches of ended conversations: 3.0 MiB',
    'left out gpu:0: no arena here: the model runs on the CPU',
  ]);
});

test('where nothing came back the reason is said', () => {
  const [nothing] = shrinkWords({ ...report, freed_bytes: 0, reserved_after_bytes: 66 * MiB });
  expect(nothing).toContain('gave back nothing');
  expect(nothing).toContain('66.0 MiB reserved is in use');
  const [absent] = shrinkWords({ ...report, freed_bytes: 0, targets: [] });
  expect(absent).toContain('no arena here to shrink');
});

test.each([
  ['Shrink([])', 'shrink now'],
  ['Shrink([Cpu(0), Gpu(1)])', 'shrink cpu:0, gpu:1 now'],
  ['ShrinkAfterNextRun([])', 'shrink after the next run'],
  ['Reload', 'load the model again'],
  ['Unload, but another policy came first', 'unload the model, but another policy came first'],
  ['SetRuntimeOption { key: "a.b", value: "1" }', 'set a.b = 1'],
  ['SetRuntimeOption { key: "a.b", value: "" }', 'remove a.b'],
  ['keep, because it failed: out of fuel', 'kept as it is, because it failed: out of fuel'],
  ['Dance', 'Dance'],
])('the decision %s is “%s”', (told, words) => expect(decisionWords(told)).toBe(words));

test('who asked for a shrink is said', () => {
  expect(causeWords('after_run')).toBe('Shrink after a run');
  expect(causeWords('shrink-when-idle')).toBe('Policy shrink-when-idle');
});

test('every event has its words, and one that is not known yet its name', () => {
  const of = { seq: 1, time_ms: 1, model: 'm' };
  const words = (event: Partial<Event>) => eventWords({ ...of, ...event } as Event);
  expect(words({ event: 'crashed', reason: 'killed by signal 9', restart_in_ms: 1500 })).toBe(
    'worker ended: killed by signal 9; started again in 1.5 s',
  );
  expect(
    words({ event: 'run', run: 7, took_us: 18_000, items: 8, cap_retries: 1, queued: 0, outcome: 'failed' }),
  ).toBe('run 7 in 18 ms, 8 items; failed; the cap was hit and it was tried again 1 time');
  expect(words({ event: 'shrink', cause: 'request', report })).toMatch(/^Shrink now: gave back 62\.0 MiB/);
  expect(
    words({ event: 'near_cap', device: 'cpu:0', reserved_bytes: 95 * MiB, limit_bytes: 100 * MiB }),
  ).toBe('cpu:0 is close to its cap: 95.0 MiB of 100.0 MiB');
  expect(words({ event: 'tomorrow' } as never)).toBe('tomorrow');
});
