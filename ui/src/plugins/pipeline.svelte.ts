import { ApiError, api, done, opened, pieces } from '../api';
import type { IngestPiece, IngestReport, PluginIndex } from '../api';

/** How often the index is asked for while it is looked at: it may be worked on from elsewhere. */
const EVERY_MS = 2000;

/** The index of a pipeline, and bringing it up to date. It goes on while the page shows something else. */
export class Index {
  now = $state.raw<PluginIndex | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** How far an ingest from here is. */
  progress = $state.raw<{ fraction: number; message: string } | null>(null);
  report = $state.raw<IngestReport | null>(null);
  failed = $state.raw<ApiError | null>(null);

  #ingesting: AbortController | null = null;

  constructor(readonly plugin: string) {}

  get documents(): number | null {
    return this.now?.collections.reduce((sum, { documents }) => sum + documents, 0) ?? null;
  }

  /** Asks until the result is called. */
  watch(): () => void {
    void this.refresh();
    const timer = setInterval(() => document.hidden || void this.refresh(), EVERY_MS);
    return () => clearInterval(timer);
  }

  async refresh(): Promise<void> {
    try {
      const params = { path: { id: this.plugin } };
      this.now = await done(api.GET('/ebb/v1/plugins/{id}/index', { params }));
      this.error = null;
    } catch (thrown) {
      this.error = ApiError.from(thrown);
    }
  }

  async ingest(): Promise<void> {
    const ingesting = (this.#ingesting = new AbortController());
    [this.progress, this.report, this.failed] = [{ fraction: 0, message: '' }, null, null];
    try {
      const params = { path: { id: this.plugin } };
      const response = await opened(
        api.POST('/ebb/v1/plugins/{id}/ingest', { params, signal: ingesting.signal, parseAs: 'stream' }),
      );
      for await (const piece of pieces<IngestPiece>(response)) {
        if ('progress' in piece) this.progress = piece.progress;
        if ('report' in piece) this.report = piece.report;
      }
    } catch (thrown) {
      if (!ingesting.signal.aborted) this.failed = ApiError.from(thrown);
    }
    this.progress = null;
    await this.refresh();
  }

  cancel(): void {
    this.#ingesting?.abort();
  }
}

const known = new Map<string, Index>();

/** The index of a pipeline; one and the same for as long as the page is open. */
export function indexOf(plugin: string): Index {
  const index = known.get(plugin) ?? new Index(plugin);
  known.set(plugin, index);
  return index;
}
