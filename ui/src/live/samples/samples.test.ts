import { expect, test } from 'vitest';

import { decimate } from './decimate';
import { KEPT, Ring } from './ring';
import { IN_USE, LIMIT, RESERVED, RESIDENT, Track } from './track';

const MiB = 1024 * 1024;
const HOUR_MS = 3_600_000;

test('a day of ten samples a second takes no more memory than an hour, and keeps the last hour', () => {
  let now_ms = 1_790_000_000_000;
  const began_ms = now_ms;
  const track = new Track(() => now_ms);
  const put = (count: number) => {
    for (let each = 0; each < count; each++, now_ms += 100) {
      const in_use = (each % 977) * 1000;
      track.put(now_ms, { in_use, reserved: in_use + MiB, limit: NaN, resident: in_use + 2 * MiB });
    }
  };
  put(KEPT);
  const bytes = track.rows.bytes;
  put(23 * KEPT);
  expect(now_ms - began_ms).toBe(24 * HOUR_MS);
  expect(track.rows.length).toBe(KEPT);
  expect(track.rows.bytes).toBe(bytes);
  expect(bytes).toBe(KEPT * 5 * 8);
  expect(track.rows.first_ms).toBe(now_ms - HOUR_MS);
  expect(track.rows.last_ms).toBe(now_ms - 100);
  // Whatever is kept, a picture gets two points a pixel, and one more at either side.
  const [times, ...figures] = decimate(track.rows, [IN_USE, RESERVED], now_ms - HOUR_MS, now_ms, 1000);
  expect(times.length).toBeLessThanOrEqual(2004);
  for (const each of figures) expect(each.length).toBe(times.length);
});

test('events of a day are bounded too', () => {
  const track = new Track();
  for (let seq = 0; seq < 100_000; seq++) {
    const run = {
      event: 'run' as const,
      seq,
      time_ms: seq * 864,
      model: 'm',
      run: seq,
      took_us: 5,
      items: 1,
    };
    track.take({ ...run, cap_retries: 0, queued: 0, outcome: 'ok', after: null as never });
    if (seq % 10 === 0) {
      const time_ms = seq * 864;
      track.take({
        event: 'unloaded',
        seq,
        time_ms,
        model: 'm',
        resident_before_bytes: 1,
        worker_gone: true,
      });
    }
  }
  expect(track.runs.length).toBe(KEPT);
  expect(track.marks.length).toBe(2000);
  expect(track.marks.at(-1)?.seq).toBe(99_990);
});

test('a ring grows in steps to its room, then the oldest row goes', () => {
  const ring = new Ring(2, 5);
  for (let each = 1; each <= 12; each++) ring.push(each, each * 10);
  expect(Array.from({ length: ring.length }, (_, row) => [ring.at(0, row), ring.at(1, row)])).toEqual([
    [8, 80],
    [9, 90],
    [10, 100],
    [11, 110],
    [12, 120],
  ]);
  const small = new Ring(2);
  for (let each = 0; each < 3000; each++) small.push(each, -each);
  expect([small.at(0, 0), small.at(1, 2999), small.length]).toEqual([0, -2999, 3000]);
  expect(small.bytes).toBe(4096 * 2 * 8);
});

test('rows are found by time, and time does not go back', () => {
  const ring = new Ring(1, 4);
  for (const time of [10, 20, 20, 15, 30]) ring.push(time);
  expect(Array.from({ length: 4 }, (_, row) => ring.at(0, row))).toEqual([20, 20, 20, 30]);
  expect([ring.from(0), ring.from(20), ring.from(21), ring.from(31)]).toEqual([0, 0, 3, 4]);
});

test('no peak and no valley is lost by drawing few points, and their order stays', () => {
  const ring = new Ring(2);
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  for (let each = 0; each < 20_000; each++) ring.push(each * 100, 1000 + next());
  ring.push(2_000_000, 9999);
  for (let each = 20_001; each < 36_000; each++) ring.push(each * 100, 1000 + next());
  const width_ms = 3600_000 / 300;
  const [times, figures] = decimate(ring, [1], 0, 3_600_000, 300) as [number[], number[]];
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  for (let pixel = 0; pixel < 300; pixel++) {
    const drawn = figures.filter((_, index) => Math.floor((times[index] ?? 0) / width_ms) === pixel);
    let [low, high] = [Infinity, -Infinity];
    for (let row = ring.from(pixel * width_ms); row < ring.from((pixel + 1) * width_ms); row++) {
      [low, high] = [Math.min(low, ring.at(1, row)), Math.max(high, ring.at(1, row))];
    }
    expect([Math.min(...drawn), Math.max(...drawn)]).toEqual([low, high]);
  }
  expect(figures).toContain(9999);
});

test('what is drawn already stays as it is while the picture moves on', () => {
  const ring = new Ring(2);
  for (let each = 0; each < 30_000; each++) ring.push(each * 100, (each * 7919) % 1009);
  const seen = (from_ms: number) => {
    const [times, figures] = decimate(ring, [1], from_ms, from_ms + 600_000, 200) as [number[], number[]];
    return new Map(times.map((time, index) => [time, figures[index]]));
  };
  const [before, after] = [seen(1_000_000), seen(1_003_000)];
  // A pixel further, all but those at the edges are the same points.
  const kept = [...before].filter(([time, figure]) => after.get(time) === figure);
  expect(kept.length).toBeGreaterThan(before.size - 8);
});

test('nothing is drawn across a gap, however short it is', () => {
  const track = new Track();
  for (let each = 0; each < 10_000; each++) {
    if (each === 5000) track.gap(each * 100);
    else track.put(each * 100, { in_use: 1, reserved: 2, limit: NaN, resident: 3 });
  }
  const [times, in_use, limit] = decimate(track.rows, [IN_USE, LIMIT], 0, 1_000_000, 100);
  expect(in_use?.[times.indexOf(500_000)]).toBeNull();
  expect(in_use?.filter((figure) => figure === null).length).toBe(1);
  expect(limit?.every((figure) => figure === null)).toBe(true);
});

test('few rows are drawn as they are, with one beyond either edge', () => {
  const ring = new Ring(2);
  for (let each = 0; each < 100; each++) ring.push(each * 100, each);
  expect(decimate(ring, [1], 1000, 1200, 500)).toEqual([
    [900, 1000, 1100, 1200],
    [9, 10, 11, 12],
  ]);
});

test('figures are put under their columns', () => {
  const track = new Track();
  track.put(5, { in_use: 1, reserved: 2, limit: 3, resident: 4 });
  expect([IN_USE, RESERVED, LIMIT, RESIDENT].map((column) => track.rows.at(column, 0))).toEqual([1, 2, 3, 4]);
});
