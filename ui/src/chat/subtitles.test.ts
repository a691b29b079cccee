import { expect, test } from 'vitest';

import { plain, srt, stamp, vtt, withSegment } from './subtitles';

const segment = (index: number, text: string, partial = false) => ({
  index,
  text,
  partial,
  start_ms: index * 2000,
  end_ms: index * 2000 + 1500,
});

test.each([
  [0, '00:00:00.000'],
  [62_345, '00:01:02.345'],
  [3_599_999.6, '01:00:00.000'],
  [360_000_000, '100:00:00.000'],
  [-5, '00:00:00.000'],
])('%d ms are %s', (ms, time) => expect(stamp(ms)).toBe(time));

test('SRT', () => {
  expect(srt([segment(0, ' Good\nmorning. '), segment(1, 'a --> b')])).toBe(
    '1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n2\n00:00:02,000 --> 00:00:03,500\na → b\n',
  );
});

test('VTT, with what would be its own marks made harmless', () => {
  expect(vtt([segment(0, '<b> & co')])).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n&lt;b&gt; &amp; co\n');
  expect(vtt([])).toBe('WEBVTT\n\n');
});

test('a partial segment is replaced by what it became', () => {
  const segments = [segment(1, 'b', true), segment(0, 'a'), segment(1, 'bc')].reduce(
    withSegment,
    [] as ReturnType<typeof segment>[],
  );
  expect(plain(segments)).toBe('a\nbc');
});
