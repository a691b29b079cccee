import type { ModelEntry } from '../api';

/** Whether a model has no arena because it was switched off, under any of the names that work. */
export function arenaOff({ info, options }: ModelEntry): boolean {
  const off = (value: string | null | undefined) => value === '0' || value?.toLowerCase() === 'false';
  const named = (key: string) => key === 'enable_cpu_mem_arena' || key === 'session.enable_cpu_mem_arena';
  const line = info?.options.find(({ key }) => named(key));
  if (line !== undefined) return off(line.effective ?? line.requested);
  return Object.entries(options.session_options ?? {}).some(([key, value]) => named(key) && off(value));
}
