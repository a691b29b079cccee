import { untrack } from 'svelte';

import { ApiError, api, looked } from '../../api';
import type { Armed, Event, Sample, ShrinkReport, Stats } from '../../api';
import { events } from '../events.svelte';
import { models } from '../models.svelte';
import { Track, held } from './track';

/** While something changes: ten times a second. */
const BUSY_MS = 100;
/** While nothing does. */
const QUIET_MS = 1000;
/** Answers without a change after which it is quiet. */
const ALIKE = 10;
/** What resident memory moves by itself. */
const NOISE_BYTES = 256 * 1024;
/** Samples that the host keeps of a model. */
const HOST_KEEPS = 3600;

/** What the host says of a model that is not in memory. */
const GONE = new Set(['not_loaded', 'not_found', 'worker_crashed']);

/** A shrink as it is told: by whom it was asked for, and what it did. */
export interface Told {
  cause: string;
  report: ShrinkReport;
  time_ms: number;
}

/** Why the model is not there, where it ended by itself. */
export interface Down {
  reason: string;
  restart_in_ms: number | null;
  time_ms: number;
}

/**
 * A model's figures as long as somebody looks at them. One question is under way at a time, and the next waits for its answer: a
 * host that is busy is asked less. What was seen stays when the model goes.
 */
export class Feed {
  readonly track: Track;
  /** The last answer; it stays when the model goes. */
  stats = $state.raw<Stats | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** Whether the model is loaded, as far as is known. */
  loaded = $state(true);
  /** The run at whose end it will shrink. */
  armed = $state.raw<Armed | null>(null);
  /** The last shrink. */
  told = $state.raw<Told | null>(null);
  /** Its worker ended by itself, and it is not back yet. */
  down = $state.raw<Down | null>(null);

  #watchers = 0;
  #running = false;
  #alike = 0;
  #wake: (() => void) | null = null;
  /** The last event that was taken note of. */
  #last: Event | null = null;
  /** Events that came before the first answer. */
  #early: Event[] = [];

  constructor(
    readonly alias: string,
    readonly clock: () => number = Date.now,
  ) {
    this.track = new Track(clock);
  }

  /** Keeps the figures fresh until the result is called: for `$effect(() => feed.watch())`. */
  watch(): () => void {
    this.#watchers += 1;
    // Whoever watches within an effect is not to begin anew with each answer.
    if (!this.#running) void untrack(() => this.#run());
    return () => {
      this.#watchers -= 1;
      if (this.#watchers === 0) this.#wake?.();
    };
  }

  get watched(): boolean {
    return this.#watchers > 0;
  }

  /** Asks soon, as something has changed. */
  hurry(): void {
    this.#alike = 0;
    this.#wake?.();
  }

  /** Takes note of what happened to the model. */
  take(event: Event): void {
    if (this.stats === null) {
      this.#early = [...this.#early, event].slice(-100);
      if (event.event === 'loaded') this.loaded = true;
    } else if (later(event, this.#last)) {
      this.#last = event;
      this.track.take(event);
      this.#changed(event);
      this.track.changed();
    }
    this.hurry();
  }

  /** Takes note of a shrink that this page asked for: its event may come before or after. */
  shrunk(report: ShrinkReport, cause = 'request'): void {
    this.told = { cause, report, time_ms: this.clock() };
    this.hurry();
  }

  #changed(event: Event): void {
    const time_ms = event.time_ms + this.track.skew_ms;
    switch (event.event) {
      case 'run':
        if (this.armed !== null && event.run >= this.armed.run) this.armed = null;
        break;
      case 'shrink':
        if (worthTelling(event)) this.told = { cause: event.cause, report: event.report, time_ms };
        if (event.cause === 'after_run') this.armed = null;
        break;
      case 'loaded':
        this.track.gap(time_ms - event.load_ms);
        [this.loaded, this.down, this.armed] = [true, null, null];
        break;
      case 'crashed':
        this.down = { reason: event.reason, restart_in_ms: event.restart_in_ms ?? null, time_ms };
        this.#gone(time_ms);
        break;
      case 'load_failed':
        this.down = { reason: event.reason, restart_in_ms: null, time_ms };
        this.#gone(time_ms);
        break;
      case 'unloaded':
        this.#gone(time_ms);
        break;
    }
  }

  #gone(time_ms: number): void {
    this.track.gap(time_ms);
    [this.loaded, this.armed] = [false, null];
  }

  async #run(): Promise<void> {
    this.#running = true;
    const shown = () => this.hurry();
    document.addEventListener('visibilitychange', shown);
    while (this.#watchers > 0) {
      if (document.hidden) this.#alike = ALIKE;
      else await this.#ask();
      await this.#pause();
    }
    document.removeEventListener('visibilitychange', shown);
    this.#running = false;
  }

  /** Waits until the next question is due; `hurry` brings that forward, but never to more than ten a second. */
  async #pause(): Promise<void> {
    const asked_ms = performance.now();
    for (;;) {
      const due_ms = asked_ms + (this.loaded && this.#alike < ALIKE ? BUSY_MS : QUIET_MS);
      const wait_ms = due_ms - performance.now();
      if (wait_ms <= 0 || this.#watchers === 0) break;
      await new Promise<void>((wake) => {
        const timer = setTimeout(wake, wait_ms);
        this.#wake = () => (clearTimeout(timer), wake());
      });
    }
    this.#wake = null;
  }

  async #ask(): Promise<void> {
    try {
      const history = this.#absent();
      const query = history === 0 ? {} : { history };
      const params = { path: { alias: this.alias }, query };
      const stats = await looked((signal) => api.GET('/ebb/v1/models/{alias}/stats', { params, signal }));
      this.#answered(stats);
      [this.loaded, this.error] = [true, null];
    } catch (thrown) {
      const error = ApiError.from(thrown);
      const gone = GONE.has(error.code);
      // What became of it is told in the list of models.
      if (gone && this.loaded) void models.refresh();
      if (gone) this.loaded = false;
      this.error = gone ? null : error;
      // Nobody is asked ten times a second for what he does not have.
      this.#alike = ALIKE;
    }
  }

  /** How many of the host's samples fill the time in which nobody looked. */
  #absent(): number {
    if (this.stats === null) return HOST_KEEPS;
    const absent_ms = this.clock() - this.track.rows.last_ms;
    return absent_ms < 2 * QUIET_MS ? 0 : Math.min(Math.ceil(absent_ms / BUSY_MS), HOST_KEEPS);
  }

  #answered(stats: Stats): void {
    const here_ms = this.clock();
    const [first, before] = [this.stats === null, this.stats?.now];
    this.#alike = before !== undefined && alike(before, stats.now) ? this.#alike + 1 : 0;
    if (before !== undefined && stats.now.at_ms < before.at_ms) this.down = null;
    this.#past(stats.history, stats.now, here_ms);
    this.stats = stats;
    // Another program may have armed it, or this page before it was opened anew.
    const run = stats.shrink_after_run ?? null;
    this.armed = run === null ? null : { model: this.alias, run };
    if (first) this.#remember(here_ms - stats.now.at_ms);
    this.track.put(here_ms, held(stats.now));
    this.track.changed();
  }

  /**
   * Puts in what the host kept. Its samples tell the time since the model was loaded: those of an earlier load, which are before a
   * step back, end where the later one began.
   */
  #past(history: readonly Sample[], now: Sample, here_ms: number): void {
    const times: number[] = [];
    let [loaded_ms, after] = [here_ms - now.at_ms, now.at_ms];
    for (const { at_ms } of history.toReversed()) {
      if (at_ms > after) loaded_ms -= at_ms + QUIET_MS;
      after = at_ms;
      times.push(loaded_ms + at_ms);
    }
    times.reverse();
    const known_ms = this.track.rows.last_ms;
    let last = -1;
    for (const [index, sample] of history.entries()) {
      const time_ms = times[index] ?? here_ms;
      if (time_ms <= known_ms || time_ms >= here_ms) continue;
      if (last > sample.at_ms) this.track.gap(time_ms);
      last = sample.at_ms;
      this.track.put(time_ms, held(sample));
    }
  }

  /** Takes in what happened before anybody looked. */
  #remember(loaded_ms: number): void {
    for (const event of events.list) if (event.model === this.alias) this.#note(event, loaded_ms);
    for (const event of this.#early) if (later(event, this.#last)) this.#note(event, loaded_ms);
    this.#early = [];
    for (const { event, time_ms } of this.track.marks) {
      if (event.event !== 'shrink' || !worthTelling(event)) continue;
      this.told = { cause: event.cause, report: event.report, time_ms };
    }
  }

  #note(event: Event, loaded_ms: number): void {
    if (event.event === 'loaded') this.track.learn(loaded_ms, event.time_ms - event.sample.at_ms);
    if (event.event === 'run') this.track.learn(loaded_ms, event.time_ms - event.after.at_ms);
    this.track.take(event);
    this.#last = event;
  }
}

/** What nobody asked for and gave nothing back does not take the place of a report that somebody reads. */
const worthTelling = ({ cause, report }: Extract<Event, { event: 'shrink' }>) =>
  cause === 'request' || cause === 'after_run' || report.freed_bytes > 0 || report.pools_dropped.length > 0;

/** Whether an event came after another. A host that began anew counts from 0 again. */
const later = (event: Event, than: Event | null) =>
  than === null || event.seq > than.seq || event.time_ms > than.time_ms;

function alike(before: Sample, now: Sample): boolean {
  if (before.runs !== now.runs || Math.abs(before.resident_bytes - now.resident_bytes) > NOISE_BYTES)
    return false;
  return JSON.stringify(before.arenas) === JSON.stringify(now.arenas);
}
