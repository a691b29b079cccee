import { bytes, count, time } from '../../shared/format';

/** `351.0 → 289.0 MiB`: the unit once where both have the same. */
function change(before: number, after: number): string {
  const [from, to] = [bytes(before), bytes(after)];
  const [figure, unit] = from.split(' ');
  return unit === to.split(' ')[1] ? `${figure} → ${to}` : `${from} → ${to}`;
}

export const memory = {
  title: 'Memory',
  all: 'All models',
  choose: 'Model',
  emptyTitle: 'No model is loaded',
  empty:
    'A loaded model takes memory for its weights, and more as it works. ONNX Runtime keeps what it took. Here you see it, and give it back.',
  toModels: 'Load a model',
  gone: (alias: string) => `No model is named “${alias}”.`,
  notLoaded: 'It is not loaded, so there is nothing to measure. The chart shows what was seen before.',
  notLoadedYet: 'It is not loaded, so there is nothing to measure.',
  isLoading: 'It is being loaded…',
  load: 'Load again',
  loadNow: 'Load with its last options',
  crashed: (at: string, reason: string) => `Its worker ended by itself at ${at}: ${reason}.`,
  failed: (reason: string) => `It is not running: ${reason}.`,
  restarts: (wait: string) => `It is started again in ${wait}.`,
  staysDown: 'It stays down until you load it again. The other models go on.',
  nearCap: (headroom: string, limit: string) =>
    `Close to its cap: ${headroom} of ${limit} are left. At the cap a request makes the arena shrink and is tried once more, then it fails.`,

  // The chart.
  chart: 'Memory over time',
  chartOf: (name: string) => `Memory of ${name} over time`,
  series: { in_use: 'In use', reserved: 'Reserved', limit: 'Limit', resident: 'Resident' },
  span: 'Stretch of time',
  spans: { minute: '1 min', ten: '10 min', hour: '1 h' },
  pause: 'Pause',
  go: 'Go on',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  earlier: 'Earlier',
  later: 'Later',
  reset: 'Reset zoom',
  csv: 'Save CSV',
  png: 'Save picture',
  saved: (name: string) => `Saved ${name}`,
  moment: 'Moment that is looked at',
  nothingYet: 'No figures yet',
  nothingHere: 'Nothing is known of this time.',
  paused: (at: string) => `Paused at ${at}`,
  limitAbove: (limit: string) => `The limit, ${limit}, is above the picture.`,
  howTo: 'Drag to zoom, double-click to go back. Keys: arrows move, + and − zoom, 0 resets.',
  figuresTable: 'Figures as a table',
  when: 'When',
  happened: 'What happened',
  runsAt: (runs: number, ms: number) =>
    runs === 1 ? `a request, ${time(ms)}` : `${count(runs)} requests, the longest ${time(ms)}`,
  exact: (value: number) => `${bytes(value)} (${count(value)} B)`,

  // Cards.
  cards: 'Figures now',
  inUse: 'In use',
  inUseHelp: 'Live tensors, weights included',
  slack: 'Slack',
  slackHelp: 'Reserved, not in use: what a shrink can give back',
  peak: 'Peak',
  peakHelp: 'Most in use since it was loaded',
  limit: 'Limit',
  noLimit: 'None',
  limitHelp: (headroom: string) => `${headroom} left to reserve`,
  noLimitHelp: 'The arena may grow without a cap',
  resident: 'Resident',
  residentHelp: (own: string) => `In RAM for its process; ${own} shared with no other`,
  regions: 'Regions',
  regionsHelp: 'Blocks that it took from the system for its work, on top of the weights',
  shrinks: 'Shrinks',
  shrinksHelp: (freed: string, regions: number | null) => {
    const blocks = regions === null ? '' : ` in ${count(regions)} ${regions === 1 ? 'region' : 'regions'}`;
    return `Gave back ${freed}${blocks}`;
  },
  noShrinks: 'Nothing was given back yet',
  runs: 'Requests',
  runsHelp: (queued: number) =>
    queued === 0 ? 'Since it was loaded' : `Since it was loaded; ${count(queued)} waiting`,
  none: '—',
  arenas: 'Arenas',
  device: 'Device',
  reserved: 'Reserved',
  pools: 'Other memory',
  poolsHelp: 'What is held besides the arena’s slack.',
  poolNames: {
    weights: 'weights',
    kv: 'key-value caches',
    prefix: 'caches of ended conversations',
  } as Record<string, string>,
  droppable: 'dropped by a shrink',
  unloads: (wait: string) => `It is unloaded in ${wait} if nobody uses it.`,

  // Giving back.
  shrink: 'Shrink now',
  shrinkShort: 'Shrink',
  shrinking: 'Shrinking…',
  giveUp: 'Give up',
  shrinkGivenUp: 'The shrink is no longer waited for; the host may still do it once it answers.',
  after: 'Shrink after next run',
  armed: (run: number) => `It will shrink at the end of run ${count(run)}, the next to end.`,
  armedButton: (run: number) => `Armed for run ${count(run)}`,
  gaveBack: (freed: number, of: number, ms: number, before: number, after: number) =>
    `gave back ${bytes(freed)} of ${bytes(of)} in ${time(ms)}; resident ${change(before, after)}`,
  gaveNothing: (reserved: number, ms: number) =>
    `gave back nothing in ${time(ms)}: all of the ${bytes(reserved)} reserved is in use, or shares a region with what is`,
  noArena:
    'there is no arena here to shrink: every tensor comes straight from the system and goes back to it',
  poolDropped: (name: string, size: number) => `dropped ${name}: ${bytes(size)}`,
  leftOut: (target: string, reason: string) => `left out ${target}: ${reason}`,
  causes: {
    request: 'Shrink now',
    after_run: 'Shrink after a run',
    runtime_option: 'Shrink by run option',
    'shrink-every': 'Shrink after every N requests',
  } as Record<string, string>,
  byOwnOption: 'Its own load option “Shrink after every N requests”',
  ownPolicy: 'Its own load option “Shrink after every N requests” decides, without a plugin.',
  byPolicy: (policy: string) => `Policy ${policy}`,

  // What cannot be.
  arenaOff: 'Its arena is off.',
  arenaOffHelp:
    'It was loaded with enable_cpu_mem_arena=0: every tensor goes back to the system by itself, so there is nothing to shrink and nothing is capped. What remains are weights and what the process itself holds; unloading gives that back. To have figures of an arena, load it without that option.',
  noArenaOn: (provider: string) => `The provider ${provider} has no arena that ONNX Runtime could shrink.`,
  noArenaHelp:
    'What it holds on its device is not told and cannot be given back piece by piece. Reloading the model frees it; so does unloading when it is idle (keep_alive).',
  webgpuHelp:
    'For WebGPU the provider option storageBufferCacheMode decides how many buffers it keeps: “disabled” keeps the fewest.',
  toOptions: 'Load options',

  // Run options.
  runOptions: 'Run options',
  runOptionsHelp: 'They hold from the next request on, and come back with the model after a restart.',
  noRunOptions: 'None is set.',
  key: 'Key',
  value: 'Value',
  set: 'Set',
  change: 'Change',
  effective: 'Takes effect as',
  removeOption: (key: string) => `Remove ${key}`,
  nothingShows: 'nothing shows it',
  defaultIs: (value: string) => `Default: ${value}.`,

  // Headroom.
  headroom: 'Cap',
  headroomHelp: 'How much the arena may take on top of the weights. A change loads the model again.',
  headroomNow: (left: string, limit: string) => `${left} left of ${limit}`,
  headroomOf: 'Working memory on top of the weights',
  headroomExample: 'e.g. 256MiB; empty: no cap',
  headroomWrong: 'Write a size, such as 256MiB or 1GB.',
  apply: 'Apply (reloads)',
  applying: 'Loading again…',
  retries: (retries: number) =>
    retries === 0
      ? 'It was not hit yet.'
      : `It was hit ${count(retries)} ${retries === 1 ? 'time' : 'times'}; each was tried again after a shrink.`,
  reloaded: (ms: number, before: number, after: number) =>
    `loaded again in ${time(ms)}; resident ${change(before, after)}`,

  // Policies.
  policies: 'Policies',
  policiesHelp:
    'They are asked in this order after each request and while the model is idle. The first that wants something decides.',
  noPolicies:
    'No plugin decides for this model. A policy is a small plugin that shrinks, reloads or unloads by itself.',
  toPlugins: 'Choose a policy',
  settingsOf: (name: string) => `Settings of ${name}`,
  up: (name: string) => `Ask ${name} earlier`,
  down: (name: string) => `Ask ${name} later`,
  detach: (name: string) => `Detach ${name}`,
  detachShort: 'Detach',
  decides: 'decides',
  rests: 'does not decide',
  calls: (calls: number, decisions: number, failures: number) =>
    `asked ${count(calls)} times, decided ${count(decisions)}, failed ${count(failures)}`,
  median: (us: number) => `median ${time(us / 1000)}`,
  lastDecisions: 'Last decisions',
  noDecisions: 'None yet.',
  saw: (in_use: number, reserved: number, resident: number, runs: number) =>
    `saw ${bytes(in_use)} in use of ${bytes(reserved)} reserved, ${bytes(resident)} resident, ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`,
  sawIdle: (ms: number) => `idle for ${time(ms)}`,
  sawAvailable: (size: number) => `${bytes(size)} left on the machine`,

  // The machine.
  ram: 'Main memory',
  ramUnknown: 'The system does not tell how much memory it has.',
  gpu: 'GPU memory',
  noGpu: 'No device with memory of its own was found.',
  freeOf: (free: string, total: string) => `${free} free of ${total}`,
  parts: { models: 'Models', host: 'Ebb itself', others: 'Other programs', free: 'Free' },
  partsOf: (models: string, host: string, others: string, free: string) =>
    `models ${models}, Ebb itself ${host}, other programs ${others}, free ${free}`,
  holders: 'Who holds how much',
  model: 'Model',
  provider: 'Runs on',
  pid: 'Process',
  private: 'Private',
  shrinkAll: 'Shrink all',
  shrinkOne: (alias: string) => `Shrink ${alias}`,
  allGaveBack: (models: number, freed: number) => {
    const who = `${count(models)} ${models === 1 ? 'model' : 'models'}`;
    return freed === 0 ? `${who} had nothing to give back` : `${who} gave back ${bytes(freed)}`;
  },
  noneLoaded: 'No model is loaded, so nothing was shrunk.',
  hostRow: 'Ebb itself',
  total: 'Together',
};
