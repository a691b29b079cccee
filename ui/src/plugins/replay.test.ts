import { expect, test } from 'vitest';

import { columns, difference, promised, sentences, telling } from './replay';
import type { ReplayFigures, ReplayReport } from './report';

const MiB = 1024 * 1024;
const figures: ReplayFigures = {
  duration_ms: 60_000,
  after_load_bytes: 92 * MiB,
  peak_bytes: 350 * MiB,
  mean_bytes: 300 * MiB,
  end_bytes: 350 * MiB,
  freed_bytes: 0,
  shrinks: 0,
  unloads: 0,
  reloads: 0,
  shrink_ms: 0,
  reload_ms: 0,
  over_twice_in_use: 0.8,
  idle_slack_ms: 0,
  relief_ms: 0,
  short_ms: 0,
};
const report: ReplayReport = {
  plugin: 'slack',
  kind: 'embeddings',
  provider: 'cpu',
  without: figures,
  with: {
    ...figures,
    mean_bytes: 150 * MiB,
    freed_bytes: 516 * MiB,
    shrinks: 2,
    shrink_ms: 24,
    over_twice_in_use: 0.1,
  },
  runs: 40,
  estimated_runs: 3,
  asked: 40,
  decided: 2,
  failed: 0,
  decisions: [],
  failures: [],
  call_us: 41,
  points: [
    { at_ms: 0, with_bytes: 1, without_bytes: 1 },
    { at_ms: 1500, with_bytes: 2, without_bytes: 3 },
  ],
};

test('the outcome is told in sentences, the memory first', () => {
  expect(sentences(report)).toEqual([
    'On average the model would have held 150.0 MiB less with it (50 %).',
    'It would have shrunk 2 times, giving back 516.0 MiB in all, for 24 ms of work.',
    'It was asked 40 times and decided something 2 times, 41 µs a call.',
    'What 3 of 40 requests needed is an estimate.',
  ]);
});

test('a policy that does nothing, or makes it worse, is told as that', () => {
  expect(sentences({ ...report, with: figures, decided: 0 }).slice(0, 2)).toEqual([
    'On average the model would have held the same.',
    'It would have left the memory alone.',
  ]);
  const worse = { ...figures, mean_bytes: 301 * MiB, reloads: 1, reload_ms: 180 };
  expect(sentences({ ...report, with: worse })).toContain(
    'On average the model would have held 1.0 MiB more with it.',
  );
  expect(sentences({ ...report, with: worse })).toContain(
    'The model would have been loaded again once: 180 ms of waiting.',
  );
});

test('figures that say nothing are left out; differences are signed', () => {
  expect(telling(report)).toEqual([
    'mean_bytes',
    'peak_bytes',
    'end_bytes',
    'freed_bytes',
    'shrinks',
    'shrink_ms',
    'over_twice_in_use',
  ]);
  expect(difference('mean_bytes', report)).toBe('−150.0 MiB');
  expect(difference('shrinks', report)).toBe('+2');
  expect(difference('peak_bytes', report)).toBe('');
});

test.each([
  ['idle_slack_ms', 30_500, 31_000, 'Words. Measured: 30.5 s, at most 31.0 s.'],
  ['over_twice_in_use', 0.125, 0.2, 'Words. Measured: 12.5 %, at most 20.0 %.'],
  ['mean_reserved_ratio', 1.4, 2, 'Words. Measured: 1.40, at most 2.00.'],
  ['relief_ms', null, 10_000, 'Words. This recording does not put it to the test.'],
] as const)('a promise about %s is told with what came of it', (figure, value, at_most, words) => {
  expect(promised({ words: 'Words.', figure, value, at_most, kept: true })).toBe(words);
});

test('the chart has seconds and both lines', () => {
  expect(columns(report)).toEqual([
    [0, 1.5],
    [1, 2],
    [1, 3],
  ]);
});
