import assert from 'node:assert';
import test from 'node:test';

import { MIB, worthIt } from './rule.js';

test('much slack goes back', () => {
  assert(worthIt(100 * MIB, 200 * MIB, 1.5, 32));
});

test('little slack stays', () => {
  assert(!worthIt(100 * MIB, 140 * MIB, 1.5, 32));
  assert(!worthIt(1 * MIB, 3 * MIB, 1.5, 32));
});
