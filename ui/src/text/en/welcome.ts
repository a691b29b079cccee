import type { ShrinkReport } from '../../api';
import { bytes, time } from '../../shared/format';

/** The tour of the first run. */
export const welcome = {
  title: 'Welcome to Ebb',
  intro:
    'A model that has answered a large request goes on holding the memory that it took for it. Ebb shows you how much that is, and gives it back. See it happen, in a minute:',
  machine: 'This machine',
  free: (available: string, total: string) => `${available} of memory free of ${total}`,
  looking: 'Looking at this machine…',
  deviceMemory: (name: string, free: string) => `${name}, ${free} free`,

  model: 'Load a small model',
  modelBody: (name: string, size: string) =>
    `${name} turns texts into vectors. It takes ${size} and runs in a process of its own.`,
  modelHere: (alias: string) => `Your list has one that turns texts into vectors: ${alias}.`,
  modelDownload: (size: string) => `It has to be downloaded once: ${size}.`,
  licence: (licence: string) => `Licence: ${licence}.`,
  modelNone:
    'There is no small model at hand for this. Add one that turns texts into vectors, and open the tour again.',
  modelNow: 'Load it',
  modelDone: (alias: string, resident: string) => `${alias} is in memory and holds ${resident}.`,
  adding: 'Adding it…',
  loading: 'Loading it…',

  burst: 'Give it work',
  burstBody: (requests: number, texts: number) =>
    `${requests} requests of ${texts} texts each, as a program would send them.`,
  burstNow: 'Send them',
  bursting: (done: number, all: number) => `Request ${done} of ${all}`,
  burstDone: (before: string, after: string, more: string) =>
    `All are answered. It held ${before} before and holds ${after} now: ${more} more, though nothing runs.`,
  burstFlat: (after: string) => `All are answered. It holds ${after}: there was room from before.`,

  shrink: 'Take the memory back',
  shrinkBody: 'The model stays loaded and goes on answering.',
  shrinkNow: 'Shrink now',
  shrinking: 'Shrinking…',
  shrinkDone: (report: ShrinkReport) => {
    const { freed_bytes, reserved_before_bytes, resident_before_bytes, resident_after_bytes } = report;
    const took = time((report.took_us + report.trim_us) / 1000);
    const resident = `The process held ${bytes(resident_before_bytes)} and holds ${bytes(resident_after_bytes)} now.`;
    return freed_bytes === 0
      ? `There was nothing to give back: it had done so by itself already. ${resident}`
      : `It gave back ${bytes(freed_bytes)} of ${bytes(reserved_before_bytes)} in ${took}. ${resident}`;
  },
  end: 'That is what Ebb does. It can do so by itself, too: after every so many requests, at a cap, or as a plugin decides.',

  holds: (resident: string, inUse: string, reserved: string) =>
    `It holds ${resident}. Of its arena’s ${reserved}, ${inUse} are in use.`,
  memoryOf: (alias: string) => `Memory of ${alias}`,
  stepDone: 'done',
  skip: 'Skip the tour',
  close: 'Close',
  toMemory: 'Watch its memory',

  /** Texts to embed: each as long as its number says. */
  sample: (index: number) =>
    'When the tide goes out, the shore is there again, and so is the room that the water had taken. '.repeat(
      1 + (index % 8),
    ),
};
