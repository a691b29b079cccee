import { expect, test } from 'vitest';

import type { CapabilityState, ModelEntry, PluginEntry } from '../api';
import { grantsOf, missing, missingOn, modelsFor, open, placesOf, wish } from './grants';

test('nothing is ticked to begin with, and nothing unticked is granted', () => {
  const wishes = [wish('memory.control'), wish('store'), wish('documents')];
  expect(grantsOf(wishes)).toEqual([]);
  expect(wishes.map(missing)).toEqual([null, null, null]);
});

test('what is ticked must say on what', () => {
  expect(missing({ ...wish('memory.control'), ticked: true })).toBe('models');
  expect(missing({ ...wish('documents'), ticked: true })).toBe('paths');
  expect(missing({ ...wish('store'), ticked: true })).toBeNull();
  expect(missing({ ...wish('inference.embed'), ticked: true, every: true })).toBeNull();
});

test('a grant names models or paths, never both', () => {
  const chosen = { ticked: true, models: ['minilm'], paths: ['/data/me'] };
  expect(
    grantsOf([
      { ...wish('inference.embed'), ...chosen },
      { ...wish('inference.generate'), ...chosen, every: true },
      { ...wish('documents'), ...chosen },
      { ...wish('store'), ...chosen },
    ]),
  ).toEqual([
    { capability: 'inference.embed', models: ['minilm'], paths: [] },
    { capability: 'inference.generate', models: ['*'], paths: [] },
    { capability: 'documents', models: [], paths: ['/data/me'] },
    { capability: 'store', models: [], paths: [] },
  ]);
});

test('only models that a capability is of use on are offered', () => {
  const models = [
    { alias: 'e', kind: 'embeddings' },
    { alias: 'c', kind: 'chat' },
  ] as ModelEntry[];
  expect(modelsFor('inference.embed', models).map(({ alias }) => alias)).toEqual(['e']);
  expect(modelsFor('inference.transcribe', models)).toEqual([]);
  expect(modelsFor('memory.control', models)).toHaveLength(2);
});

test('what a plugin lacks on a model', () => {
  const state = (granted: CapabilityState['granted']) =>
    ({ capability: 'memory.control', asked: 'why', granted }) as CapabilityState;
  const plugin = (granted: CapabilityState['granted']) =>
    ({ capabilities: [state(granted)] }) as unknown as PluginEntry;
  const on = (...models: string[]) => plugin({ capability: 'memory.control', models });
  expect(missingOn(plugin(null), 'a')).toHaveLength(1);
  expect(missingOn(on('b'), 'a')).toHaveLength(1);
  expect(missingOn(on('a'), 'a')).toHaveLength(0);
  expect(missingOn(on('*'), 'a')).toHaveLength(0);
  expect([open(plugin(null)).length, open(on('b')).length]).toEqual([1, 0]);
});

test.each([
  ['handbook/a/b.md', ['/data/me/handbook'], ['/data/me/handbook/a/b.md']],
  ['handbook/b.md', ['/x/handbook', '/y/handbook/', '/z/other'], ['/x/handbook/b.md', '/y/handbook/b.md']],
  ['notes.txt', ['/data/me/notes.txt'], ['/data/me/notes.txt']],
  ['books/b.md', ['C:\\Users\\me\\books'], ['C:\\Users\\me\\books\\b.md']],
  ['elsewhere/b.md', ['/data/me/handbook'], []],
])('where %s may lie', (document, granted, places) => {
  expect(placesOf(document, granted)).toEqual(places);
});
