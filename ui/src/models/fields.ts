import type { CatalogueEntry, ModelKind, Profile } from '../api';
import { text } from '../text/en';
import { given, pathOf } from './options';
import { OWN, OWN_MEMORY, OWN_OTHERS, type OwnKey, isFor } from './own';

/** How the dialog asks for a value. */
export type Control = 'switch' | 'choice' | 'text' | 'number' | 'bytes' | 'none';

/** A typed field of the load dialog, made from the catalogue or of one of Ebb's own options. */
export interface Field {
  /** How the host calls it in problems: `arena_options.max_mem`. */
  path: string;
  scope: string;
  key: string;
  /** What people read; the key itself for options of ONNX Runtime. */
  label: string;
  control: Control;
  /** Values to choose among. */
  choices: string[];
  /** Values and ranges that can be typed, where the catalogue names some. */
  forms: string[];
  /** The value where none is given; `null`: none, or decided at run time. */
  default: string | null;
  description: string;
  note: string | null;
  memory: boolean;
}

/** A set of fields under one heading. */
export interface Group {
  id: string;
  title: string;
  fields: Field[];
}

/** A field for each option of the catalogue that a load can give. */
export function catalogueFields(entries: readonly CatalogueEntry[]): Field[] {
  return entries.filter(({ scope }) => scope !== 'environment').map(catalogueField);
}

function catalogueField(entry: CatalogueEntry): Field {
  const { scope, key, description } = entry;
  return {
    path: pathOf(scope, key),
    scope,
    key,
    label: key,
    control: controlOf(entry),
    choices: entry.type === 'bool' ? truths(entry) : entry.type === 'enum' ? (entry.allowed ?? []) : [],
    forms: entry.type === 'bool' || entry.type === 'enum' ? [] : (entry.allowed ?? []),
    default: entry.default ?? null,
    description,
    note: [entry.no_op === true ? text.models.noOp : null, entry.note].filter(Boolean).join(' ') || null,
    memory: entry.memory === true,
  };
}

/** A key with a `<prefix>` stands for many: it is for the rows of one's own. */
const isTemplate = (key: string): boolean => key.includes('<');

function controlOf({ key, type }: CatalogueEntry): Control {
  if (type === 'pointer' || isTemplate(key)) return 'none';
  if (type === 'bool') return 'switch';
  if (type === 'enum') return 'choice';
  if (type === 'bytes') return 'bytes';
  return type === 'int' || type === 'float' ? 'number' : 'text';
}

/** On and off, as this option writes them. */
const truths = ({ allowed }: CatalogueEntry): string[] =>
  allowed?.includes('true') === true ? ['true', 'false'] : ['1', '0'];

const OWN_CONTROLS = {
  count: 'number',
  ms: 'number',
  bytes: 'bytes',
  bool: 'switch',
  duration: 'text',
  text: 'text',
} as const;

/** A field for one of Ebb's own options. */
export function ownField(key: OwnKey): Field {
  const { label, description, unset } = text.models.own[key];
  return {
    path: key,
    scope: '',
    key,
    label,
    control: OWN_CONTROLS[OWN[key]],
    choices: OWN[key] === 'bool' ? ['true', 'false'] : [],
    forms: [],
    default: unset,
    description,
    note: null,
    memory: OWN_MEMORY.includes(key),
  };
}

/** What of all fields is wanted on the screen. */
export interface Wanted {
  kind: ModelKind;
  /** Words to look for; empty: none. */
  search: string;
  /** Also what has nothing to do with memory. */
  others: boolean;
  /** The provider whose options are shown; empty: none. */
  provider: string;
  /** Paths with a value: they are shown in any case. */
  changed: ReadonlySet<string>;
  /** Only those. */
  onlyChanged: boolean;
}

/** The fields that are wanted, memory first. A search looks at all there are, whatever else was chosen. */
export function groups(catalogue: readonly Field[], wanted: Wanted): Group[] {
  const { kind, changed } = wanted;
  const own = (keys: readonly OwnKey[]) =>
    keys.filter((key) => isFor(key, kind) || changed.has(key) || wanted.search !== '').map(ownField);
  const of = (memory: boolean, within: (scope: string) => boolean) =>
    catalogue.filter((field) => field.memory === memory && within(field.scope));
  const isChosen = (scope: string) => scope === `provider.${wanted.provider}`;
  const isOther = (scope: string) => scope.startsWith('provider.') && !isChosen(scope);
  const titles = text.models.groups;

  const all: (Group & { far: boolean })[] = [
    { id: 'own', title: titles.own, fields: own(OWN_MEMORY), far: false },
    { id: 'arena', title: titles.arena, fields: of(true, (scope) => scope === 'arena'), far: false },
    {
      id: 'provider',
      title: titles.provider(wanted.provider),
      fields: of(true, isChosen),
      far: false,
    },
    { id: 'session', title: titles.session, fields: of(true, (scope) => scope === 'session'), far: false },
    { id: 'run', title: titles.run, fields: of(true, (scope) => scope === 'run'), far: false },
    { id: 'serving', title: titles.serving, fields: own(OWN_OTHERS), far: true },
    {
      id: 'provider-others',
      title: titles.providerOthers(wanted.provider),
      fields: of(false, isChosen),
      far: true,
    },
    {
      id: 'others',
      title: titles.others,
      fields: of(false, (scope) => scope === 'arena' || scope === 'session'),
      far: true,
    },
    { id: 'run-others', title: titles.runOthers, fields: of(false, (scope) => scope === 'run'), far: true },
    {
      id: 'providers',
      title: titles.providers,
      fields: catalogue.filter((f) => isOther(f.scope)),
      far: true,
    },
  ];
  const isWanted = (field: Field, { id, far }: { id: string; far: boolean }) => {
    if (wanted.onlyChanged && !changed.has(field.path)) return false;
    if (wanted.search !== '') return matches(field, wanted.search);
    return changed.has(field.path) || (id !== 'providers' && (!far || wanted.others));
  };
  return all
    .map(({ id, title, fields, far }) => ({
      id,
      title,
      fields: fields.filter((f) => isWanted(f, { id, far })),
    }))
    .filter((group) => group.fields.length > 0);
}

/** How many fields are a click away. */
export const hiddenCount = (catalogue: readonly Field[], provider: string): number =>
  OWN_OTHERS.length +
  catalogue.filter(
    ({ memory, scope }) => !memory && (!scope.startsWith('provider.') || scope === `provider.${provider}`),
  ).length;

/** Whether every word is in what a field says of itself. */
export function matches(field: Field, search: string): boolean {
  const said =
    `${field.key} ${field.label} ${field.scope} ${field.description} ${field.note ?? ''}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

/** The value that holds where none is given, and who says so. */
export interface Standing {
  value: string | null;
  /** The profile that sets it; `null`: the default. */
  profile: string | null;
  /** Why it does. */
  reason: string | null;
}

/** Values that a profile sets, by path. */
export function ofProfile(profile: Profile | undefined): Map<string, Standing> {
  if (profile === undefined) return new Map();
  return new Map(
    given(profile.options).map(({ scope, key, value }) => [
      pathOf(scope, key),
      { value, profile: profile.name, reason: profile.reasons?.[key] ?? null },
    ]),
  );
}

const TRUTHS: Record<string, string> = { true: '1', false: '0' };

/** Whether two texts mean the same value: `true` and `1` do. */
export const same = (one: string, other: string): boolean => {
  const plain = (value: string) => TRUTHS[value.trim().toLowerCase()] ?? value.trim();
  return plain(one) === plain(other);
};

/** The names of providers that the catalogue knows, in its order. */
export const providersOf = (catalogue: readonly Field[]): string[] => [
  ...new Set(
    catalogue
      .filter(({ scope }) => scope.startsWith('provider.'))
      .map(({ scope }) => scope.slice('provider.'.length)),
  ),
];
