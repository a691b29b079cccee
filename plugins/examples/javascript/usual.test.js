import assert from 'node:assert';
import test from 'node:test';

import { Usual } from './usual.js';

test('one request that needed much more is an outlier', () => {
  const usual = new Usual();
  const said = [100, 110, 105, 400, 104, 130].map((bytes) => usual.isOutlier(bytes, 1.25, 3));
  assert.deepEqual(said, [false, false, false, true, false, false]);
});

test('before there is a usual, nothing is unusual', () => {
  assert(!new Usual().isOutlier(400, 1.25, 3));
});
