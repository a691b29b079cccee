import { expect, test } from 'vitest';

import type { LoadOptions } from '../api';
import { text } from '../text/en';
import { type Row, given, ownValue, pathOf, rowPath, written } from './options';

const row = (id: number, scope: string, key: string, value: string): Row => ({ id, scope, key, value });

test('load options become text and the same load options again', () => {
  const options: Partial<LoadOptions> = {
    profile: 'fast',
    provider: 'cuda',
    device: 1,
    shrink_every: 0,
    keep_alive: '5m',
    prefix_cache_bytes: 67_108_864,
    restart: false,
    session_options: { 'session.enable_mem_pattern': '0', 'weird key': ' spaces stay ' },
    arena_options: { max_mem: '400MB' },
    runtime_options: { 'memory.enable_memory_arena_shrinkage': '' },
    provider_options: { cuda: { gpu_mem_limit: '2GiB' }, 'my.own': { 'a.b': '1' } },
  };
  expect(written(given(options), [])).toEqual({ options, problems: [] });
});

test.each([
  ['', 'threads', 'threads'],
  ['arena', 'max_mem', 'arena_options.max_mem'],
  ['run', 'gpu_graph_id', 'runtime_options.gpu_graph_id'],
  ['provider.cuda', 'gpu_mem_limit', 'provider_options.cuda.gpu_mem_limit'],
])('an option of scope "%s" and key %s is the field %s', (scope, key, path) =>
  expect(pathOf(scope, key)).toBe(path),
);

test.each([
  ['count', '2', 2],
  ['count', ' 4294967295 ', 4_294_967_295],
  ['count', '4294967296', null],
  ['count', '-1', null],
  ['count', '1.5', null],
  ['count', '1e3', null],
  ['count', '', null],
  ['count', '9'.repeat(300), null],
  ['count', '٣', null],
  ['ms', '9007199254740991', 9_007_199_254_740_991],
  ['ms', '9007199254740993', null],
  ['bytes', '64MiB', 67_108_864],
  ['bytes', '999999999999TB', null],
  ['bytes', 'lots', null],
  ['bool', 'true', true],
  ['bool', 'banana', null],
  ['duration', '1h30m', '1h30m'],
  ['duration', '-1', '-1'],
  ['duration', '500ms', '500ms'],
  ['duration', '9'.repeat(23), null],
  ['duration', 'soon', null],
  ['duration', '5 minutes', null],
  ['text', '<script>', '<script>'],
] as const)('as %s "%s" means %s', (type, typed, meant) => expect(ownValue(type, typed)).toBe(meant));

test('a value that is none is said at its field and not sent', () => {
  const { options, problems } = written([{ scope: '', key: 'threads', value: 'many' }], []);
  expect(options).toEqual({});
  expect(problems).toMatchObject([{ severity: 'error', field: 'threads', message: text.models.wrong.count }]);
});

test('rows go where they are meant, and what is wrong with one is said at it', () => {
  const { options, problems } = written(
    [{ scope: 'arena', key: 'max_mem', value: '1GiB' }],
    [
      row(1, 'provider.my_ep', 'speed', '11'),
      row(2, 'session', '__proto__', 'x'),
      row(3, 'session', '', 'value without a key'),
      row(4, 'provider.', 'key', '1'),
      row(5, 'arena', 'max_mem', '2GiB'),
      row(6, 'session', '', ''),
      row(7, 'run', 'memory.enable_memory_arena_shrinkage', ''),
    ],
  );
  expect(JSON.stringify(options)).toBe(
    '{"arena_options":{"max_mem":"1GiB"},"session_options":{"__proto__":"x"},' +
      '"runtime_options":{"memory.enable_memory_arena_shrinkage":""},"provider_options":{"my_ep":{"speed":"11"}}}',
  );
  const { wrong } = text.models;
  expect(problems.map(({ field, message }) => [field, message])).toEqual([
    [rowPath(3), wrong.key],
    [rowPath(4), wrong.provider],
    [rowPath(5), wrong.twice],
  ]);
});
