import type { PluginManifest } from '../api';
import { text } from '../text/en';

/** A setting of a plugin, as its schema describes it. */
export interface Setting {
  name: string;
  kind: 'string' | 'number' | 'integer' | 'boolean';
  title: string;
  description: string;
  default: Value;
  minimum: number | null;
  maximum: number | null;
  /** The values that it may have, where only some may be. */
  choices: Value[] | null;
}
export type Value = string | number | boolean;
/** What a field holds: text, or whether it is ticked. */
export type Typed = string | boolean;
/** What was typed, as a value, or why it is none. */
export type Read = { value: Value } | { problem: string };

/** Longest text that the host takes, in bytes. */
const MAX_TEXT_BYTES = 64 << 10;
const KINDS = ['string', 'number', 'integer', 'boolean'] as const;

const isValue = (value: unknown): value is Value =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
const number = (value: unknown) => (typeof value === 'number' ? value : null);

/** The settings of a plugin. What its schema says that is not understood is left out. */
export function settingsOf(manifest: PluginManifest): Setting[] {
  const schema = manifest.settings as { properties?: Record<string, Record<string, unknown>> } | null;
  return Object.entries(schema?.properties ?? {}).flatMap(([name, said]) => {
    const kind = KINDS.find((kind) => kind === said.type);
    if (kind === undefined || !isValue(said.default)) return [];
    return [
      {
        name,
        kind,
        title: typeof said.title === 'string' ? said.title : name,
        description: typeof said.description === 'string' ? said.description : '',
        default: said.default,
        minimum: number(said.minimum),
        maximum: number(said.maximum),
        choices: Array.isArray(said.enum) ? said.enum.filter(isValue) : null,
      },
    ];
  });
}

/** What a field shows for a value. */
export const typedOf = (setting: Setting, value: unknown): Typed =>
  setting.kind === 'boolean' ? value === true : isValue(value) ? String(value) : '';

/** What was typed into a field, checked as the host will. */
export function read(setting: Setting, typed: Typed): Read {
  if (typeof typed === 'boolean') return { value: typed };
  if (setting.choices !== null) {
    const choice = setting.choices.find((choice) => String(choice) === typed);
    if (choice !== undefined) return { value: choice };
  }
  if (setting.kind === 'string') {
    const long = new TextEncoder().encode(typed).length > MAX_TEXT_BYTES;
    return long ? { problem: text.plugins.settings.long } : { value: typed };
  }
  return readNumber(setting, typed);
}

function readNumber({ kind, minimum, maximum }: Setting, typed: string): Read {
  const said = text.plugins.settings;
  const value = typed.trim() === '' ? NaN : Number(typed);
  if (!Number.isFinite(value)) return { problem: kind === 'integer' ? said.whole : said.number };
  if (kind === 'integer' && !Number.isSafeInteger(value)) return { problem: said.whole };
  if (minimum !== null && value < minimum) return { problem: said.atLeast(minimum) };
  if (maximum !== null && value > maximum) return { problem: said.atMost(maximum) };
  return { value };
}

/** A value as it is told. */
export function told(value: Value): string {
  const said = text.plugins.settings;
  if (typeof value === 'boolean') return value ? said.on : said.off;
  return value === '' ? said.empty : String(value);
}
