import { expect, test } from 'vitest';

import { bytes, clock, count, parseBytes, time } from './format';

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [65_011_712, '62.0 MiB'],
  [1_073_741_823, '1.00 GiB'],
  [1_342_177_280, '1.25 GiB'],
  [-1_048_576, '−1.0 MiB'],
])('%d bytes are %s', (value, text) => expect(bytes(value)).toBe(text));

test.each([
  [0.05, '50 µs'],
  [1.84, '1.8 ms'],
  [18.2, '18 ms'],
  [1234, '1.2 s'],
  [200_000, '3 min 20 s'],
  [18_190_000, '5 h 3 min'],
])('%d ms are %s', (value, text) => expect(time(value)).toBe(text));

test('a time of today has no day', () => {
  const now = new Date(2026, 10, 5, 14, 3, 9).getTime();
  expect(clock(now, now)).toBe('14:03:09');
  expect(clock(now, now + 86_400_000)).toBe('2026-11-05 14:03:09');
});

test('counts are grouped', () => expect(count(1234567)).toBe('1,234,567'));

test.each([
  ['400MB', 400_000_000],
  ['2GiB', 2_147_483_648],
  ['2g', 2_000_000_000],
  [' 1024 ', 1024],
  ['1.5 MiB', 1_572_864],
  ['', null],
  ['-1', null],
  ['12 apples', null],
  ['99999999999999999999TB', null],
])('%s is %s bytes', (text, value) => expect(parseBytes(text)).toBe(value));
