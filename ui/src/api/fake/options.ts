import type { OptionProblem, OptionsCheck } from '../generated/schema';
import type { CatalogueEntry, LoadOptions, OptionLine } from '../types';
import { CATALOGUE } from './catalogue';
import type { FakeHost, FakeModel } from './host';
import type { Routes } from './routes';

const MiB = 1024 * 1024;

/** The catalogue of options, and what options would come to. */
export const optionRoutes = (host: FakeHost): Routes => ({
  'GET /ebb/v1/options': () => ({ options: CATALOGUE }),
  'POST /ebb/v1/models/{alias}/check': ({ path, body }) =>
    checked(host, host.model(path.alias ?? ''), body as LoadOptions),
});

interface Given {
  scope: string;
  field: string;
  key: string;
  value: string;
}

/** What a load with these options would refuse, or warn of. */
export function problemsOf(model: FakeModel, options: LoadOptions): OptionProblem[] {
  const problems = all(options).flatMap((given) => problemOf(model, given));
  const { max_mem, working_mem } = options.arena_options ?? {};
  if (max_mem !== undefined && working_mem !== undefined) {
    problems.push(
      problem('error', 'arena_options.working_mem', 'max_mem and working_mem exclude each other', 'take one'),
    );
  }
  return problems;
}

function problemOf(model: FakeModel, { scope, key, field, value }: Given): OptionProblem[] {
  const entry = CATALOGUE.find((known) => known.scope === scope && known.key === key);
  if (entry === undefined) return [unknown(scope, key, field)];
  if (entry.no_op === true) return [problem('warning', field, `${key} has no effect`, 'leave it out')];
  if (!fits(entry, value))
    return [problem('error', field, `${key} cannot be '${value}'`, `it takes ${takes(entry)}`)];
  const cap = sizeOf(value);
  if (key === 'max_mem' && cap > 0 && cap < model.weights) {
    const hint = `give at least ${Math.ceil(model.weights / MiB)}MiB, or working_mem`;
    return [problem('error', field, 'the cap lies below the weights', hint)];
  }
  return [];
}

function unknown(scope: string, key: string, field: string): OptionProblem {
  const known = CATALOGUE.filter((entry) => entry.scope === scope).map((entry) => entry.key);
  const nearest = known.find((other) => distance(other, key) <= 2) ?? null;
  const hint = nearest === null ? 'it is handed on as it is' : `did you mean ${nearest}?`;
  return { ...problem('warning', field, `${key} is not known`, hint), nearest };
}

const problem = (
  severity: OptionProblem['severity'],
  field: string,
  message: string,
  hint: string,
): OptionProblem => ({ severity, field, message, hint, nearest: null });

function fits({ type, allowed = [] }: CatalogueEntry, value: string): boolean {
  if (type === 'bool') return ['0', '1', 'true', 'false'].includes(value);
  if (type === 'enum') return allowed.includes(value);
  if (type === 'int') return /^-?\d{1,18}$/.test(value);
  if (type === 'float') return value.trim() !== '' && Number.isFinite(Number(value));
  if (type === 'bytes') return !Number.isNaN(sizeOf(value));
  return type !== 'pointer';
}

const takes = ({ type, allowed = [] }: CatalogueEntry): string =>
  allowed.length > 0 ? allowed.join(', ') : type === 'bytes' ? 'a size: bytes, 400MB, 2GiB' : type;

function sizeOf(value: string): number {
  const match = /^(-1|\d+)([kmg])?(i?b)?$/i.exec(value.trim());
  if (match === null) return Number.NaN;
  const power = ' kmg'.indexOf((match[2] ?? ' ').toLowerCase());
  return Number(match[1]) * (match[3]?.toLowerCase() === 'ib' ? 1024 : 1000) ** power;
}

/** Letters to change, add or leave out. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const changed = (row[j] ?? 0) + (letter === other[j] ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function all(options: Partial<LoadOptions>): Given[] {
  const of = (scope: string, map: string, pairs: Record<string, string> = {}) =>
    Object.entries(pairs).map(([key, value]) => ({ scope, key, value, field: `${map}.${key}` }));
  return [
    ...of('session', 'session_options', options.session_options),
    ...of('arena', 'arena_options', options.arena_options),
    ...of('run', 'runtime_options', options.runtime_options),
    ...Object.entries(options.provider_options ?? {}).flatMap(([name, pairs]) =>
      of(`provider.${name}`, `provider_options.${name}`, pairs),
    ),
  ];
}

/** Every value by its field, so that two sets of options can be compared. */
function flat(options: Partial<LoadOptions>): Map<string, string> {
  const own = Object.entries(options).filter(([, value]) => value !== null && typeof value !== 'object');
  return new Map([
    ...own.map(([key, value]) => [key, String(value)] as const),
    ...all(options).map(({ field, value }) => [field, value] as const),
  ]);
}

function checked(host: FakeHost, model: FakeModel, options: LoadOptions): OptionsCheck {
  const [now, then] = [flat(options), flat(model.entry.options)];
  const differs = [...new Set([...now.keys(), ...then.keys()])].filter(
    (key) => now.get(key) !== then.get(key),
  );
  const changed = model.entry.state === 'loaded' ? differs : [];
  const working_bytes = Math.round(((options.batch_tokens ?? 1024) / 1024) * 34 * MiB);
  const total_bytes = model.weights + working_bytes + 30 * MiB;
  const available_bytes = host.total_bytes * 0.6;
  const alias = model.entry.alias;
  const written = [...now].map(([key, value]) => `${key}=${value}`);
  return {
    model: alias,
    lines: all(options).map(({ scope, key, value }): OptionLine => ({
      scope,
      key,
      requested: value,
      forwarded: `${key}=${value}`,
    })),
    problems: problemsOf(model, options),
    estimate: {
      model: alias,
      weights_bytes: model.weights,
      working_bytes,
      total_bytes,
      available_bytes,
      machine_bytes: host.total_bytes,
      fits: total_bytes <= available_bytes,
      basis:
        'weights of the file, activations of a full batch, and what an empty worker was measured to need',
    },
    needs_reload: changed.length > 0,
    changed,
    cli: [`ebb model load ${alias}`, ...written.map((pair) => `--${pair}`)].join(' '),
    python: `client.load(${JSON.stringify(alias)}, ${written.map((pair) => JSON.stringify(pair)).join(', ')})`,
  };
}
