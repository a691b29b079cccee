import { expect, test } from 'vitest';

import { areOptions, changed, generation, noOptions, problems } from './options';
import type { Options } from './options';

const options = (change: Partial<Options>): Options => ({ ...noOptions(), ...change });

test('what is left empty is the model’s own', () => {
  expect(generation(noOptions())).toEqual({});
  expect(generation(options({ fields: { temperature: ' ', seed: '' }, stop: '\n\n' }))).toEqual({});
  expect([problems(noOptions()), changed(noOptions())]).toEqual([{}, 0]);
});

test('what is typed is asked for', () => {
  const typed = options({
    fields: { temperature: '0.7', max_tokens: '128', top_k: '0' },
    stop: 'END\n###',
    format: 'json_schema',
    schema: '{"type":"object"}',
  });
  expect(problems(typed)).toEqual({});
  expect(generation(typed)).toEqual({
    temperature: 0.7,
    max_tokens: 128,
    top_k: 0,
    stop: ['END', '###'],
    response_format: { json_schema: { type: 'object' } },
  });
  expect(changed(typed)).toBe(5);
});

test.each([
  [{ fields: { temperature: '3' } }, { temperature: 'From 0 to 2.' }],
  [{ fields: { temperature: 'warm' } }, { temperature: 'Type a number.' }],
  [{ fields: { max_tokens: '0' } }, { max_tokens: 'At least 1.' }],
  [{ fields: { max_tokens: '1.5' } }, { max_tokens: 'Type a whole number.' }],
  [{ fields: { seed: '-1' } }, { seed: 'At least 0.' }],
  [{ fields: { top_p: 'Infinity' } }, { top_p: 'Type a number.' }],
  [{ format: 'json_schema' as const, schema: '{' }, { schema: 'The schema is no JSON.' }],
  [{ format: 'json_schema' as const, schema: '7' }, { schema: 'The schema is no JSON.' }],
  [{ format: 'regex' as const }, { regex: 'Type a regular expression.' }],
])('what is wrong is said at its field', (change, found) => {
  expect(problems(options(change))).toEqual(found);
});

test('what was kept by another version is not taken', () => {
  expect(areOptions(noOptions())).toBe(true);
  const fields = ['x', null, { temperature: 0.7 }].map((fields) => ({ ...noOptions(), fields }));
  const others = [null, 7, [], {}, { ...noOptions(), format: 'xml' }, ...fields];
  expect(others.filter(areOptions)).toEqual([]);
});
