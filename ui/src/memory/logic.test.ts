import { expect, test } from 'vitest';

import type { Event, ModelEntry, PluginEntry, Sample } from '../api';
import { type Mark, Track } from '../live/samples';
import { BYTE_STEPS, TIME_STEPS, byteLabel, timeLabel, topOf } from './axis';
import { arenaOff } from './cannot';
import { csv } from './csv';
import { ensureLanguage } from './library';
import { outstanding } from './marking';
import { momentAt } from './moment';
import { attachedTo, sawWords } from './policies';
import { everyMs, moved, rangeOf, scaled, zoomedTo } from './stretch';
import { totals } from './totals';

const MiB = 1024 * 1024;

test('a browser without a language gets one before the chart library asks for it', () => {
  const browser = { language: 'C' };
  ensureLanguage(browser);
  expect(browser.language).toBe('en');
  const german = { language: 'de-AT' };
  ensureLanguage(german);
  expect(german.language).toBe('de-AT');
});

test('lines of the axes are round figures', () => {
  expect(BYTE_STEPS).toContain(50 * MiB);
  expect(TIME_STEPS).toContain(10_000);
  expect(byteLabel(0, MiB)).toBe('0');
  expect(byteLabel(150 * MiB, 50 * MiB)).toBe('150 MiB');
  expect(byteLabel(1536 * MiB, 512 * MiB)).toBe('1,536 MiB');
  expect(byteLabel(2048 * MiB, 1024 * MiB)).toBe('2 GiB');
  const noon = new Date(2026, 1, 3, 12, 0, 5).getTime();
  expect(timeLabel(noon, 5000)).toBe('12:00:05');
  expect(timeLabel(noon, 60_000)).toBe('12:00');
  expect(topOf(0)).toBe(1100 * 1024);
  expect(topOf(133 * MiB)).toBe(160 * MiB);
});

test('what is seen moves on, stands still where it was zoomed into, and cannot be zoomed to nothing', () => {
  expect(rangeOf({ span: 'minute', paused_ms: null, zoomed: null }, 100_000)).toEqual({
    from_ms: 40_000,
    to_ms: 100_000,
  });
  expect(rangeOf({ span: 'ten', paused_ms: 700_000, zoomed: null }, 900_000)).toEqual({
    from_ms: 100_000,
    to_ms: 700_000,
  });
  const zoomed = zoomedTo(50_000, 20_000);
  expect(rangeOf({ span: 'hour', paused_ms: 1, zoomed }, 9)).toEqual({ from_ms: 20_000, to_ms: 50_000 });
  expect(zoomedTo(5000, 5100)).toEqual({ from_ms: 4550, to_ms: 5550 });
  expect(scaled({ from_ms: 0, to_ms: 10_000 }, 0.5, 2000)).toEqual({ from_ms: 1000, to_ms: 6000 });
  expect(scaled({ from_ms: 0, to_ms: 3_000_000 }, 4, 0)).toEqual({ from_ms: 0, to_ms: 3_600_000 });
  expect(moved({ from_ms: 0, to_ms: 10_000 }, 0.5, 12_000)).toEqual({ from_ms: 2000, to_ms: 12_000 });
});

test('a picture is drawn as often as it moves by two pixels, within reason', () => {
  expect(everyMs({ from_ms: 0, to_ms: 10_000 }, 1000)).toBe(100);
  expect(everyMs({ from_ms: 0, to_ms: 60_000 }, 1000)).toBe(120);
  expect(everyMs({ from_ms: 0, to_ms: 3_600_000 }, 1000)).toBe(1000);
});

function track(): Track {
  const made = new Track();
  made.put(1000, { in_use: 10, reserved: 20, limit: NaN, resident: 30 });
  made.put(2000, { in_use: 11, reserved: 21, limit: 50, resident: 31 });
  made.gap(2500);
  const of = { seq: 0, model: '=cmd()' };
  made.take({ ...of, event: 'runtime_option', time_ms: 2200, key: '=1+1,"x"', value: '5' });
  const run = {
    ...of,
    event: 'run' as const,
    time_ms: 1500,
    run: 1,
    outcome: 'ok' as const,
    took_us: 18_000,
  };
  made.take({ ...run, items: 1, cap_retries: 0, queued: 0, after: {} as Sample });
  return made;
}

test('a table for a spreadsheet has every sample and what happened, and no cell is a formula', () => {
  expect(csv(track(), { from_ms: 0, to_ms: 9000 }).split('\n')).toEqual([
    'time,in_use_bytes,reserved_bytes,limit_bytes,resident_bytes,event,detail',
    '1970-01-01T00:00:01.000Z,10,20,,30,,',
    '1970-01-01T00:00:01.500Z,,,,,run,18 ms',
    '1970-01-01T00:00:02.000Z,11,21,50,31,,',
    `1970-01-01T00:00:02.200Z,,,,,runtime_option,"'=1+1,""x"" = 5"`,
    '',
  ]);
  expect(csv(track(), { from_ms: 5000, to_ms: 9000 }).trim()).not.toContain('\n');
});

test('at a moment the sample before it holds, and what happened around it is said', () => {
  expect(momentAt(new Track(), 1, 1)).toBeNull();
  const moment = momentAt(track(), 1900, 500);
  expect(moment).toMatchObject({ time_ms: 1000, in_use: 10, reserved: 20, limit: null, resident: 30 });
  expect(moment?.happened).toEqual(['=1+1,"x" = 5', 'a request, 18 ms']);
  expect(momentAt(track(), 0, 0)?.time_ms).toBe(1000);
  expect(momentAt(track(), 9000, 0)).toMatchObject({ time_ms: 2500, in_use: null, resident: null });
});

test('arenas count together; without one, or with one that has no limit, there is no figure', () => {
  const arena = { device: 'cpu:0', in_use_bytes: 3, reserved_bytes: 5, peak_in_use_bytes: 4 };
  const counts = { regions: 2, shrinkages: 1 };
  const one = { ...arena, ...counts, limit_bytes: 9 };
  const sample = (...arenas: Sample['arenas']) => ({ arenas }) as Sample;
  expect(totals(sample(one, one))).toEqual({
    in_use: 6,
    reserved: 10,
    slack: 4,
    peak: 8,
    limit: 18,
    regions: 4,
    shrinkages: 2,
  });
  expect(totals(sample(one, { ...one, limit_bytes: null })).limit).toBeNull();
  expect(totals(sample())).toMatchObject({ in_use: null, slack: null, limit: null });
});

test('an arena may be switched off under either name', () => {
  const entry = (session_options: Record<string, string>) =>
    ({ options: { session_options }, info: null }) as unknown as ModelEntry;
  expect(arenaOff(entry({ enable_cpu_mem_arena: '0' }))).toBe(true);
  expect(arenaOff(entry({ 'session.enable_cpu_mem_arena': 'False' }))).toBe(true);
  expect(arenaOff(entry({ 'session.enable_cpu_mem_arena': '1' }))).toBe(false);
  expect(arenaOff(entry({}))).toBe(false);
});

test('policies of a model stand in the order in which they are asked', () => {
  const plugin = (id: string, position: number, model = 'm') =>
    ({
      manifest: { id, name: id.toUpperCase() },
      attachments: [{ plugin: id, model, position }],
    }) as PluginEntry;
  const found = attachedTo([plugin('b', 1), plugin('x', 0, 'other'), plugin('a', 0)], 'm');
  expect(found.map(({ name }) => name)).toEqual(['A', 'B']);
});

test('what a policy saw is said with its figures', () => {
  const saw: Extract<Event, { event: 'policy' }>['saw'] = {
    hook: 'idle',
    in_use_bytes: 40 * MiB,
    reserved_bytes: 106 * MiB,
    resident_bytes: 351 * MiB,
    runs: 12,
    idle_ms: 3000,
    available_bytes: null,
  };
  expect(sawWords(saw)).toBe(
    'saw 40.0 MiB in use of 106.0 MiB reserved, 351.0 MiB resident, 12 runs, idle for 3.0 s',
  );
});

test('where many marks would stand at one place, the one that matters most does', () => {
  const mark = (time_ms: number, kind: Mark['kind'], freed_bytes = 1) =>
    ({ time_ms, kind, event: { event: kind, report: { freed_bytes } } }) as unknown as Mark;
  const marks = [
    mark(10, 'policy'),
    mark(20, 'shrink'),
    mark(110, 'shrink', 0),
    mark(120, 'change'),
    mark(150, 'crashed'),
    mark(160, 'shrink'),
    mark(900, 'loaded'),
  ];
  const drawn = outstanding(marks, 0, 500, 100).map(({ time_ms, kind }) => [time_ms, kind]);
  expect(drawn).toEqual([
    [20, 'shrink'],
    [150, 'crashed'],
  ]);
});
