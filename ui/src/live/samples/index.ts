import type { Event } from '../../api';
import { events } from '../events.svelte';
import { Feed } from './feed.svelte';
import { Overall } from './overall.svelte';

export { decimate } from './decimate';
export type { Drawn } from './decimate';
export { Feed } from './feed.svelte';
export type { Down, Told } from './feed.svelte';
export type { Mark } from './marks';
export { Overall } from './overall.svelte';
export { KEPT, Ring } from './ring';
export { IN_USE, LIMIT, RESERVED, RESIDENT, TIME, Track, held } from './track';

/** Models whose past is kept though nobody looks at them now: an hour of one takes two megabytes. */
const KEPT_FEEDS = 16;

/** The figures of every model that was looked at, and of all together. */
class Samples {
  readonly overall = new Overall();
  /** The one that was asked for last is the last. */
  #feeds = new Map<string, Feed>();

  constructor() {
    events.on((event) => this.#take(event));
    this.overall.follow();
  }

  /** The figures of a model. They come while somebody `watch`es them. */
  of(alias: string): Feed {
    const feed = this.#feeds.get(alias) ?? new Feed(alias);
    this.#feeds.delete(alias);
    this.#feeds.set(alias, feed);
    for (const [other, { watched }] of this.#feeds) {
      if (this.#feeds.size <= KEPT_FEEDS) break;
      if (!watched && other !== alias) this.#feeds.delete(other);
    }
    return feed;
  }

  #take(event: Event): void {
    this.#feeds.get(event.model)?.take(event);
    this.overall.track.take(event);
  }
}

export const samples = new Samples();
