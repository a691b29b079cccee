import type { PluginLogLine } from '../api';

export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

/** Lines that the page keeps; older ones go. */
export const KEPT = 1000;

/** A line, with how many were missed before it. */
export interface Shown extends PluginLogLine {
  missed: number;
}

/** Lines with new ones behind them: those that are known already are left out, gaps are counted. */
export function withNew(kept: Shown[], fresh: PluginLogLine[]): Shown[] {
  const all = [...kept];
  for (const line of fresh) {
    const last = all.at(-1)?.seq;
    if (last !== undefined && line.seq <= last) continue;
    all.push({ ...line, missed: last === undefined ? 0 : line.seq - last - 1 });
  }
  return all.slice(-KEPT);
}

/** Those of a level at least, that have all the words. */
export function fitting(lines: Shown[], level: Level, filter: string): Shown[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.filter((line) => {
    const said = `${line.message} ${line.model ?? ''}`.toLowerCase();
    return LEVELS.indexOf(line.level) >= LEVELS.indexOf(level) && words.every((word) => said.includes(word));
  });
}
