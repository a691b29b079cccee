// Outlier: gives back what one request took that needed much more memory than those before it.

import { log, setting } from 'ebb:plugin/plugin-host@0.1.0';

import { Usual } from './usual.js';

/** An exception becomes a line in the plugin's log. Uncaught, it would end the instance, and its state with it. */
const told = (hook) => (...args) => {
  try {
    return hook(...args);
  } catch (error) {
    throw String(error);
  }
};

const set = (name, standard) => JSON.parse(setting(name) ?? JSON.stringify(standard));

// An instance serves one model, so what it remembers can lie here.
const usual = new Usual();

export const policy = {
  onRun: told((run) => {
    // A u64 may be a Number or a BigInt, by the engine.
    const reserved = run.after.arenas.reduce((all, arena) => all + Number(arena.reservedBytes), 0);
    if (!usual.isOutlier(reserved, set('times', 1.25), set('requests', 8))) return { tag: 'keep' };
    log('info', `a request left ${reserved} bytes reserved: shrink`);
    return { tag: 'shrink', val: [] };
  }),
  onIdle: told(() => ({ tag: 'keep' })),
  onPressure: told(() => ({ tag: 'shrink', val: [] })),
};
