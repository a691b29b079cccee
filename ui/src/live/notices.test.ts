import { beforeEach, expect, test } from 'vitest';

import { ApiError } from '../api';
import { notices } from './notices.svelte';

beforeEach(() => void (notices.list = []));

test('what fails in the same way is said once, what fails in another stays', () => {
  const gone = () => notices.fail(new TypeError('Failed to fetch'));
  gone();
  notices.fail(new ApiError({ code: 'busy', message: 'too many requests wait' }));
  notices.say('done');
  gone();
  expect(notices.list.map(({ text }) => text)).toEqual([
    'too many requests wait',
    'done',
    'the host does not answer',
  ]);
});
