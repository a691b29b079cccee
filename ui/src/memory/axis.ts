import { clock } from '../shared/format';

const KiB = 1024;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** Steps between the lines of an axis of bytes: round figures of their unit, not of thousands. */
export const BYTE_STEPS = [KiB, KiB ** 2, KiB ** 3, KiB ** 4].flatMap((unit) =>
  STEPS.map((step) => step * unit),
);

/** Steps between the lines of an axis of time, in milliseconds: whole seconds and minutes of the clock. */
export const TIME_STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600].map((seconds) => seconds * 1000);

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** A line of an axis of bytes: as short as its step allows. */
export function byteLabel(value: number, step: number): string {
  if (value === 0) return '0';
  const power = Math.max(1, Math.min(Math.floor(Math.log(step) / Math.log(KiB)), UNITS.length));
  return `${Math.round(value / KiB ** power).toLocaleString('en')} ${UNITS[power - 1]}`;
}

/** A line of an axis of time: the clock, without seconds where the step has none. */
export function timeLabel(time_ms: number, step_ms: number): string {
  const shown = clock(time_ms, time_ms);
  return step_ms % 60_000 === 0 ? shown.slice(0, 5) : shown;
}

/** The top of the picture above a highest figure: a little room, in whole steps, so that it does not tremble. */
export function topOf(highest: number): number {
  const wanted = Math.max(highest * 1.08, KiB ** 2);
  const step = BYTE_STEPS.find((each) => wanted / each <= 12) ?? wanted;
  return Math.ceil(wanted / step) * step;
}
