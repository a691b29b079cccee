import { api, done, opened } from '../api';
import type { ModelKind, PluginManifest } from '../api';

/** What a model held over a replay. */
export interface ReplayFigures {
  duration_ms: number;
  after_load_bytes: number;
  peak_bytes: number;
  mean_bytes: number;
  end_bytes: number;
  freed_bytes: number;
  shrinks: number;
  unloads: number;
  reloads: number;
  shrink_ms: number;
  reload_ms: number;
  over_twice_in_use: number;
  idle_slack_ms: number;
  relief_ms: number;
  short_ms: number;
}

export interface ReplayDecision {
  at_ms: number;
  hook: 'run' | 'idle' | 'pressure';
  decision: string;
  in_use_bytes: number;
  reserved_bytes: number;
  reserved_after_bytes: number;
}

export interface ReplayPromise {
  words: string;
  figure: NonNullable<PluginManifest['promise']>['figure'];
  at_most: number;
  value?: number | null;
  kept: boolean;
}

/** What a policy would have made of a recording. */
export interface ReplayReport {
  plugin: string;
  kind: ModelKind;
  provider: string;
  without: ReplayFigures;
  with: ReplayFigures;
  runs: number;
  estimated_runs: number;
  asked: number;
  decided: number;
  failed: number;
  decisions: ReplayDecision[];
  failures: { at_ms: number; reason: string }[];
  call_us?: number | null;
  given_up?: string | null;
  promise?: ReplayPromise | null;
  points: { at_ms: number; with_bytes: number; without_bytes: number }[];
}

type Untyped = (path: string, init: object) => Promise<{ data?: never; error?: unknown; response: Response }>;

/** The lines of a recording, as long as they are read. */
export const record = (alias: string, signal: AbortSignal): Promise<Response> =>
  opened(
    (api.GET as unknown as Untyped)('/ebb/v1/models/{alias}/recording', {
      params: { path: { alias } },
      signal,
      parseAs: 'stream',
    }),
  );

/** What a policy would have made of a recording, with the settings that hold and those that are to be tried. */
export const replay = (
  id: string,
  trace: string,
  settings: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ReplayReport> =>
  done<ReplayReport>(
    (api.POST as unknown as Untyped)('/ebb/v1/plugins/{id}/replay', {
      params: { path: { id }, query: { settings: JSON.stringify(settings) } },
      body: trace,
      bodySerializer: (body: string) => body,
      headers: { 'content-type': 'application/x-ndjson' },
      signal,
    }),
  );
