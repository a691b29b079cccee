import { expect, test } from 'vitest';

import type { Profile } from '../api';
import { CATALOGUE } from '../api/fake/catalogue';
import {
  type Wanted,
  catalogueFields,
  groups,
  hiddenCount,
  matches,
  ofProfile,
  ownField,
  providersOf,
  same,
} from './fields';

const fields = catalogueFields(CATALOGUE);
const field = (key: string) => {
  const found = fields.find((one) => one.key === key);
  if (found === undefined) throw new Error(`no field ${key}`);
  return found;
};
const wanted: Wanted = {
  kind: 'embeddings',
  search: '',
  others: false,
  provider: '',
  changed: new Set(),
  onlyChanged: false,
};
const keys = (change: Partial<Wanted>) =>
  groups(fields, { ...wanted, ...change }).flatMap((group) => group.fields.map(({ key }) => key));

test.each([
  ['session.enable_mem_pattern', 'switch', ['1', '0']],
  ['disable_metacommands', 'switch', ['true', 'false']],
  ['arena_extend_strategy', 'choice', ['kSameAsRequested', 'kNextPowerOfTwo', '0', '1', '-1']],
  ['max_mem', 'bytes', []],
  ['session.intra_op_num_threads', 'number', []],
  ['session.moe_expert_counter_alpha', 'number', []],
  ['cache_dir', 'text', []],
  ['user_compute_stream', 'none', []],
  ['ep.<prefix>.arena.max_mem', 'none', []],
] as const)('%s is asked for by a %s', (key, control, choices) =>
  expect(field(key)).toMatchObject({ control, choices }),
);

test('what a load cannot give has no field, and what has no effect says so', () => {
  expect(fields.some(({ scope }) => scope === 'environment')).toBe(false);
  expect(field('enable_skip_layer_norm_strict_mode').note).toContain('no effect');
});

test('memory comes first, everything else after one more click', () => {
  const first = keys({});
  expect(first[0]).toBe('shrink_every');
  expect(first).toContain('max_mem');
  expect(first).not.toContain('session.log_severity_level');
  expect(first).not.toContain('queue');
  const all = keys({ others: true });
  expect(all.slice(0, first.length)).toEqual(first);
  expect(all.length - first.length).toBe(hiddenCount(fields, ''));
});

test('options of a provider are there when it is chosen', () => {
  expect(keys({})).not.toContain('gpu_mem_limit');
  expect(keys({ provider: 'cuda' })).toContain('gpu_mem_limit');
  expect(keys({ provider: 'cuda', others: true })).toContain('use_tf32');
  expect(providersOf(fields)).toEqual(expect.arrayContaining(['cuda', 'webgpu', 'dml', 'openvino']));
});

test('a search looks at everything, whatever is chosen', () => {
  expect(keys({ search: 'gpu_mem' })).toEqual(['gpu_mem_limit']);
  expect(keys({ search: 'CAP weights' })).toEqual(expect.arrayContaining(['max_mem', 'working_mem']));
  expect(keys({ search: 'no such thing at all' })).toEqual([]);
  expect(matches(ownField('keep_alive'), 'unused')).toBe(true);
});

test('what has a value is shown in any case', () => {
  const changed = new Set(['session_options.session.log_severity_level', 'context_tokens']);
  expect(keys({ changed })).toEqual(expect.arrayContaining(['session.log_severity_level', 'context_tokens']));
  expect(keys({ changed, onlyChanged: true })).toEqual(['context_tokens', 'session.log_severity_level']);
});

test('options are for the kinds of model that they do something for', () => {
  expect(keys({ kind: 'embeddings' })).toContain('batch_tokens');
  expect(keys({ kind: 'embeddings' })).not.toContain('prefix_cache_bytes');
  expect(keys({ kind: 'chat' })).toContain('prefix_cache_bytes');
});

test('a profile says what it sets and why', () => {
  const profile = {
    name: 'low-memory',
    description: '',
    options: { shrink_every: 1, session_options: { 'session.enable_mem_pattern': '0' } },
    reasons: { shrink_every: 'after every request' },
  } as unknown as Profile;
  expect(ofProfile(profile).get('shrink_every')).toEqual({
    value: '1',
    profile: 'low-memory',
    reason: 'after every request',
  });
  expect(ofProfile(profile).get('session_options.session.enable_mem_pattern')?.value).toBe('0');
  expect(ofProfile(undefined).size).toBe(0);
});

test.each([
  ['1', 'true', true],
  ['FALSE', '0', true],
  [' 5 ', '5', true],
  ['1', '0', false],
])('%s and %s mean the same: %s', (one, other, expected) => expect(same(one, other)).toBe(expected));
