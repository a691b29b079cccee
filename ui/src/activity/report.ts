import type { Event, ModelEntry } from '../api';
import type { HostLogLine, System } from '../api/generated/schema';
import { Scrub } from './scrub';

/** What is known, of which a report is made. */
export interface Known {
  made_ms: number;
  way: string;
  browser: string;
  system: System | null;
  models: readonly ModelEntry[];
  events: readonly Event[];
  log: readonly HostLogLine[];
}

/** The last so many events and lines: what led to a bug is at the end. */
const EVENTS = 500;
const LINES = 500;

/** A report for whoever looks for a bug: figures and what happened, without paths, texts and names of models. */
export function report(known: Known): string {
  const scrub = new Scrub(known.models.map(({ alias }) => alias));
  const line = (value: unknown) => JSON.stringify(value);
  const { system } = known;
  return [
    '# Ebb: for a bug report',
    '',
    'Paths, texts, addresses and names of models were taken out.',
    '',
    `made: ${new Date(known.made_ms).toISOString()}`,
    `way: ${known.way}`,
    `browser: ${known.browser}`,
    `host: ${system === null ? 'unknown' : line(scrub.value(system.host))}`,
    `memory: ${system === null ? 'unknown' : line(system.memory)}`,
    '',
    '## Devices and runtimes',
    ...(system?.devices ?? []).map((device) => line(scrub.value(device))),
    ...(system?.runtimes ?? []).map((runtime) => line(scrub.value(runtime))),
    '',
    '## Models',
    ...known.models.filter(({ state }) => state !== 'unloaded').map((model) => line(scrub.value(model))),
    '',
    `## Events (the last ${Math.min(known.events.length, EVENTS)} of ${known.events.length})`,
    ...known.events.slice(-EVENTS).map((event) => line(scrub.value(event))),
    '',
    `## Log (the last ${Math.min(known.log.length, LINES)} of ${known.log.length})`,
    ...known.log.slice(-LINES).map((each) => line(scrub.value(each))),
    '',
  ].join('\n');
}
