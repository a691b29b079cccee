/** Figures as people read them. The same units as the command line: 1 MiB is 1,048,576 bytes. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `62.0 MiB`, `1.25 GiB`, `512 B`. */
export function bytes(count: number): string {
  let [value, unit] = [Math.abs(count), 0];
  // 1023.95 would be shown as 1024.0.
  while (value >= 1023.95 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit === 0 ? 0 : unit >= 3 ? 2 : 1;
  return `${count < 0 ? '−' : ''}${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** `18 ms`, `1.2 s`, `3 min 20 s`, `5 h 3 min`. */
export function time(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 999.5) return `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** `1,234,567`. */
export const count = (value: number): string => value.toLocaleString('en');

/** `14:03:09`, with the day before it where it was not today. */
export function clock(at_ms: number, now_ms = Date.now()): string {
  const [at, now] = [new Date(at_ms), new Date(now_ms)];
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === now.toDateString()) return hours;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${hours}`;
}

/** A size as a person types it (`400MB`, `2GiB`, `1024`), in bytes; `null` where it is none. */
export function parseBytes(text: string): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(b|[kmgt]i?b?)?\s*$/i.exec(text);
  if (match === null) return null;
  const unit = (match[2] ?? 'b').toLowerCase();
  const power = 'bkmgt'.indexOf(unit[0] ?? 'b');
  const value = Number(match[1]) * (unit.includes('i') ? 1024 : 1000) ** power;
  return Number.isSafeInteger(Math.round(value)) ? Math.round(value) : null;
}
