import { bytes, count, time } from '../../shared/format';

export const activity = {
  title: 'Activity',
  pages: { events: 'Events', requests: 'Requests', log: 'Log' },
  model: 'Model',
  everyModel: 'All models',
  plugin: 'Plugin',
  everyPlugin: 'All plugins',
  kind: 'Kind',
  everyKind: 'All kinds',
  level: 'Level',
  everyLevel: 'All levels',
  levels: { trace: 'Trace', debug: 'Debug', info: 'Info', warn: 'Warning', error: 'Error' },
  search: 'Search',
  pause: 'Pause',
  go: 'Go on',
  paused: (fresh: number) => (fresh === 0 ? 'Paused; nothing new' : `Paused; ${count(fresh)} new`),
  shown: (shown: number, all: number) =>
    shown === all ? `${count(all)} shown` : `${count(shown)} of ${count(all)} shown`,
  missed: (missed: number) => `${count(missed)} events came too fast for this page and are not shown.`,
  lists: {
    events: 'Events, newest first',
    requests: 'Requests, newest first',
    log: 'Lines of the host’s log, newest first',
  },
  outcome: 'Outcome',
  everyOutcome: 'All outcomes',
  run: (run: number) => `Run ${count(run)}`,
  items: (items: number) => `${count(items)} ${items === 1 ? 'item' : 'items'}`,
  reserved: (size: number) => `${bytes(size)} reserved`,
  copyAll: 'Copy as JSON',
  emptyTitle: 'Nothing has happened yet',
  empty:
    'Whatever happens to a model is listed here: loads, requests, shrinks, what policies decide, crashes.',
  noRequests: 'No request was served yet.',
  noLog: 'The host has not written anything yet.',
  nothingFits: 'Nothing fits the filter.',
  clearFilter: 'Show everything',
  summary: (requests: number, median: number, p95: number, longest: number) =>
    `${count(requests)} ${requests === 1 ? 'request' : 'requests'}: median ${time(median)}, 95 % within ${time(p95)}, longest ${time(longest)}`,
  report: 'For a bug report…',
  reportTitle: 'For a bug report',
  reportHelp:
    'What happened and what the log says, with figures. Paths, texts, addresses and the names of models are taken out. Read it before you pass it on: nothing is sent from here.',
  reportText: 'The report',
  gathering: 'Gathering…',
  saved: (name: string) => `Saved ${name}`,
};
