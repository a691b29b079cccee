import { bytes, time } from '../shared/format';
import { text } from '../text/en';
import type { ReplayFigures, ReplayPromise, ReplayReport } from './report';

/** How a figure of a replay is told. */
export type Row = keyof typeof text.plugins.replay.rows;
export const ROWS = Object.keys(text.plugins.replay.rows) as Row[];

export function told(row: Row, value: number): string {
  if (row.endsWith('_bytes')) return bytes(value);
  if (row.endsWith('_ms')) return time(value);
  if (row === 'over_twice_in_use') return `${(100 * value).toFixed(1)} %`;
  return String(value);
}

/** Rows that tell something: those that are nothing both with the policy and without are left out. */
export const telling = (report: ReplayReport): Row[] =>
  ROWS.filter((row) => report.with[row] !== 0 || report.without[row] !== 0);

/** With less without, signed. */
export function difference(row: Row, report: ReplayReport): string {
  const value = report.with[row] - report.without[row];
  if (value === 0) return '';
  const size = told(row, Math.abs(value));
  return `${value < 0 ? '−' : '+'}${size}`;
}

/** The outcome in sentences. */
export function sentences(report: ReplayReport): string[] {
  const said = text.plugins.replay;
  const { asked, decided, call_us, estimated_runs, runs } = report;
  const all = [memory(report.without, report.with)];
  const { shrinks, freed_bytes, shrink_ms, reloads, reload_ms } = report.with;
  all.push(
    shrinks === 0 && reloads === 0 ? said.noShrink : said.cost(shrinks, bytes(freed_bytes), shrink_ms),
  );
  if (reloads > 0) all.push(said.reloads(reloads, reload_ms));
  all.push(said.asked(asked, decided, call_us ?? null));
  if (estimated_runs > 0) all.push(said.estimated(estimated_runs, runs));
  return all;
}

function memory(without: ReplayFigures, kept: ReplayFigures): string {
  const said = text.plugins.replay;
  const less = without.mean_bytes - kept.mean_bytes;
  if (Math.abs(less) < 1024) return said.same;
  if (less < 0) return said.more(bytes(-less));
  return said.less(bytes(less), Math.round((100 * less) / Math.max(without.mean_bytes, 1)));
}

/** A promise with what came of it. */
export function promised({ words, figure, value, at_most }: ReplayPromise): string {
  const figured = (value: number) =>
    figure.endsWith('_ms')
      ? time(value)
      : figure === 'over_twice_in_use'
        ? `${(100 * value).toFixed(1)} %`
        : value.toFixed(2);
  return text.plugins.replay.promised(words, value == null ? null : figured(value), figured(at_most));
}

/** The columns of the chart: seconds, with it, without it. */
export function columns(report: ReplayReport): [number[], number[], number[]] {
  const { points } = report;
  return [
    points.map((point) => point.at_ms / 1000),
    points.map((point) => point.with_bytes),
    points.map((point) => point.without_bytes),
  ];
}
