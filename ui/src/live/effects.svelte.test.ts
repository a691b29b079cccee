import { beforeEach, expect, test, vi } from 'vitest';

import { use } from '../api';
import { FakeHost, fake } from '../api/fake';
import { hostLog } from '../activity/hostlog.svelte';
import { events } from './events.svelte';
import { Feed } from './samples';

let host: FakeHost;
let asked: string[];

beforeEach(() => {
  host = new FakeHost();
  asked = [];
  events.list = [];
  const way = fake(host);
  use({
    ...way,
    fetch: (request) => {
      asked.push(new URL(request.url).pathname);
      return way.fetch(request);
    },
  });
});

/** What a component does: an effect that follows as long as it is there. */
const within = (follow: () => () => void) =>
  $effect.root(() => {
    $effect(follow);
  });

test('events are followed once, however many come', async () => {
  const end = within(() => events.follow());
  await vi.waitFor(() => expect(events.open).toBe(true));
  host.load('minilm', {} as never);
  await vi.waitFor(() => expect(events.list.length).toBe(2));
  for (let each = 0; each < 5; each++) {
    host.run('minilm', 1);
    await new Promise((done) => setTimeout(done, 70));
  }
  await vi.waitFor(() => expect(events.list.length).toBe(7));
  expect(asked.filter((path) => path === '/ebb/v1/events').length).toBe(1);
  end();
});

test('the log is followed once, however many lines come', async () => {
  const end = within(() => hostLog.follow());
  await vi.waitFor(() => expect(hostLog.known).toBe(true));
  for (let each = 0; each < 3; each++) {
    host.write('info', 'ebb', `line ${each}`);
    await new Promise((done) => setTimeout(done, 70));
  }
  await vi.waitFor(() => expect(hostLog.lines.length).toBe(3));
  expect(asked).toEqual(['/ebb/v1/log']);
  end();
});

test('a feed is watched once, however many answers come', async () => {
  host.load('minilm', {} as never);
  const feed = new Feed('minilm');
  let begun = 0;
  const end = within(() => (begun++, feed.watch()));
  await vi.waitFor(() => expect(feed.track.rows.length).toBeGreaterThan(2));
  expect(begun).toBe(1);
  end();
});
