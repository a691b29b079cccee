import { expect, test } from 'vitest';

import { FakeHost } from '../api/fake';
import { filtered } from './filter';

const host = new FakeHost();
for (let index = 0; index < 500; index++) host.add(`model ${index}`, 'chat', 1, `/models/${index}`);
host.load('minilm', {} as never);
host.load('smollm2', {} as never);
host.crash('smollm2');
const list = [...host.models.values()].map(({ entry }) => entry);
const found = (words: string, shown: 'all' | 'inMemory' | 'failed' = 'all') =>
  filtered(list, words, shown).map(({ alias }) => alias);

test('every word is looked for, in any case and place', () => {
  expect(found('')).toHaveLength(503);
  expect(found('MINI')).toEqual(['minilm']);
  expect(found('chat 499')).toEqual(['model 499']);
  expect(found('speech')).toEqual(['moonshine']);
  expect(found('/models/all')).toEqual(['minilm']);
  expect(found('cpu mini')).toEqual(['minilm']);
});

test('states are kept apart', () => {
  expect(found('', 'inMemory')).toEqual(['minilm']);
  expect(found('', 'failed')).toEqual(['smollm2']);
});
