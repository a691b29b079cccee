import type { CapabilityState, Grant, ModelEntry, PluginEntry } from '../api';

export type Capability = CapabilityState['capability'];

/** Every model, also those added later. */
export const EVERY = '*';

/** What a person is about to grant. Nothing is ticked to begin with. */
export interface Wish {
  capability: Capability;
  ticked: boolean;
  every: boolean;
  models: string[];
  paths: string[];
}

export const wish = (capability: Capability): Wish => ({
  capability,
  ticked: false,
  every: false,
  models: [],
  paths: [],
});

/** Whether it is granted model by model. */
export const isOfModels = (capability: Capability): boolean =>
  capability !== 'store' && capability !== 'documents';

const KIND: Partial<Record<Capability, ModelEntry['kind']>> = {
  'inference.embed': 'embeddings',
  'inference.generate': 'chat',
  'inference.transcribe': 'audio',
};

/** The models that a capability is of any use on. */
export function modelsFor(capability: Capability, models: ModelEntry[]): ModelEntry[] {
  const kind = KIND[capability];
  return kind === undefined ? models : models.filter((model) => model.kind === kind);
}

/** What is missing from a wish that was ticked. */
export function missing(wish: Wish): 'models' | 'paths' | null {
  if (!wish.ticked) return null;
  if (isOfModels(wish.capability)) return wish.every || wish.models.length > 0 ? null : 'models';
  return wish.capability === 'documents' && wish.paths.length === 0 ? 'paths' : null;
}

/** What the host is told of the wishes that were ticked. */
export const grantsOf = (wishes: Wish[]): Grant[] =>
  wishes
    .filter((wish) => wish.ticked)
    .map(({ capability, every, models, paths }) => ({
      capability,
      models: isOfModels(capability) ? (every ? [EVERY] : models) : [],
      paths: capability === 'documents' ? paths : [],
    }));

/** Whether a capability was granted on a model. */
export const isGrantedOn = (state: CapabilityState, model: string): boolean =>
  state.granted?.models?.some((name) => name === model || name === EVERY) === true;

/** What a plugin asks for of models and was not granted on this one. */
export const missingOn = (plugin: PluginEntry, model: string): CapabilityState[] =>
  plugin.capabilities.filter(
    (state) => state.asked != null && isOfModels(state.capability) && !isGrantedOn(state, model),
  );

/** What it asks for and was granted nothing of. */
export const open = (plugin: PluginEntry): CapabilityState[] =>
  plugin.capabilities.filter((state) => state.asked != null && state.granted == null);

/**
 * Where a document of a pipeline may lie: its name begins with the last part of the folder or file that was granted. Several
 * folders of one name leave several places.
 */
export function placesOf(document: string, granted: string[]): string[] {
  return granted.flatMap((path) => {
    const [separator] = /[\\/]/.exec(path) ?? ['/'];
    const parts = path.replace(/[\\/]+$/, '').split(/[\\/]/);
    const [first = '', ...rest] = document.split('/');
    return parts.at(-1) === first ? [[...parts, ...rest].join(separator)] : [];
  });
}
