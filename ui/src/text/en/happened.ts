import type { ModelKind } from '../../api';
import { bytes, count, time } from '../../shared/format';
import { models } from './models';

/** Events in words. */
export const happened = {
  kinds: {
    added: 'Added',
    removed: 'Removed',
    load_options: 'Load options',
    loading: 'Loading',
    loaded: 'Loaded',
    load_failed: 'Load failed',
    run: 'Request',
    shrink: 'Shrink',
    grown: 'Grown',
    near_cap: 'Near cap',
    runtime_option: 'Run option',
    policy: 'Policy',
    attached: 'Attached',
    detached: 'Detached',
    crashed: 'Crashed',
    unloaded: 'Unloaded',
  },
  added: (kind: ModelKind) => `added to the models: ${models.kinds[kind].toLowerCase()}`,
  removed: 'removed from the models; its files stay',
  load_options: (profile: string | null) =>
    `loaded with other options${profile === null ? '' : `, on the profile ${profile}`}`,
  loading: 'loading began',
  loaded: (ms: number, resident: number) => `ready in ${time(ms)}, ${bytes(resident)} resident`,
  load_failed: (reason: string) => `loading failed: ${reason}`,
  run: (run: number, us: number, items: number) =>
    `run ${count(run)} in ${time(us / 1000)}${items > 1 ? `, ${count(items)} items` : ''}`,
  outcomes: { ok: 'Answered', failed: 'Failed', cancelled: 'Given up by the caller' },
  retried: (retries: number) =>
    `the cap was hit and it was tried again ${count(retries)} ${retries === 1 ? 'time' : 'times'}`,
  waiting: (queued: number) => `${count(queued)} waiting behind it`,
  grown: (device: string, before: number, after: number) =>
    `${device} took ${bytes(after - before)} more: ${bytes(before)} → ${bytes(after)}`,
  near_cap: (device: string, reserved: number, limit: number) =>
    `${device} is close to its cap: ${bytes(reserved)} of ${bytes(limit)}`,
  optionSet: (key: string, value: string) => `${key} = ${value}`,
  optionRemoved: (key: string) => `${key} removed`,
  policy: (policy: string, decision: string) => `${policy}: ${decision}`,
  attached: (policy: string) => `${policy} decides from now on`,
  detached: (policy: string, reason: string | null) =>
    `${policy} decides no longer${reason === null ? '' : `: ${reason}`}`,
  crashed: (reason: string, restart_in_ms: number | null) =>
    `worker ended: ${reason}; ${restart_in_ms === null ? 'it stays down' : `started again in ${time(restart_in_ms)}`}`,
  unloaded: (resident: number, gone: boolean) =>
    `gave back ${bytes(resident)} resident${gone ? '' : '; its process was not seen to end'}`,
  /** What a policy decided. */
  decisions: {
    shrink: 'shrink now',
    shrinkTargets: (targets: string) => `shrink ${targets} now`,
    after: 'shrink after the next run',
    reload: 'load the model again',
    unload: 'unload the model',
    option: (key: string, value: string) => (value === '' ? `remove ${key}` : `set ${key} = ${value}`),
    second: (what: string) => `${what}, but another policy came first`,
    failed: (why: string) => `kept as it is, because it failed: ${why}`,
  },
};
