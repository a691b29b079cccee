import { untrack } from 'svelte';

import { ApiError, api, opened, pieces } from '../api';
import type { HostLogLine } from '../api/generated/schema';

/** Lines that are kept for the page. */
const KEPT = 2000;
const FIRST = 1000;

/** The host's log, followed while somebody reads it. */
class HostLog {
  /** Oldest first. */
  lines = $state.raw<HostLogLine[]>([]);
  error = $state.raw<ApiError | null>(null);
  /** Whether the host has answered once. */
  known = $state(false);

  #waiting: HostLogLine[] = [];

  /** Follows it until the result is called. */
  follow(): () => void {
    const ending = new AbortController();
    void untrack(() => this.#follow(ending.signal));
    return () => ending.abort();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let wait_ms = 500; !signal.aborted; wait_ms = Math.min(wait_ms * 2, 5000)) {
      try {
        const params = { query: { lines: FIRST, follow: true } };
        const response = await opened(api.GET('/ebb/v1/log', { params, signal, parseAs: 'stream' }));
        // The end of the log comes again with each answer, from another host perhaps.
        [this.lines, this.#waiting] = [[], []];
        [this.known, this.error, wait_ms] = [true, null, 500];
        for await (const line of pieces<HostLogLine>(response)) this.#take(line);
      } catch (thrown) {
        if (!signal.aborted) this.error = ApiError.from(thrown);
      }
      if (!signal.aborted) await new Promise((done) => setTimeout(done, wait_ms));
    }
  }

  #take(line: HostLogLine): void {
    // Many at once become one change of the page.
    if (this.#waiting.push(line) > 1) return;
    setTimeout(() => {
      this.lines = [...this.lines, ...this.#waiting].slice(-KEPT);
      this.#waiting = [];
    }, 50);
  }
}

export const hostLog = new HostLog();
