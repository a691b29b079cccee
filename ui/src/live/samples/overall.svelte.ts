import type { System } from '../../api/generated/schema';
import { system } from '../system.svelte';
import { Track } from './track';

/** What all models hold together, from the figures of the machine. */
export class Overall {
  readonly track: Track;
  #last: System | null = null;

  constructor(readonly clock: () => number = Date.now) {
    this.track = new Track(clock);
  }

  /** Takes note of every answer from now on, whichever view asked. */
  follow(): void {
    $effect.root(() => {
      $effect(() => {
        if (system.now !== null) this.take(system.now);
      });
    });
  }

  /** Takes note of an answer; the same one counts once. */
  take(now: System): void {
    if (now === this.#last) return;
    this.#last = now;
    const there = now.models.filter(({ state }) => state === 'loaded');
    const sum = (figure: (model: System['models'][number]) => number) =>
      there.reduce((total, model) => total + figure(model), 0);
    this.track.put(this.clock(), {
      in_use: sum((model) => model.in_use_bytes),
      reserved: sum((model) => model.reserved_bytes),
      limit: NaN,
      resident: sum((model) => model.resident_bytes),
    });
    this.track.changed();
  }
}
