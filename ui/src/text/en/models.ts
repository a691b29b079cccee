import type { LoadReport, ModelKind, ModelState, ShrinkReport, UnloadReport } from '../../api';
import type { PullProgress } from '../../api/generated/schema';
import { bytes, count, time } from '../../shared/format';

/** The view of models, adding them, and the load dialog. */
export const models = {
  title: 'Models',
  add: 'Add a model…',
  welcome: 'Take the tour',
  filter: 'Find a model',
  filterHint: 'Name, path, kind or provider',
  shown: 'Show',
  all: 'All',
  inMemory: 'In memory',
  failed: 'Failed',
  found: (shown: number, all: number) =>
    shown === all ? models.total(all) : `${count(shown)} of ${models.total(all)}`,
  total: (all: number) => (all === 1 ? '1 model' : `${count(all)} models`),
  held: (loaded: number, resident: string) => `${count(loaded)} in memory, ${resident} resident`,
  more: (rest: number) => `Show more (${count(rest)} left)`,
  nothing: 'No model fits',
  nothingHelp: 'Look for fewer words, or show all models.',
  showAll: 'Show all models',
  list: 'Models',
  kinds: {
    embeddings: 'Embeddings',
    chat: 'Chat',
    audio: 'Speech',
    tensors: 'Tensors',
  } satisfies Record<ModelKind, string>,
  states: {
    unloaded: 'Not loaded',
    loading: 'Loading',
    loaded: 'In memory',
    restarting: 'Restarting',
    failed: 'Failed',
  } satisfies Record<ModelState, string>,
  weights: (size: string) => `${size} of weights`,
  memory: (alias: string) => `Memory of ${alias}`,
  residentNow: (resident: string) => `${resident} resident`,
  inUseNow: (inUse: string, reserved: string) => `${inUse} in use of ${reserved} reserved`,
  load: 'Load…',
  options: 'Options…',
  unload: 'Unload',
  stop: 'Stop loading',
  shrink: 'Shrink now',
  remove: 'Remove…',
  actionOf: (action: string, alias: string) => `${action.replace('…', '')}: ${alias}`,
  openMemory: (alias: string) => `Memory of ${alias} over time`,
  gaveBack: ({ model, freed_bytes, ...report }: ShrinkReport) => {
    const figures = `resident ${bytes(report.resident_before_bytes)} → ${bytes(report.resident_after_bytes)}`;
    const took = time((report.took_us + report.trim_us) / 1000);
    const reserved = bytes(report.reserved_before_bytes);
    return freed_bytes === 0
      ? `${model} had nothing to give back of ${reserved}; ${figures}`
      : `${model} gave back ${bytes(freed_bytes)} of ${reserved} in ${took}; ${figures}`;
  },
  unloaded: ({ model, freed_bytes, warnings }: UnloadReport) =>
    [`${model} is unloaded: ${bytes(freed_bytes)} came back.`, ...(warnings ?? [])].join(' '),
  loaded: (alias: string, { sample, info }: LoadReport) =>
    `${alias} is in memory: ${bytes(sample.resident_bytes)} resident, loaded in ${time(info?.load_ms ?? 0)}`,
  alreadyLoaded: (alias: string) => `${alias} was in memory already, with these options`,
  removed: (alias: string) => `${alias} is no longer in the list`,

  removeTitle: (alias: string) => `Remove ${alias}?`,
  removeBody: 'It leaves the list, with the options that it last had. Its files stay where they are:',
  removeLoaded: (resident: string) => `It is unloaded first: ${resident} come back.`,
  removeNow: 'Remove from the list',

  emptyTitle: 'No model yet',
  emptyBody:
    'A model is a folder or a file on this machine, or a name on the Hugging Face Hub. Ebb loads each into a process of its own, shows what it holds, and gives memory back when you say so.',
  emptyTour:
    'New here? The tour takes a minute: it loads a small model, makes it grow, and gives the memory back.',

  addTitle: 'Add a model',
  tabs: { path: 'From this machine', hub: 'From the Hub', demo: 'Demo models' },
  path: 'Folder or file',
  pathHelp:
    'An ONNX model is used where it lies. GGUF files and folders with safetensors are made into ONNX first; that takes a while and some disk.',
  pathHint: '/home/me/models/all-MiniLM-L6-v2',
  pathNative: 'You can also drop a folder or file on the window.',
  browseFile: 'A file',
  alias: 'Alias (optional)',
  aliasHelp:
    'The name that the command line and programs use. Made of the model’s own name where left empty.',
  addNow: 'Add',
  hub: 'Name on the Hub',
  hubHint: 'hf:ORG/NAME or hf:ORG/NAME:VARIANT',
  hubHelp:
    'The files come from huggingface.co and stay on this machine. A download that was cancelled goes on from where it was.',
  revision: 'Branch, tag or commit (optional)',
  pullNow: 'Download',
  demoHelp: 'Small, free models, one of each kind, to try Ebb with.',
  demoAdd: 'Add',
  demoDownload: (size: string) => `Download ${size}`,
  demoHere: 'on this machine',
  demoAdded: (alias: string) => `in the list as ${alias}`,
  demoSetup: 'comes with `cargo xtask setup`',
  demoOf: (action: string, name: string) => `${action}: ${name}`,
  licence: (licence: string) => `Licence: ${licence}`,

  jobs: 'Being added',
  jobAdded: (alias: string) => `${alias} is in the list`,
  jobCancelled: 'Cancelled',
  stages: {
    listing: 'asking the Hub',
    checking: 'looking at what is here',
    downloading: 'downloading',
    waiting: 'waiting to try again',
    importing: 'making it into ONNX',
    verifying: 'comparing what was made',
    adding: 'adding it to the list',
  } satisfies Record<PullProgress['stage'], string>,
  progress: (label: string, progress: PullProgress | null) => {
    if (progress === null) return `${label}: one moment…`;
    const { stage, file, done_bytes, total_bytes, reason } = progress;
    const amount = total_bytes > 0 ? `, ${bytes(done_bytes)} of ${bytes(total_bytes)}` : '';
    const about = reason ?? file;
    return `${label}: ${models.stages[stage]}${amount}${about ? ` (${about})` : ''}`;
  },

  loadTitle: (alias: string) => `Load ${alias}`,
  optionsTitle: (alias: string) => `Options of ${alias}`,
  loadNow: 'Load',
  apply: 'Apply and reload',
  loadingNow: (alias: string, passed: string) => `Loading ${alias}: ${passed}`,
  goesOn: 'Close this: it goes on',
  profile: 'Profile',
  profileDefault: (name: string) => `${name} · default`,
  why: 'Why',
  provider: 'Provider',
  providerAuto: 'Automatic',
  providerMissing: (name: string) => `${name} (not on this machine)`,
  device: 'Device',
  deviceFirst: 'The first',
  deviceNumber: (index: number, name: string, free: string | null) =>
    `${index}: ${name}${free === null ? '' : `, ${free} free`}`,
  searchOptions: 'Find an option',
  searchOptionsHint: 'cap, threads, gpu_mem_limit, mmap…',
  noneFound: 'No option fits. A key that Ebb does not know can be given in a row of your own, below.',
  memoryFirst: 'Options that change what memory is held',
  showOthers: (amount: number) => `Show ${count(amount)} other options`,
  hideOthers: 'Hide other options',
  providerOptions: 'Options of provider',
  providerOptionsNone: 'none',
  changedOnly: (amount: number) => `Changed only (${count(amount)})`,
  resetAll: 'Reset all',
  startOver: 'Back to how it was loaded last',
  keptDraft: 'What you chose before is still here.',
  groups: {
    own: 'Ebb',
    arena: 'Arena of the CPU',
    session: 'Session: what it holds',
    run: 'Each run: what it gives back',
    provider: (name: string) => `Provider ${name}: what it holds`,
    serving: 'Serving',
    providerOthers: (name: string) => `Provider ${name}: other options`,
    others: 'Session: other options',
    runOthers: 'Each run: other options',
    providers: 'Other providers',
  },
  changed: 'changed',
  reload: 'needs a reload',
  default: (value: string) => `Default: ${value}`,
  fromProfile: (profile: string, value: string) => `${profile} sets ${value}`,
  /** `1..64` and `0..` are ranges. */
  takes: (forms: string[]) =>
    `Takes ${forms.map((form) => form.replace(/^(-?\d+)\.\.$/, '$1 and more').replace('..', ' to ')).join(', ')}.`,
  notSet: 'not set',
  standing: (value: string, profile: string | null) => `${value} · ${profile ?? 'default'}`,
  on: 'On',
  off: 'Off',
  reset: 'Reset',
  resetOf: (label: string) => `Reset ${label}`,
  noOp: 'Has no effect: ONNX Runtime takes it without doing anything.',
  noText: 'Cannot be given as text.',
  asRow: 'Give it in a row of your own',
  size: (size: number) => `= ${bytes(size)}`,
  sizeHint: '400MB, 2GiB, bytes',
  runNow: 'Run options can also be set while the model is loaded, without a reload: in Memory.',

  rows: 'Any other key',
  rowsHelp:
    'Every key is handed on as it is, also one that Ebb does not know. For providers of your own, give the name that they are registered under.',
  rowAdd: 'Add a row',
  rowScope: 'Scope',
  rowProvider: 'Name of the provider',
  rowKey: 'Key',
  rowValue: 'Value',
  rowRemove: (key: string) => `Remove the row ${key}`,
  scopes: { session: 'session', arena: 'arena', run: 'run', provider: 'provider' },
  useNearest: (key: string) => `Use ${key}`,

  wrong: {
    count: 'This takes a whole number from 0 to 4,294,967,295.',
    ms: 'This takes a whole number of milliseconds.',
    bytes: 'This takes a size: bytes, 400MB, 2GiB.',
    bool: 'This is on or off.',
    duration: 'This takes a time: 5m, 90s, 1h30m, a number of seconds; 0 is at once, -1 never.',
    text: 'This takes a text.',
    key: 'This row has a value and no key.',
    provider: 'Name the provider that this is for.',
    twice: 'This key is given twice.',
  },

  summary: 'What it comes to',
  checking: 'Checking…',
  estimate: (total: string, available: string) => `About ${total} of ${available} free`,
  estimateParts: (weights: string, working: string) =>
    `${weights} weights, ${working} for one full batch, the rest for its process.`,
  estimateReload: (resident: string) => `What it holds now, ${resident}, comes back first.`,
  estimateOver: 'That is more than is free now. It can be loaded all the same: the estimate never stops you.',
  estimateNone: 'No estimate: this system does not tell its memory.',
  basis: 'How that was reckoned',
  fine: 'Nothing to say against it.',
  problems: 'What to know',
  severities: { error: 'Does not load', warning: 'Watch out', note: 'Note' },
  goTo: (field: string) => `Go to ${field}`,
  noReload: 'That is how it is loaded now.',
  needsReload: (amount: number) =>
    amount === 1
      ? '1 option differs from what is in memory.'
      : `${amount} options differ from what is in memory.`,
  needsReloadSome: 'It is in memory with other options.',
  copyCli: 'Copy as CLI',
  copyPython: 'Copy as Python',
  noCli: 'Some of this cannot be written on a command line.',
  lines: 'What ONNX Runtime is handed',
  linesLoaded: 'What became of each option',
  line: { forwarded: 'Handed over', effective: 'In effect' },
  saveProfile: 'Save as profile…',
  profileName: 'Name of the profile',
  profileDescription: 'What it is for (optional)',
  profileSave: 'Save',
  profileSaved: (name: string) => `The profile ${name} is saved`,

  doneTitle: (alias: string) => `${alias} is in memory`,
  reloadedTitle: (alias: string) => `${alias} is loaded with the new options`,
  tookLoad: (took: string) => `Loaded in ${took}.`,
  beforeAfter: 'Before and after',
  figure: 'Figure',
  before: 'Before',
  after: 'After',
  difference: 'Difference',
  resident: 'Resident',
  private: 'Private',
  reserved: 'Reserved by its arenas',
  inUse: 'In use in them',
  less: (size: string) => `${size} less`,
  moreBytes: (size: string) => `${size} more`,
  sameBytes: 'the same',
  toMemory: 'Show its memory',

  own: {
    profile: { label: 'Profile', description: '', unset: null },
    provider: { label: 'Provider', description: '', unset: null },
    device: { label: 'Device', description: '', unset: null },
    shrink_every: {
      label: 'Shrink after every so many requests',
      description: 'Gives the slack of the arenas back by itself, again and again. 0: never by itself.',
      unset: null,
    },
    keep_alive: {
      label: 'Unload when unused for',
      description:
        'All memory comes back; the next request loads it again. 5m, 90s, 1h30m; -1: never, as where nothing is given.',
      unset: null,
    },
    threads: {
      label: 'Threads',
      description:
        'Threads of one run. Each holds a stack and scratch memory; more are faster up to the number of cores.',
      unset: null,
    },
    batch_tokens: {
      label: 'Tokens of one batch',
      description:
        'Tokens, padding included, that are run at once. The activations of one batch are the peak of memory.',
      unset: null,
    },
    context_tokens: {
      label: 'Longest conversation in tokens',
      description: 'Prompt and answer together. The key-value cache grows with each token.',
      unset: null,
    },
    prefill_tokens: {
      label: 'Tokens of a prompt read in one step',
      description: 'Bounds the memory that a long prompt takes.',
      unset: '128',
    },
    prefix_cache_bytes: {
      label: 'Cache of ended conversations',
      description: 'What may be held for their next turn, so that it begins at once. 0: nothing.',
      unset: '64MiB',
    },
    variant: {
      label: 'Model file',
      description: 'Which of the files in the folder, by a part of its name: int8, q4, fp16.',
      unset: null,
    },
    queue: {
      label: 'Requests that may wait',
      description: 'More are refused as busy.',
      unset: '256',
    },
    restart: {
      label: 'Restart after a crash',
      description: 'Starts the model’s process again, each time after a longer pause.',
      unset: 'false',
    },
    sample_ms: {
      label: 'Milliseconds between samples',
      description: 'How often its memory is measured. Often costs a little processor time.',
      unset: '1000',
    },
  },
};
