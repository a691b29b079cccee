import { IN_USE, LIMIT, RESERVED, RESIDENT, type Track } from '../live/samples';
import { eventWords } from '../shared/happened';
import { text } from '../text/en';

/** The figures at a moment, exactly as they were sampled, and what happened around it. */
export interface Moment {
  time_ms: number;
  in_use: number | null;
  reserved: number | null;
  limit: number | null;
  resident: number | null;
  /** In words, the latest first; at most `SAID`. */
  happened: string[];
}

const SAID = 4;

/** What was so at a time: the last sample before it, or the first where there is none before. */
export function momentAt(track: Track, time_ms: number, around_ms: number, named = false): Moment | null {
  const { rows } = track;
  if (rows.length === 0) return null;
  const row = Math.max(Math.min(rows.from(time_ms + 1), rows.length) - 1, 0);
  const figure = (column: number) => {
    const value = rows.at(column, row);
    return Number.isNaN(value) ? null : value;
  };
  return {
    time_ms: rows.at(0, row),
    in_use: figure(IN_USE),
    reserved: figure(RESERVED),
    limit: figure(LIMIT),
    resident: figure(RESIDENT),
    happened: happenedIn(track, time_ms - around_ms, time_ms + around_ms, named),
  };
}

/** What happened in a stretch of time, in words, the latest first; `named` says of which model. */
export function happenedIn(track: Track, from_ms: number, to_ms: number, named = false): string[] {
  const said = track.marks
    .filter(({ time_ms }) => time_ms >= from_ms && time_ms <= to_ms)
    .slice(-SAID)
    .reverse()
    .map(({ event, model }) => (named ? `${model}: ${eventWords(event)}` : eventWords(event)));
  const { runs } = track;
  let [count, longest] = [0, 0];
  for (let row = runs.from(from_ms); row < runs.length && runs.at(0, row) <= to_ms; row++) {
    count += 1;
    longest = Math.max(longest, runs.at(1, row));
  }
  if (count > 0) said.push(text.memory.runsAt(count, longest));
  return said;
}
