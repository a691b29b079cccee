import type { Sample } from '../api';

/** All arenas of a model together; `null` where it has none. */
export interface Totals {
  in_use: number | null;
  reserved: number | null;
  slack: number | null;
  peak: number | null;
  /** Of all arenas; `null` too where one of them has none. */
  limit: number | null;
  regions: number | null;
  shrinkages: number | null;
}

export function totals({ arenas }: Sample): Totals {
  const sum = (figure: (arena: Sample['arenas'][number]) => number | null | undefined) =>
    arenas.length === 0 || arenas.some((arena) => figure(arena) == null)
      ? null
      : arenas.reduce((total, arena) => total + (figure(arena) ?? 0), 0);
  return {
    in_use: sum((arena) => arena.in_use_bytes),
    reserved: sum((arena) => arena.reserved_bytes),
    slack: sum((arena) => Math.max(arena.reserved_bytes - arena.in_use_bytes, 0)),
    peak: sum((arena) => arena.peak_in_use_bytes),
    limit: sum((arena) => arena.limit_bytes),
    regions: sum((arena) => arena.regions),
    shrinkages: sum((arena) => arena.shrinkages),
  };
}
