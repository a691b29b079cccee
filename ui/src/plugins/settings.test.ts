import { expect, test } from 'vitest';

import type { PluginManifest } from '../api';
import { read, settingsOf, told, typedOf } from './settings';
import type { Setting } from './settings';

const of = (properties: Record<string, unknown>) =>
  settingsOf({ settings: { type: 'object', properties } } as unknown as PluginManifest);
const one = (said: Record<string, unknown>) => of({ it: said })[0] as Setting;

const whole = one({ type: 'integer', default: 30, minimum: 1, maximum: 86_400, title: 'Shrink after' });
const number = one({ type: 'number', default: 1.5, minimum: 1 });
const words = one({ type: 'string', default: '' });

test('a schema becomes fields; what is not understood is left out', () => {
  expect(whole).toMatchObject({
    name: 'it',
    kind: 'integer',
    title: 'Shrink after',
    default: 30,
    maximum: 86_400,
  });
  expect(number).toMatchObject({ title: 'it', minimum: 1, maximum: null });
  expect(of({ odd: { type: 'array', default: [] }, none: { type: 'string' }, text: 7 })).toEqual([]);
  expect(settingsOf({} as PluginManifest)).toEqual([]);
});

test.each([
  [whole, '1', { value: 1 }],
  [whole, ' 86400 ', { value: 86_400 }],
  [whole, '0', { problem: 'At least 1.' }],
  [whole, '86401', { problem: 'At most 86,400.' }],
  [whole, '1.5', { problem: 'Type a whole number.' }],
  [whole, '', { problem: 'Type a whole number.' }],
  [whole, '12 apples', { problem: 'Type a whole number.' }],
  [whole, '99999999999999999999', { problem: 'Type a whole number.' }],
  [number, '1e3', { value: 1000 }],
  [number, 'Infinity', { problem: 'Type a number.' }],
  [number, 'NaN', { problem: 'Type a number.' }],
  [words, '', { value: '' }],
  [words, 'ü'.repeat(40_000), { problem: 'At most 64 KiB of text.' }],
  [one({ type: 'boolean', default: true }), false, { value: false }],
  [one({ type: 'integer', default: 8, enum: [8, 16] }), '16', { value: 16 }],
])('what is typed is checked as the host will', (setting, typed, outcome) => {
  expect(read(setting, typed)).toEqual(outcome);
});

test('values are shown as they are typed, and told', () => {
  expect(typedOf(whole, 42)).toBe('42');
  expect(typedOf(whole, undefined)).toBe('');
  expect([told(true), told(''), told(0)]).toEqual(['on', 'empty', '0']);
});
