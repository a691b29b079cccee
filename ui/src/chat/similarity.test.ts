import { expect, test } from 'vitest';

import { cosine, heat, matrix, nearest, shown } from './similarity';

test('cosine', () => {
  expect(cosine([1, 0], [1, 0])).toBe(1);
  expect(cosine([1, 0], [0, 3])).toBe(0);
  expect(cosine([1, 2], [-2, -4])).toBeCloseTo(-1);
  expect(cosine([0, 0], [1, 1])).toBe(0);
  expect(cosine([3, 4], [4, 3])).toBeCloseTo(0.96);
});

test('a matrix has both halves alike, and one on its diagonal', () => {
  const rows = matrix([
    [1, 0],
    [0.6, 0.8],
    [0, 1],
  ]);
  expect(rows[0]?.[1]).toBeCloseTo(0.6);
  expect(rows[1]?.[0]).toBe(rows[0]?.[1]);
  expect([rows[0]?.[0], rows[2]?.[2]]).toEqual([1, 1]);
  expect(nearest(rows, 2).map(({ a, b }) => [a, b])).toEqual([
    [1, 2],
    [0, 1],
  ]);
});

test('cells are coloured between the least and the most, the diagonal left aside', () => {
  const rows = [
    [1, 0.2, 0.6],
    [0.2, 1, 0.4],
    [0.6, 0.4, 1],
  ];
  expect([heat(0.2, rows), heat(0.6, rows), heat(1, rows)]).toEqual([0, 1, 1]);
  expect(heat(0.4, rows)).toBeCloseTo(0.5);
  expect(heat(0.5, [[1]])).toBe(0);
});

test.each([
  [0.825, '0.83'],
  [-0.071, '−0.07'],
  [-0.001, '0.00'],
  [1, '1.00'],
])('%d is shown as %s', (value, words) => expect(shown(value)).toBe(words));
