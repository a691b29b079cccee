import { untrack } from 'svelte';

import { ApiError, api, opened, serverSent } from '../api';
import type { Event } from '../api';
import { models } from './models.svelte';

/** Events that are kept for the page; older ones go. */
const KEPT = 2000;

/** Events after which the list of models is another one. */
const CHANGES = new Set<Event['event']>([
  'added',
  'removed',
  'load_options',
  'loading',
  'loaded',
  'load_failed',
  'crashed',
  'unloaded',
  'attached',
  'detached',
]);

type Listener = (event: Event) => void;

/** What happens to models, from the host's event stream; it is opened again when it ends. */
class Events {
  /** Oldest first. */
  list = $state.raw<Event[]>([]);
  /** Whether the stream is open. */
  open = $state(false);
  error = $state.raw<ApiError | null>(null);
  /** Events that this page missed because it read too slowly. */
  missed = $state(0);

  #listeners = new Set<Listener>();
  #waiting: Event[] = [];

  /** Called for each event as it comes. Ends when the result is called. */
  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Opens the stream, and again whenever it ends, until the result is called. */
  follow(): () => void {
    const ending = new AbortController();
    // Whoever follows within an effect is not to begin anew with each event.
    void untrack(() => this.#follow(ending.signal));
    return () => ending.abort();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let wait_ms = 250; !signal.aborted; wait_ms = Math.min(wait_ms * 2, 5000)) {
      try {
        const query = { history: this.list.length === 0 ? 500 : 0 };
        const response = await opened(
          api.GET('/ebb/v1/events', { params: { query }, signal, parseAs: 'stream' }),
        );
        [this.open, this.error] = [true, null];
        wait_ms = 250;
        void models.refresh();
        for await (const { name, data } of serverSent(response)) this.#take(name, data);
      } catch (thrown) {
        if (!signal.aborted) this.error = ApiError.from(thrown);
      }
      this.open = false;
      await new Promise((done) => setTimeout(done, wait_ms));
    }
  }

  #take(name: string, data: string): void {
    if (name === 'lagged') {
      this.missed += (JSON.parse(data) as { missed: number }).missed;
      void models.refresh();
      return;
    }
    const event = JSON.parse(data) as Event;
    if (CHANGES.has(event.event)) void models.refresh();
    for (const listener of this.#listeners) listener(event);
    // Many at once become one change of the page.
    if (this.#waiting.push(event) === 1) setTimeout(() => this.#keep(), 50);
  }

  #keep(): void {
    const last = this.list.at(-1) ?? { seq: -1, time_ms: 0 };
    // A host that began anew counts from 0 again.
    const fresh = this.#waiting.filter((event) => event.seq > last.seq || event.time_ms > last.time_ms);
    this.#waiting = [];
    this.list = [...this.list, ...fresh].slice(-KEPT);
  }
}

export const events = new Events();
