import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { use } from '../../api';
import { FakeHost, fake } from '../../api/fake';
import { events } from '../events.svelte';
import { Feed } from './feed.svelte';
import { RESERVED, RESIDENT } from './track';

const MiB = 1024 * 1024;

let host: FakeHost;
let asked: number[];
let histories: number[];
let slow_ms: number;
let open: number;
let most_open: number;
let ends: (() => void)[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(1_790_000_000_000);
  [asked, histories, slow_ms, open, most_open, ends] = [[], [], 0, 0, 0, []];
  events.list = [];
  host = new FakeHost(() => Date.now());
  const way = fake(host);
  use({
    ...way,
    fetch: async (request) => {
      const url = new URL(request.url);
      if (!url.pathname.endsWith('/stats')) return way.fetch(request);
      asked.push(Date.now());
      histories.push(Number(url.searchParams.get('history') ?? 0));
      most_open = Math.max(most_open, ++open);
      if (slow_ms > 0) await new Promise((done) => setTimeout(done, slow_ms));
      open -= 1;
      return way.fetch(request);
    },
  });
  host.load('minilm', {} as never);
});

afterEach(async () => {
  for (const end of ends) end();
  await vi.advanceTimersByTimeAsync(2000);
  vi.useRealTimers();
});

/** A feed that is watched, and hears what happens. */
function watched(alias = 'minilm'): Feed {
  const feed = new Feed(alias, () => Date.now());
  ends.push(
    feed.watch(),
    host.listen((event) => event.model === alias && feed.take(event)),
  );
  return feed;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('what changes is asked for ten times a second, what does not once', async () => {
  const feed = watched();
  await pass(3000);
  asked = [];
  await pass(10_000);
  expect(asked.length).toBeGreaterThanOrEqual(9);
  expect(asked.length).toBeLessThanOrEqual(11);
  asked = [];
  for (let each = 0; each < 40; each++) {
    host.run('minilm', each * MiB);
    await pass(50);
  }
  expect(asked.length).toBeGreaterThanOrEqual(18);
  expect(asked.length).toBeLessThanOrEqual(21);
  expect(feed.stats?.now.runs).toBe(40);
  expect(feed.track.runs.length).toBe(40);
});

test('a run is seen at once though it was quiet', async () => {
  const feed = watched();
  await pass(5000);
  host.run('minilm', 64 * MiB);
  await pass(110);
  expect(feed.stats?.now.arenas[0]?.reserved_bytes).toBe(152 * MiB);
});

test('a slow host is asked one thing at a time', async () => {
  slow_ms = 700;
  watched();
  await pass(7000);
  expect(most_open).toBe(1);
  expect(asked.length).toBeLessThanOrEqual(9);
});

test('nobody is asked while nobody looks; what was missed is taken from what the host keeps', async () => {
  const feed = new Feed('minilm', () => Date.now());
  const end = feed.watch();
  await pass(2000);
  end();
  await pass(2000);
  const before = asked.length;
  for (let each = 0; each < 30; each++) {
    host.run('minilm', each * MiB);
    host.keep('minilm');
    await pass(1000);
  }
  expect(asked.length).toBe(before);
  const rows = feed.track.rows.length;
  ends.push(feed.watch());
  await pass(50);
  expect(histories.at(-1)).toBeGreaterThan(250);
  expect(feed.track.rows.length).toBeGreaterThanOrEqual(rows + 29);
  const { rows: ring } = feed.track;
  for (let row = 1; row < ring.length; row++)
    expect(ring.at(0, row)).toBeGreaterThanOrEqual(ring.at(0, row - 1));
});

test('the first question brings an hour', async () => {
  for (let each = 0; each < 100; each++) {
    host.run('minilm', each * MiB);
    host.keep('minilm');
    await pass(1000);
  }
  const feed = watched();
  await pass(10);
  expect(histories).toEqual([3600]);
  expect(feed.track.rows.length).toBeGreaterThanOrEqual(100);
  expect(Date.now() - feed.track.rows.first_ms).toBeGreaterThanOrEqual(99_000);
  expect(feed.track.rows.at(RESERVED, 50)).toBe((88 + 50) * MiB);
});

test('a shrink is told, and ends what was armed', async () => {
  const feed = watched();
  await pass(200);
  // By another program: its figures tell.
  host.models.get('minilm')!.armed = true;
  await pass(200);
  expect(feed.armed).toEqual({ model: 'minilm', run: 1 });
  host.run('minilm', 66 * MiB);
  expect(feed.armed).toBeNull();
  expect(feed.told?.cause).toBe('after_run');
  expect(feed.told?.report.freed_bytes).toBe(62 * MiB);
  expect(feed.track.marks.map(({ kind }) => kind)).toEqual(['shrink']);
});

test('a shrink that a policy made in vain does not hide what the user asked for', async () => {
  const feed = watched();
  await pass(200);
  host.run('minilm', 66 * MiB);
  feed.shrunk(host.shrink('minilm'));
  host.shrink('minilm', 'shrink-when-idle');
  expect(feed.told?.cause).toBe('request');
  host.run('minilm', 66 * MiB);
  host.shrink('minilm', 'shrink-when-idle');
  expect(feed.told?.cause).toBe('shrink-when-idle');
});

test('a crash is seen at once, leaves what was seen, and ends when the model is back', async () => {
  const feed = watched();
  await pass(1000);
  const rows = feed.track.rows.length;
  host.crash('minilm');
  expect(feed.down?.reason).toBe('killed by signal 9');
  expect(feed.loaded).toBe(false);
  expect(feed.track.rows.length).toBe(rows + 1);
  expect(feed.track.rows.at(RESIDENT, rows)).toBeNaN();
  await pass(5000);
  expect(feed.error).toBeNull();
  expect(feed.track.rows.length).toBe(rows + 1);
  host.load('minilm', {} as never);
  await pass(200);
  expect([feed.loaded, feed.down]).toEqual([true, null]);
  expect(feed.track.rows.last_ms).toBeGreaterThan(Date.now() - 200);
  expect(feed.track.marks.map(({ kind }) => kind)).toEqual(['crashed', 'loaded']);
});

test('events of a host whose clock is another are drawn where they belong', async () => {
  const ahead_ms = 3_600_000;
  host.run('minilm', MiB);
  events.list = host.past.map((event) => ({ ...event, time_ms: event.time_ms + ahead_ms }));
  const feed = watched();
  await pass(10);
  expect(feed.track.skew_ms).toBe(-ahead_ms);
  expect(Math.abs(feed.track.runs.at(0, 0) - Date.now())).toBeLessThan(100);
});

test('a host that began anew counts its events from 0 again, and they count', async () => {
  const feed = watched();
  await pass(200);
  for (let each = 0; each < 5; each++) host.run('minilm', MiB);
  const last = host.past.at(-1)!;
  feed.take(last);
  expect(feed.track.runs.length).toBe(5);
  feed.take({ ...last, seq: 0, time_ms: last.time_ms + 10 });
  expect(feed.track.runs.length).toBe(6);
});
