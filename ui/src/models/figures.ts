import type { Sample } from '../api';
import type { ModelMemory } from '../api/generated/schema';

/** What a model holds, all its arenas together. */
export interface Figures {
  resident: number;
  private: number;
  reserved: number;
  inUse: number;
}

export function figuresOf({ resident_bytes, private_bytes, arenas }: Sample): Figures {
  const sum = (key: 'reserved_bytes' | 'in_use_bytes') =>
    arenas.reduce((total, arena) => total + arena[key], 0);
  return {
    resident: resident_bytes,
    private: private_bytes,
    reserved: sum('reserved_bytes'),
    inUse: sum('in_use_bytes'),
  };
}

/** The cap over all arenas of a model; `null` where one of them has none. */
export function capOf(memory: Pick<ModelMemory, 'arenas'>): number | null {
  const arenas = memory.arenas ?? [];
  if (arenas.length === 0) return null;
  let cap = 0;
  for (const { limit_bytes } of arenas) {
    if (limit_bytes == null) return null;
    cap += limit_bytes;
  }
  return cap;
}
