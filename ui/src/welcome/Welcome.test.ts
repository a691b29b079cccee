import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';

import { use } from '../api';
import { FakeHost, fake } from '../api/fake';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { route } from '../live/route.svelte';
import { system } from '../live/system.svelte';
import { adding } from '../models/adding.svelte';
import { text } from '../text/en';
import Welcome from './Welcome.svelte';
import { welcome } from './welcome.svelte';

const words = text.welcome;
let host: FakeHost;

beforeEach(async () => {
  localStorage.clear();
  welcome.isOpen = false;
  [notices.list, adding.jobs] = [[], []];
  host = new FakeHost();
  host.models.clear();
  use(fake(host));
  await models.refresh();
  await system.refresh();
});

const next = async (name: string) => {
  const button = await screen.findByRole('button', { name });
  await waitFor(() => expect((button as HTMLButtonElement).disabled).toBe(false));
  await fireEvent.click(button);
};

test('from nothing to memory given back in three presses', async () => {
  render(Welcome);
  expect(await screen.findByText('A processor')).toBeTruthy();
  expect(await screen.findByText(words.modelBody('all-MiniLM-L6-v2', '88.0 MiB'))).toBeTruthy();
  await next(words.modelNow);
  expect(await screen.findByText('minilm is in memory and holds 124.0 MiB.')).toBeTruthy();
  await next(words.burstNow);
  expect(await screen.findByText(words.burstDone('124.0 MiB', '168.0 MiB', '44.0 MiB'))).toBeTruthy();
  expect(host.models.get('minilm')?.runs).toBe(8);
  await next(words.shrinkNow);
  expect(
    await screen.findByText(
      'It gave back 44.0 MiB of 112.0 MiB in 19 ms. The process held 168.0 MiB and holds 124.0 MiB now.',
    ),
  ).toBeTruthy();
  await next(words.toMemory);
  await waitFor(() => expect([route.view, route.rest]).toEqual(['memory', 'minilm']));
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('what a shrink left is shown at once, though the machine is measured later', async () => {
  const way = fake(host);
  let measured: Promise<string> | null = null;
  use({
    ...way,
    fetch: async (request) => {
      if (request.url.endsWith('/shrink')) {
        measured = (await way.fetch(new Request(new URL('/ebb/v1/system', request.url)))).text();
      }
      const old = request.url.endsWith('/system') ? measured : null;
      return old === null ? way.fetch(request) : new Response(await old);
    },
  });
  render(Welcome);
  for (const name of [words.modelNow, words.burstNow, words.shrinkNow]) await next(name);
  await screen.findByText(words.end);
  await system.refresh();
  expect(system.of('minilm')?.resident_bytes).toBe(168 * 1024 * 1024);
  expect(screen.getByText(/^It holds 124\.0 MiB/)).toBeTruthy();
});

test('it can be skipped, does not come back by itself, and can be opened again', async () => {
  const { unmount } = render(Welcome);
  await fireEvent.click(await screen.findByRole('button', { name: words.skip }));
  expect(screen.queryByRole('dialog')).toBeNull();
  unmount();
  render(Welcome);
  expect(screen.queryByRole('dialog')).toBeNull();
  welcome.show();
  expect(await screen.findByRole('dialog', { name: words.title })).toBeTruthy();
});

test('it can be skipped where the browser has no room to keep that', async () => {
  const full = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  render(Welcome);
  await fireEvent.click(await screen.findByRole('button', { name: words.skip }));
  full.mockRestore();
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('whoever has models is not greeted, and the tour takes one of theirs', async () => {
  host.add('mine', 'embeddings', 1024 * 1024, '/models/mine');
  await models.refresh();
  render(Welcome);
  expect(screen.queryByRole('dialog')).toBeNull();
  welcome.show();
  expect(await screen.findByText(words.modelHere('mine'))).toBeTruthy();
  await next(words.modelNow);
  expect(await screen.findByText('mine is in memory and holds 61.0 MiB.')).toBeTruthy();
});

test('what fails is said, and can be tried again', async () => {
  let broken = true;
  const way = fake(host);
  use({
    ...way,
    fetch: (request) => {
      if (broken && request.url.includes('/load')) throw new TypeError('Failed to fetch');
      return way.fetch(request);
    },
  });
  render(Welcome);
  await next(words.modelNow);
  expect(await screen.findByText('the host does not answer')).toBeTruthy();
  broken = false;
  await next(text.shared.retry);
  expect(await screen.findByText('minilm is in memory and holds 124.0 MiB.')).toBeTruthy();
});
