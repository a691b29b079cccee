import type { Event } from '../../api';

/** Something that happened, as it is drawn on a chart. Requests are not among them: they are ticks. */
export interface Mark {
  seq: number;
  time_ms: number;
  model: string;
  kind: 'shrink' | 'policy' | 'near_cap' | 'crashed' | 'loaded' | 'unloaded' | 'change';
  event: Event;
}

const KINDS: Partial<Record<Event['event'], Mark['kind']>> = {
  shrink: 'shrink',
  policy: 'policy',
  near_cap: 'near_cap',
  crashed: 'crashed',
  load_failed: 'crashed',
  loaded: 'loaded',
  unloaded: 'unloaded',
  runtime_option: 'change',
  attached: 'change',
  detached: 'change',
};

/** The mark of an event; `null` where it makes none. */
export function markOf(event: Event, skew_ms = 0): Mark | null {
  const kind = KINDS[event.event];
  if (kind === undefined) return null;
  return { seq: event.seq, time_ms: event.time_ms + skew_ms, model: event.model, kind, event };
}
