import type { Event, Sample } from '../../api';
import { type Mark, markOf } from './marks';
import { Ring } from './ring';

/** Columns of a track's rows. */
export const TIME = 0;
export const IN_USE = 1;
export const RESERVED = 2;
export const LIMIT = 3;
export const RESIDENT = 4;

/** Marks that are kept. A policy that decides ten times a second leaves a few minutes of them. */
const MARKS = 2000;

/** Clocks that differ by less are taken for one: that much is the way of an answer. */
const SAME_CLOCK_MS = 1500;

/** What a model holds, all of its arenas together; `NaN` is a figure that it has not. */
export interface Held {
  in_use: number;
  reserved: number;
  limit: number;
  resident: number;
}

/** The figures of a sample. The limit is that of all arenas, so that one without a limit leaves none. */
export function held(sample: Sample): Held {
  const { arenas, resident_bytes } = sample;
  const sum = (figure: (arena: Sample['arenas'][number]) => number) =>
    arenas.length === 0 ? NaN : arenas.reduce((total, arena) => total + figure(arena), 0);
  return {
    in_use: sum((arena) => arena.in_use_bytes),
    reserved: sum((arena) => arena.reserved_bytes),
    limit: sum((arena) => arena.limit_bytes ?? NaN),
    resident: resident_bytes,
  };
}

/** Figures over time and what happened meanwhile: what a chart draws. */
export class Track {
  /** `TIME`, `IN_USE`, `RESERVED`, `LIMIT`, `RESIDENT`. */
  readonly rows = new Ring(5);
  /** Requests that ended: when, and how long they took (ms). */
  readonly runs = new Ring(2);
  /** Oldest first. */
  marks: readonly Mark[] = [];
  /** What the clock of this page is ahead of the host's, which may be another machine. */
  skew_ms = 0;

  #listeners = new Set<() => void>();

  constructor(readonly clock: () => number = Date.now) {}

  /** Called after each change. Ends when the result is called. */
  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  put(time_ms: number, { in_use, reserved, limit, resident }: Held): void {
    this.rows.push(time_ms, in_use, reserved, limit, resident);
  }

  /** Nothing is drawn across this moment. */
  gap(time_ms: number): void {
    this.rows.push(time_ms, NaN, NaN, NaN, NaN);
  }

  /** Takes note of something that happened. */
  take(event: Event): void {
    if (event.event === 'run') {
      this.runs.push(event.time_ms + this.skew_ms, event.took_us / 1000);
      return;
    }
    const mark = markOf(event, this.skew_ms);
    if (mark !== null) this.marks = [...this.marks.slice(1 - MARKS), mark];
  }

  /** The host's clock, learned of an event and a sample that tell both how long the model has been loaded. */
  learn(loaded_here_ms: number, loaded_there_ms: number): void {
    const skew_ms = loaded_here_ms - loaded_there_ms;
    this.skew_ms = Math.abs(skew_ms) < SAME_CLOCK_MS ? 0 : skew_ms;
  }
}
