import { afterEach, expect, test, vi } from 'vitest';

import { keep, keepText, kept, keptText } from './kept';

const isNumber = (value: unknown): value is number => typeof value === 'number';

afterEach(() => {
  vi.restoreAllMocks();
  localStorage.clear();
});

test('what is kept comes back, and what does not fit is left', () => {
  expect([keep('ebb.a', 7), kept('ebb.a', isNumber, 0)]).toEqual([true, 7]);
  for (const other of ['"7"', '{', '']) {
    keepText('ebb.a', other);
    expect(kept('ebb.a', isNumber, 0)).toBe(0);
  }
});

test('a browser that keeps nothing is none that fails', async () => {
  vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError');
  });
  expect([keep('ebb.a', 7), keptText('ebb.a'), kept('ebb.a', isNumber, 0)]).toEqual([false, null, 0]);
  // The page looks here before there is anything that could show an error.
  const { look } = await import('../live/look.svelte');
  look.set('dark');
  expect([look.theme, document.documentElement.dataset.theme]).toEqual(['dark', 'dark']);
  look.set('system');
});
