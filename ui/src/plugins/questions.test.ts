import { beforeEach, expect, test } from 'vitest';

import { Questions } from './questions.svelte';

const one = { id: 1, question: 'q', answer: 'a', citations: [], took_ms: null, state: 'done', error: null };

beforeEach(() => localStorage.clear());

test('what was asked comes back; what another version kept does not', () => {
  const found = (value: unknown) => {
    localStorage.setItem('ebb.questions.rag', JSON.stringify(value));
    return new Questions('rag').list.length;
  };
  expect(found([one])).toBe(1);
  expect(found([{ ...one, citations: [null] }])).toBe(0);
  expect(found([{ ...one, id: undefined }])).toBe(0);
  expect(found([one, one])).toBe(0);
});
