import type { ModelEntry } from '../api';
import { text } from '../text/en';

/** Which models are shown by their state. */
export type Shown = 'all' | 'inMemory' | 'failed';

/** The models that fit, by name. Every word is looked for in name, path, kind and provider. */
export function filtered(list: readonly ModelEntry[], words: string, shown: Shown): ModelEntry[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter((model) => {
    if (shown === 'inMemory' && model.state === 'unloaded') return false;
    if (shown === 'inMemory' && model.state === 'failed') return false;
    if (shown === 'failed' && model.state !== 'failed') return false;
    if (wanted.length === 0) return true;
    const kind = text.models.kinds[model.kind];
    const said =
      `${model.alias} ${model.path} ${model.kind} ${kind} ${model.info?.provider ?? ''}`.toLowerCase();
    return wanted.every((word) => said.includes(word));
  });
}
