import type { PluginEntry } from '../api';

/** What a pipeline may have to be granted before it can answer, in order. */
const STEPS = ['inference.embed', 'inference.generate', 'store', 'documents'] as const;

/** A step before the first answer: a permission, or the index. */
export type Step = (typeof STEPS)[number] | 'index';

/** The steps of a pipeline, and whether each is done; that of the index is unknown with its `documents`. */
export function steps(entry: PluginEntry, documents: number | null): { step: Step; done: boolean | null }[] {
  const asked = STEPS.flatMap((step) =>
    entry.capabilities
      .filter((state) => state.capability === step && state.asked != null)
      .map(({ granted }) => ({ step, done: granted != null })),
  );
  return [...asked, { step: 'index', done: documents === null ? null : documents > 0 }];
}
