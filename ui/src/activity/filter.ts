import type { Event } from '../api';
import type { HostLogLine } from '../api/generated/schema';
import { eventWords } from '../shared/happened';
import { text } from '../text/en';

/** What of the list is shown; an empty choice is everything. */
export interface Filter {
  model: string;
  plugin: string;
  kind: string;
  search: string;
}

export const NOTHING: Filter = { model: '', plugin: '', kind: '', search: '' };

/** Words are made once: a filter looks at two thousand of them with every key. */
const spoken = new WeakMap<object, string>();

function once<T extends object>(item: T, words: (item: T) => string): string {
  const known = spoken.get(item) ?? words(item);
  spoken.set(item, known);
  return known;
}

export const said = (event: Event): string => once(event, eventWords);

/** The plugin that an event is about. */
export function pluginOf(event: Event): string | null {
  if ('policy' in event && typeof event.policy === 'string') return event.policy;
  return event.event === 'shrink' && !(event.cause in text.memory.causes) ? event.cause : null;
}

/** The plugin that a line of the log is about. */
export function pluginOfLine({ fields }: HostLogLine): string | null {
  const named = fields.plugin ?? fields.policy;
  return typeof named === 'string' ? named : null;
}

const searched = (event: Event) =>
  `${event.model}\n${text.happened.kinds[event.event] ?? event.event}\n${said(event)}`.toLowerCase();

/** Events that fit, the newest first. */
export function eventsThatFit(events: readonly Event[], { model, plugin, kind, search }: Filter): Event[] {
  const wanted = search.trim().toLowerCase();
  return events
    .filter((event) => model === '' || event.model === model)
    .filter((event) => kind === '' || event.event === kind)
    .filter((event) => plugin === '' || pluginOf(event) === plugin)
    .filter((event) => wanted === '' || searched(event).includes(wanted))
    .toReversed();
}

/** A line of the log in one text: what happened, then its figures. */
export const lineWords = (line: HostLogLine): string =>
  once(line, ({ message, fields }) =>
    [message, ...Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`)].join('  '),
  );

const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

/** Lines that fit, the newest first; the kind is the least level. */
export function linesThatFit(
  lines: readonly HostLogLine[],
  { model, plugin, kind, search }: Filter,
): HostLogLine[] {
  const wanted = search.trim().toLowerCase();
  const least = LEVELS.findIndex((level) => level === kind);
  return lines
    .filter((line) => model === '' || line.model === model)
    .filter((line) => LEVELS.indexOf(line.level) >= least)
    .filter((line) => plugin === '' || pluginOfLine(line) === plugin)
    .filter((line) => wanted === '' || `${line.target}\n${lineWords(line)}`.toLowerCase().includes(wanted))
    .toReversed();
}

export type Run = Extract<Event, { event: 'run' }>;

/** Requests that fit, the newest first; the kind is how they ended. */
export function runsThatFit(events: readonly Event[], filter: Filter): Run[] {
  const { kind, ...rest } = filter;
  return eventsThatFit(events, { ...rest, kind: 'run', plugin: '' })
    .filter((event): event is Run => event.event === 'run')
    .filter(({ outcome }) => kind === '' || outcome === kind);
}

/** How long requests took, in milliseconds; `null` where there is none. */
export function durations(runs: readonly Run[]): { median: number; p95: number; longest: number } | null {
  if (runs.length === 0) return null;
  const took = runs.map(({ took_us }) => took_us / 1000).sort((one, other) => one - other);
  const at = (share: number) => took[Math.min(Math.ceil(share * took.length) - 1, took.length - 1)] ?? 0;
  return { median: at(0.5), p95: at(0.95), longest: at(1) };
}

/** Every name once, in order. */
export const names = (found: Iterable<string | null | undefined>): string[] =>
  [...new Set([...found].filter((name): name is string => name != null && name !== ''))].sort();

/** A number of its own for each: a host that began anew counts from 0 again, so that the time belongs to it. */
export const stamp = ({ seq, time_ms }: { seq: number; time_ms: number }): number =>
  time_ms * 1000 + (seq % 1000);
