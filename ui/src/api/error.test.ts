import { expect, test } from 'vitest';

import { ApiError, isCancelled } from './error';

test('what a command of the desktop app rejects with keeps all that it says', () => {
  const error = ApiError.from({
    error: { code: 'storage', message: 'it cannot be opened', hint: 'look at its rights', param: 'path' },
  });
  expect(error).toMatchObject({
    code: 'storage',
    message: 'it cannot be opened',
    hint: 'look at its rights',
    param: 'path',
  });
});

test.each([
  [new TypeError('Failed to fetch'), 'unreachable'],
  [new Error('Unable to preload CSS for /assets/Chat.css'), 'unreachable'],
  [new DOMException('x', 'AbortError'), 'cancelled'],
  [new Error('odd'), 'internal'],
  ['text', 'internal'],
  [null, 'internal'],
])('%s is told as %s', (thrown, code) => expect(ApiError.from(thrown).code).toBe(code));

test('what the user ended is no failure', () => {
  expect(isCancelled(new DOMException('x', 'AbortError'))).toBe(true);
  expect(isCancelled(new Error('x'))).toBe(false);
});
