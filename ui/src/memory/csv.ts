import { IN_USE, LIMIT, RESERVED, RESIDENT, type Track } from '../live/samples';
import { eventWords } from '../shared/happened';
import type { Range } from './stretch';

const HEAD = 'time,in_use_bytes,reserved_bytes,limit_bytes,resident_bytes,event,detail';

/** A cell of a table. What a spreadsheet would take for a formula is told to be text. */
function cell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Every sample of a stretch of time, none left out, with what happened between them. */
export function csv(track: Track, { from_ms, to_ms }: Range): string {
  const lines: { time_ms: number; line: string }[] = [];
  const { rows, runs } = track;
  const at = (time_ms: number) => new Date(time_ms).toISOString();
  for (let row = rows.from(from_ms); row < rows.length && rows.at(0, row) <= to_ms; row++) {
    const figures = [IN_USE, RESERVED, LIMIT, RESIDENT].map((column) => rows.at(column, row));
    const time_ms = rows.at(0, row);
    const cells = figures.map((figure) => (Number.isNaN(figure) ? '' : String(Math.round(figure))));
    if (cells.some((each) => each !== ''))
      lines.push({ time_ms, line: [at(time_ms), ...cells, '', ''].join(',') });
  }
  const event = (time_ms: number, kind: string, detail: string) =>
    lines.push({ time_ms, line: [at(time_ms), '', '', '', '', cell(kind), cell(detail)].join(',') });
  for (let row = runs.from(from_ms); row < runs.length && runs.at(0, row) <= to_ms; row++) {
    event(runs.at(0, row), 'run', `${runs.at(1, row)} ms`);
  }
  for (const { time_ms, event: told } of track.marks) {
    if (time_ms >= from_ms && time_ms <= to_ms) event(time_ms, told.event, eventWords(told));
  }
  lines.sort((one, other) => one.time_ms - other.time_ms);
  return `${[HEAD, ...lines.map(({ line }) => line)].join('\n')}\n`;
}
