// {{name}}: gives memory back when a model holds much more than it uses.
//
// What can be imported of the host is in `wit/`, in camel case. A u64 may be a Number or a BigInt: `Number(x)` does for both.

import { log, setting } from 'ebb:plugin/plugin-host@0.1.0';

import { worthIt } from './rule.js';

/** An exception becomes a line in the plugin's log. Uncaught, it would end the instance, and its state with it. */
const told = (hook) => (...args) => {
  try {
    return hook(...args);
  } catch (error) {
    throw String(error);
  }
};

const set = (name, standard) => JSON.parse(setting(name) ?? JSON.stringify(standard));
const sum = (arenas, field) => arenas.reduce((all, arena) => all + Number(arena[field]), 0);

function decide(sample) {
  const inUse = sum(sample.arenas, 'inUseBytes');
  const reserved = sum(sample.arenas, 'reservedBytes');
  if (!worthIt(inUse, reserved, set('ratio', 1.5), set('slack_mib', 32))) return { tag: 'keep' };
  log('info', `${reserved} bytes are reserved, ${inUse} in use: shrink`);
  // No device named: every arena.
  return { tag: 'shrink', val: [] };
}

export const policy = {
  onRun: told((run) => decide(run.after)),
  onIdle: told((model, idleMs, now) => decide(now)),
  // The machine runs short: everything counts.
  onPressure: told((model, availableBytes, totalBytes, now) => ({ tag: 'shrink', val: [] })),
};
