import type { LoadOptions } from '../api';
import type { OptionProblem } from '../api/generated/schema';
import { parseBytes } from '../shared/format';
import { text } from '../text/en';
import { OWN, type OwnType } from './own';

/**
 * What a person typed into the load dialog, and the load options that it means. All of it is text until it is sent, so
 * that nothing typed is lost, however wrong it is.
 */

/** One option as typed. Its scope is the host's: `session`, `arena`, `run`, `provider.cuda`; empty for Ebb's own ones. */
export interface Given {
  scope: string;
  key: string;
  value: string;
}

/** A row for any key, in any scope. */
export interface Row extends Given {
  id: number;
}

/** The maps of the load options, by scope. */
const MAPS = {
  session: 'session_options',
  arena: 'arena_options',
  run: 'runtime_options',
} as const;

const PROVIDER = 'provider.';

/** The name under which the host speaks of an option: `threads`, `arena_options.max_mem`. */
export function pathOf(scope: string, key: string): string {
  if (scope === '') return key;
  if (scope.startsWith(PROVIDER)) return `provider_options.${scope.slice(PROVIDER.length)}.${key}`;
  return `${MAPS[scope as keyof typeof MAPS]}.${key}`;
}

/** Every option of load options, as text. */
export function given(options: Partial<LoadOptions>): Given[] {
  const all: Given[] = [];
  for (const key of Object.keys(OWN)) {
    const value = options[key as keyof typeof OWN];
    if (value !== null && value !== undefined) all.push({ scope: '', key, value: String(value) });
  }
  const take = (scope: string, map: Record<string, string> = {}) => {
    for (const [key, value] of Object.entries(map)) all.push({ scope, key, value });
  };
  for (const [scope, map] of Object.entries(MAPS)) take(scope, options[map]);
  for (const [name, map] of Object.entries(options.provider_options ?? {})) take(PROVIDER + name, map);
  return all;
}

/** Load options, and what keeps some of what was typed out of them. */
export interface Written {
  options: Partial<LoadOptions>;
  problems: OptionProblem[];
}

/** The load options that are meant. What cannot be sent at all is left out and said. */
export function written(fields: Iterable<Given>, rows: readonly Row[]): Written {
  const problems: OptionProblem[] = [];
  const wrong = (field: string, message: string) =>
    problems.push({ severity: 'error', field, message, hint: null, nearest: null });
  const own: [string, unknown][] = [];
  const maps = new Map<string, [string, string][]>();
  const seen = new Set<string>();

  for (const { scope, key, value } of fields) {
    const path = pathOf(scope, key);
    seen.add(path);
    if (isHalved(value)) wrong(path, text.models.wrong.halved);
    else if (scope !== '') put(maps, scope, key, value);
    else {
      const meant = ownValue(OWN[key as keyof typeof OWN], value);
      if (meant === null) wrong(path, text.models.wrong[OWN[key as keyof typeof OWN]]);
      else own.push([key, meant]);
    }
  }
  for (const { id, scope, key, value } of rows) {
    const path = pathOf(scope, key);
    if (key.trim() === '' && value === '') continue;
    if (key.trim() === '') wrong(rowPath(id), text.models.wrong.key);
    else if (scope === PROVIDER) wrong(rowPath(id), text.models.wrong.provider);
    else if (isHalved(key + value) || isHalved(scope)) wrong(rowPath(id), text.models.wrong.halved);
    else if (seen.has(path)) wrong(rowPath(id), text.models.wrong.twice);
    else put(maps, scope, key, value);
    seen.add(path);
  }
  return { options: assembled(own, maps), problems };
}

/** Half of a pair of surrogates: no JSON that a host takes can say it. */
const isHalved = (typed: string): boolean => /\p{Surrogate}/u.test(typed);

/** The path of a row whose own one cannot be told. */
export const rowPath = (id: number): string => `row ${id}`;

function put(maps: Map<string, [string, string][]>, scope: string, key: string, value: string): void {
  const entries = maps.get(scope);
  if (entries === undefined) maps.set(scope, [[key, value]]);
  else entries.push([key, value]);
}

/** `fromEntries` makes keys of its own of all names, `__proto__` too. */
function assembled(own: [string, unknown][], maps: Map<string, [string, string][]>): Partial<LoadOptions> {
  const entries: [string, unknown][] = [...own];
  const providers: [string, unknown][] = [];
  for (const [scope, pairs] of maps) {
    if (scope.startsWith(PROVIDER)) providers.push([scope.slice(PROVIDER.length), Object.fromEntries(pairs)]);
    else entries.push([MAPS[scope as keyof typeof MAPS], Object.fromEntries(pairs)]);
  }
  if (providers.length > 0) entries.push(['provider_options', Object.fromEntries(providers)]);
  return Object.fromEntries(entries) as Partial<LoadOptions>;
}

/** The value of one of Ebb's own options; `null` where the text is none. */
export function ownValue(type: OwnType, typed: string): string | number | boolean | null {
  const value = typed.trim();
  if (type === 'count') return whole(value, 4_294_967_295);
  if (type === 'ms') return whole(value, Number.MAX_SAFE_INTEGER);
  if (type === 'bytes') return parseBytes(value);
  if (type === 'bool') return value === 'true' ? true : value === 'false' ? false : null;
  if (type === 'duration') return isDuration(value) ? value : null;
  return typed;
}

function whole(value: string, most: number): number | null {
  return /^\d{1,16}$/.test(value) && Number(value) <= most ? Number(value) : null;
}

/** `5m`, `1h30m`, `500ms`, a number of seconds, 0, -1. Longer numbers are more than the host counts. */
const isDuration = (value: string): boolean =>
  /^-?\d{1,14}(\.\d+)?$|^-?(\d{1,14}(\.\d+)?(ms|s|m|h|d))+$/.test(value);
