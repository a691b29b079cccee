import { beforeEach, expect, test, vi } from 'vitest';

import { use } from '../api';
import type { Transport } from '../api';
import { FakeHost, fake } from '../api/fake';
import { events } from './events.svelte';
import { models } from './models.svelte';
import { route } from './route.svelte';

let host: FakeHost;
let asked: string[];

beforeEach(() => {
  host = new FakeHost();
  asked = [];
  const way = fake(host);
  const counted: Transport = {
    ...way,
    fetch: (request) => {
      asked.push(`${request.method} ${new URL(request.url).pathname}`);
      return way.fetch(request);
    },
  };
  use(counted);
});

test('models that are asked for many times at once are asked for twice', async () => {
  await Promise.all(Array.from({ length: 50 }, () => models.refresh()));
  await vi.waitFor(() => expect(asked).toEqual(['GET /ebb/v1/models', 'GET /ebb/v1/models']));
  expect(models.list.map((model) => model.alias)).toEqual(['minilm', 'smollm2', 'moonshine']);
  expect(models.of('smollm2')?.kind).toBe('chat');
});

test('what happens is kept in order, told to listeners, and renews the list of models', async () => {
  const heard: string[] = [];
  const unheard = events.on((event) => heard.push(event.event));
  const end = events.follow();
  await vi.waitFor(() => expect(events.open).toBe(true));
  host.load('minilm', {} as never);
  host.run('minilm', 32 * 1024 * 1024);
  await vi.waitFor(() => expect(heard).toEqual(['loading', 'loaded', 'run']));
  await vi.waitFor(() => expect(models.of('minilm')?.state).toBe('loaded'));
  await vi.waitFor(() => expect(events.list.map((event) => event.seq)).toEqual([0, 1, 2]));
  unheard();
  end();
});

test('what another program adds or removes is in the list at once', async () => {
  const end = events.follow();
  await vi.waitFor(() => expect(events.open).toBe(true));
  host.add('other', 'chat', 1, '/models/other');
  host.tell('other', { event: 'added', kind: 'chat' });
  await vi.waitFor(() => expect(models.of('other')?.kind).toBe('chat'));
  host.models.delete('other');
  host.tell('other', { event: 'removed' });
  await vi.waitFor(() => expect(models.of('other')).toBeUndefined());
  end();
});

test('an address names a view and what it is about', async () => {
  route.go('memory', 'name/with ümlaut');
  await vi.waitFor(() => expect(route.view).toBe('memory'));
  expect(route.rest).toBe('name/with ümlaut');
  location.hash = '#/nowhere/%E0%A4%A';
  await vi.waitFor(() => expect(route.view).toBe('models'));
  expect(route.rest).toBe('%E0%A4%A');
});
