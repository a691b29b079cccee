import { api, done, opened } from '../api';
import type { ReplayReport } from '../api/generated/schema';

export type { ReplayDecision, ReplayFigures, ReplayPromise, ReplayReport } from '../api/generated/schema';

/** The lines of a recording, as long as they are read. */
export const record = (alias: string, signal: AbortSignal): Promise<Response> =>
  opened(
    api.GET('/ebb/v1/models/{alias}/recording', { params: { path: { alias } }, signal, parseAs: 'stream' }),
  );

/** What a policy would have made of a recording, with the settings that hold and those that are to be tried. */
export const replay = (
  id: string,
  trace: string,
  settings: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ReplayReport> =>
  done(
    api.POST('/ebb/v1/plugins/{id}/replay', {
      params: { path: { id }, query: { settings: JSON.stringify(settings) } },
      body: trace,
      bodySerializer: (body) => body,
      headers: { 'content-type': 'application/x-ndjson' },
      signal,
    }),
  );
