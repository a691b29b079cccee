import type { CapabilityState, PluginManifest } from '../types';

/** What each capability means, in the host's words. */
export const MEANING: Record<CapabilityState['capability'], string> = {
  'memory.read': 'see how much memory models hold and how many requests they served, no texts',
  'memory.control': 'give memory of models back, set their run options, reload or unload them',
  'inference.embed': 'have models turn texts into vectors',
  'inference.generate': 'have models write text',
  'inference.transcribe': 'have models write down speech',
  store: 'keep data of its own on this disk, up to its quota',
  documents: 'read the files and folders that you pick for it',
};

const common = {
  version: '0.1.0',
  author: 'The Ebb authors',
  licence: 'MIT OR Apache-2.0',
  contract: '0.1.0',
  homepage: null,
};

const whole = (title: string, description: string, preset: number, minimum: number, maximum: number) => ({
  type: 'integer',
  title,
  description,
  default: preset,
  minimum,
  maximum,
});

/** The plugins that ship with Ebb, as they describe themselves. */
export const SHIPPED: PluginManifest[] = [
  {
    ...common,
    id: 'idle',
    name: 'Idle',
    description: 'Shrinks a model that nobody asks, and unloads it later.',
    world: 'shrink-policy',
    capabilities: [
      {
        capability: 'memory.control',
        reason: 'to shrink a model that nobody asks, and to unload it later',
      },
    ],
    settings: {
      type: 'object',
      properties: {
        shrink_after_s: whole('Shrink after, in seconds', 'Seconds without a request.', 30, 1, 86_400),
        unload_after_s: whole('Unload after, in seconds', '0 never unloads it.', 1800, 0, 2_592_000),
      },
    },
    promise: {
      figure: 'idle_slack_ms',
      at_most: 31_000,
      words: 'Slack of more than 16 MiB stays for at most 31 s while nobody asks.',
    },
  },
  {
    ...common,
    id: 'pressure',
    name: 'Pressure',
    description:
      'Gives memory back when the system runs short of it: slack first, the whole model where that was not enough.',
    world: 'shrink-policy',
    capabilities: [
      {
        capability: 'memory.control',
        reason: 'to shrink models while memory is short, and to unload them where that is not enough',
      },
    ],
    settings: {
      type: 'object',
      properties: {
        unload: {
          type: 'boolean',
          title: 'Unload',
          description: 'Whether a model may be unloaded where shrinking was not enough.',
          default: true,
        },
        soon_s: whole('Soon, in seconds', 'Memory that is short again so soon has it unloaded.', 15, 1, 3600),
      },
    },
    promise: {
      figure: 'relief_ms',
      at_most: 10_000,
      words: 'A shortage that the model can end is over within 10 s.',
    },
  },
  {
    ...common,
    id: 'rag',
    name: 'Ask your documents',
    description: 'Reads Markdown, text, HTML and PDF, and answers questions about them with citations.',
    world: 'rag-pipeline',
    capabilities: [
      { capability: 'documents', reason: 'to read the files that you ask about' },
      { capability: 'store', reason: 'to keep an index of them, so that they are read once' },
      { capability: 'inference.embed', reason: 'to find passages by what they mean' },
      { capability: 'inference.generate', reason: 'to write answers from the passages' },
      { capability: 'memory.control', reason: 'to give back the memory that an ingest took' },
    ],
    settings: {
      type: 'object',
      properties: {
        'chat-model': {
          type: 'string',
          default: '',
          title: 'Chat model',
          description: 'The model that writes answers; empty is the first that was granted.',
        },
        passages: whole('Passages', 'Most passages that an answer rests on.', 5, 1, 20),
        temperature: {
          type: 'number',
          default: 0,
          minimum: 0,
          maximum: 2,
          title: 'Temperature',
          description: '0 always picks the likeliest word: what documents say needs no fantasy.',
        },
      },
    },
    promise: null,
  },
  {
    ...common,
    id: 'slack',
    name: 'Slack',
    description: 'Shrinks a model that has reserved much more than it uses.',
    world: 'shrink-policy',
    capabilities: [
      { capability: 'memory.control', reason: 'to give back what a model has reserved and does not use' },
    ],
    settings: {
      type: 'object',
      properties: {
        ratio: {
          type: 'number',
          title: 'Ratio',
          description: 'Shrink once reserved is more than this many times what is in use.',
          default: 1.5,
          minimum: 1,
          maximum: 100,
        },
        slack_mib: whole('Slack in MiB', 'Leave slack of up to this much alone.', 32, 0, 1_048_576),
      },
    },
    promise: {
      figure: 'over_twice_in_use',
      at_most: 0.2,
      words: 'Reserved is more than twice what is in use for at most a fifth of the time.',
    },
  },
];
