import assert from 'node:assert';
import test from 'node:test';

import { MOST_CHARACTERS, passages } from './passages.js';

test('short paragraphs stay together', () => {
  assert.deepEqual(passages('ä\n\nb\n'), [{ start: 0, end: 5, text: 'ä\n\nb' }]);
});

test('long ones stand alone, at their place in bytes', () => {
  const long = 'é'.repeat(MOST_CHARACTERS);
  assert.deepEqual(passages(`${long}\n\nshort`), [
    { start: 0, end: 2 * MOST_CHARACTERS, text: long },
    { start: 2 * MOST_CHARACTERS + 2, end: 2 * MOST_CHARACTERS + 7, text: 'short' },
  ]);
});

test('nothing has none', () => {
  assert.deepEqual(passages(' \n\n '), []);
});
