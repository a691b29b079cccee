import { beforeEach, expect, test, vi } from 'vitest';

import { Conversations, KEPT, KEPT_LETTERS, titleOf } from './conversations.svelte';
import type { Turn } from './conversations.svelte';

const turn = (text: string, state: Turn['state'] = 'done'): Turn => ({
  role: 'user',
  text,
  state,
  figures: null,
});

beforeEach(() => localStorage.clear());

test('they come back, newest first; one that was being written is stopped', () => {
  const before = new Conversations();
  before.begin('a').turns.push(turn('first'));
  before.begin('b').turns.push(turn('second', 'writing'));
  before.keep();
  const after = new Conversations();
  expect(after.list.map(titleOf)).toEqual(['second', 'first']);
  expect(after.list[0]?.turns[0]?.state).toBe('stopped');
  expect(after.begin('c').id).toBe(3);
});

test('no more are kept than fit', () => {
  const conversations = new Conversations();
  for (let index = 0; index < KEPT + 5; index += 1) conversations.begin('a').turns.push(turn(`${index}`));
  expect(conversations.list).toHaveLength(KEPT);
  conversations.begin('a').turns.push(turn('x'.repeat(KEPT_LETTERS)));
  conversations.keep();
  expect(new Conversations().list).toHaveLength(1);
});

test('a browser without room is told, and what is there stays on the page', () => {
  const conversations = new Conversations();
  conversations.begin('a').turns.push(turn('one'));
  const full = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  conversations.keep();
  full.mockRestore();
  expect([conversations.isKept, conversations.list.length]).toEqual([false, 1]);
});

test('what another version kept of an answer is shown without what is unknown', () => {
  const turns = [
    { role: 'user', text: 'one' },
    { role: 'assistant', text: 'two', state: 'thinking', figures: {} },
  ];
  localStorage.setItem('ebb.conversations', JSON.stringify([{ id: 1, model: 'a', turns }]));
  expect(new Conversations().list[0]?.turns).toEqual([
    turn('one', 'stopped'),
    { ...turn('two', 'stopped'), role: 'assistant' },
  ]);
});

test('two pages of one browser have the same conversations, and lose none', () => {
  const [here, there] = [new Conversations(), new Conversations()];
  const told = () => dispatchEvent(new StorageEvent('storage', { key: 'ebb.conversations' }));
  const writing = turn('being written here', 'writing');
  here.begin('a').turns.push(writing);
  here.keep();
  told();
  there.begin('b').turns.push(turn('said there'));
  there.keep();
  told();
  expect(here.list.map(titleOf)).toEqual(['said there', 'being written here']);
  expect(here.list[1]?.turns[0]?.state).toBe('writing');
  here.forget(2);
  told();
  expect(there.list.map(titleOf)).toEqual(['being written here']);
});

test.each([
  '[',
  '7',
  '[{"id":"x"}]',
  '[{"id":1,"turns":[{"role":"system"}]}]',
  '[{"id":1,"turns":[]},{"id":1,"turns":[]}]',
])('what is none of ours is left alone: %s', (other) => {
  localStorage.setItem('ebb.conversations', other);
  expect(new Conversations().list).toEqual([]);
});
