import type { Generation } from '../api/generated/schema';
import { text } from '../text/en';

export type Field = keyof typeof text.chat.options.fields;
export const FIELDS = Object.keys(text.chat.options.fields) as Field[];

/** What each field may be. Those without an upper bound have none at the host either. */
const RANGES: Record<Field, { whole?: true; least: number; most?: number }> = {
  max_tokens: { whole: true, least: 1 },
  temperature: { least: 0, most: 2 },
  top_p: { least: 0, most: 1 },
  top_k: { whole: true, least: 0 },
  min_p: { least: 0, most: 1 },
  repetition_penalty: { least: 0.01, most: 10 },
  frequency_penalty: { least: -2, most: 2 },
  presence_penalty: { least: -2, most: 2 },
  seed: { whole: true, least: 0 },
};

export type Format = keyof typeof text.chat.options.formats;
export const FORMATS = Object.keys(text.chat.options.formats) as Format[];

/** How an answer is to be made, as typed. What is empty is the model's own. */
export interface Options {
  system: string;
  fields: Partial<Record<Field, string>>;
  /** Texts at which it ends, one a line. */
  stop: string;
  format: Format;
  schema: string;
  regex: string;
}

export const noOptions = (): Options => ({
  system: '',
  fields: {},
  stop: '',
  format: 'text',
  schema: '',
  regex: '',
});

const areFields = (fields: unknown): boolean =>
  typeof fields === 'object' &&
  fields !== null &&
  Object.values(fields).every((one) => typeof one === 'string');

export function areOptions(value: unknown): value is Options {
  const options = value as Partial<Options> | null;
  return (
    typeof options === 'object' &&
    options !== null &&
    [options.system, options.stop, options.schema, options.regex].every((one) => typeof one === 'string') &&
    areFields(options.fields) &&
    FORMATS.some((format) => format === options.format)
  );
}

export type Problems = Partial<Record<Field | 'schema' | 'regex', string>>;

/** What is wrong with what was typed, by field. */
export function problems(options: Options): Problems {
  const said = text.chat.options;
  const found: Problems = {};
  for (const field of FIELDS) {
    const why = problem(field, options.fields[field] ?? '');
    if (why !== null) found[field] = why;
  }
  if (options.format === 'json_schema' && parsed(options.schema) === undefined) found.schema = said.schema;
  if (options.format === 'regex' && options.regex === '') found.regex = said.regex;
  return found;
}

function problem(field: Field, typed: string): string | null {
  const said = text.chat.options;
  if (typed.trim() === '') return null;
  const { whole, least, most } = RANGES[field];
  const value = Number(typed);
  if (!Number.isFinite(value)) return said.number;
  if (whole && !Number.isSafeInteger(value)) return said.whole;
  if (value >= least && value <= (most ?? Infinity)) return null;
  return most === undefined ? said.from(least) : said.range(least, most);
}

function parsed(schema: string): unknown {
  try {
    const value: unknown = JSON.parse(schema);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What the host is asked for; what was left to the model is left out. */
export function generation(options: Options): Partial<Generation> {
  const asked: Partial<Generation> = {};
  for (const field of FIELDS) {
    const typed = options.fields[field]?.trim() ?? '';
    if (typed !== '') asked[field] = Number(typed);
  }
  const stop = options.stop.split('\n').filter((line) => line !== '');
  if (stop.length > 0) asked.stop = stop;
  if (options.format === 'json_object') asked.response_format = 'json_object';
  if (options.format === 'json_schema') asked.response_format = { json_schema: parsed(options.schema) };
  if (options.format === 'regex') asked.response_format = { regex: options.regex };
  return asked;
}

/** Values that are not the model's own. */
export const changed = (options: Options): number =>
  FIELDS.filter((field) => (options.fields[field] ?? '').trim() !== '').length +
  Number(options.stop.trim() !== '') +
  Number(options.format !== 'text') +
  Number(options.system.trim() !== '');
