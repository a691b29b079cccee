import type { ModelKind } from '../api';

/** How a value of one of Ebb's own load options is written. */
export type OwnType = 'count' | 'ms' | 'bytes' | 'bool' | 'duration' | 'text';

/** Ebb's own load options, in the order of the dialog; the words for them are in the text catalogue. */
export const OWN = {
  profile: 'text',
  provider: 'text',
  device: 'count',
  shrink_every: 'count',
  keep_alive: 'duration',
  threads: 'count',
  batch_tokens: 'count',
  context_tokens: 'count',
  prefill_tokens: 'count',
  prefix_cache_bytes: 'bytes',
  variant: 'text',
  queue: 'count',
  restart: 'bool',
  sample_ms: 'ms',
} as const satisfies Record<string, OwnType>;

export type OwnKey = keyof typeof OWN;

/** Those that decide what memory is held; each is shown for the kinds of model that it has an effect on. */
export const OWN_MEMORY: readonly OwnKey[] = [
  'shrink_every',
  'keep_alive',
  'threads',
  'batch_tokens',
  'context_tokens',
  'prefill_tokens',
  'prefix_cache_bytes',
];

/** All others, besides profile, provider and device, which stand first in the dialog. */
export const OWN_OTHERS: readonly OwnKey[] = ['variant', 'queue', 'restart', 'sample_ms'];

const ONLY_FOR: Partial<Record<OwnKey, ModelKind>> = {
  batch_tokens: 'embeddings',
  context_tokens: 'chat',
  prefill_tokens: 'chat',
  prefix_cache_bytes: 'chat',
};

/** Whether an option does anything for a model of this kind. */
export const isFor = (key: OwnKey, kind: ModelKind): boolean => (ONLY_FOR[key] ?? kind) === kind;
