import { expect, test } from 'vitest';

import type { PluginLogLine } from '../api';
import { fitting, KEPT, withNew } from './log';

const line = (seq: number, message = `line ${seq}`, level: PluginLogLine['level'] = 'info') =>
  ({ seq, time_ms: seq, level, request: 0, model: null, from_host: false, message }) as PluginLogLine;

test('lines that are known already are left out, and gaps are counted', () => {
  const lines = withNew(withNew([], [line(4), line(5)]), [line(5), line(6), line(9)]);
  expect(lines.map(({ seq, missed }) => [seq, missed])).toEqual([
    [4, 0],
    [5, 0],
    [6, 0],
    [9, 2],
  ]);
});

test('no more is kept than fits a page', () => {
  const many = Array.from({ length: KEPT + 500 }, (_, seq) => line(seq));
  const lines = withNew([], many);
  expect([lines.length, lines[0]?.seq]).toEqual([KEPT, 500]);
});

test('lines are filtered by level and by every word', () => {
  const lines = withNew(
    [],
    [line(1, 'Shrank the model', 'debug'), line(2, 'failed', 'error'), line(3, 'kept', 'warn')],
  );
  expect(fitting(lines, 'warn', '').map(({ seq }) => seq)).toEqual([2, 3]);
  expect(fitting(lines, 'trace', 'MODEL shrank').map(({ seq }) => seq)).toEqual([1]);
  expect(fitting(lines, 'trace', 'model kept')).toEqual([]);
});
