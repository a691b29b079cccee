import { ApiError, api, done } from '../api';
import type { Doctor, LoadOptions, ShrinkReport } from '../api';
import type { DemoModel, EmbedRequest } from '../api/generated/schema';
import { models } from '../live/models.svelte';
import { system } from '../live/system.svelte';
import { adding, type Job, type Source } from '../models/adding.svelte';
import { type Figures, figuresOf } from '../models/figures';
import { keepText, keptText } from '../shared/kept';
import { text } from '../text/en';

/** Kept in this browser once somebody has seen or skipped it. */
const SEEN = 'ebb.welcomed';

/** Few enough that no profile shrinks in between by itself, and enough to see memory grow. */
export const REQUESTS = 8;
export const TEXTS = 48;

export const STEPS = ['model', 'burst', 'shrink'] as const;
export type Step = (typeof STEPS)[number];

/** What the tour is made with: a model of the list, or one that has to be added first. */
export type Subject = { alias: string } | { demo: DemoModel; source: Source };

/** The tour: load a small model, give it work, take the memory back. */
class Welcome {
  isOpen = $state(false);
  doctor = $state.raw<Doctor | null>(null);
  /** `undefined`: not known yet; `null`: there is none. */
  subject = $state.raw<Subject | null | undefined>(undefined);
  /** The step that comes next; `null` at the end. */
  step = $state<Step | null>('model');
  /** Whether that is going on. */
  working = $state(false);
  job = $state.raw<Job | null>(null);
  /** Requests that were answered. */
  answered = $state(0);
  error = $state.raw<ApiError | null>(null);
  alias = $state<string | null>(null);
  before = $state.raw<Figures | null>(null);
  after = $state.raw<Figures | null>(null);
  report = $state.raw<ShrinkReport | null>(null);

  #ending = new AbortController();

  /** Opens at the first run, where nothing is there yet. */
  greet(): void {
    if (models.list.length === 0 && keptText(SEEN) === null) this.show();
  }

  /** Opens at its beginning. */
  show(): void {
    this.#ending = new AbortController();
    [this.step, this.working, this.error, this.job, this.answered] = ['model', false, null, null, 0];
    [this.subject, this.alias, this.before, this.after, this.report] = [undefined, null, null, null, null];
    this.isOpen = true;
    void this.look();
  }

  /** Closes, and does not open by itself again. What goes on ends, but for a download. */
  close(): void {
    keepText(SEEN, 'yes');
    this.#ending.abort();
    this.isOpen = false;
  }

  /** Looks what machine this is, and which model will do. */
  async look(): Promise<void> {
    this.error = null;
    try {
      const [doctor, demos] = await Promise.all([
        done(api.GET('/ebb/v1/doctor')),
        done(api.GET('/ebb/v1/demo-models')),
      ]);
      this.doctor = doctor;
      this.subject = chosen(demos.models);
    } catch (thrown) {
      this.error = ApiError.from(thrown);
    }
  }

  /** Does the step that comes next. */
  async go(): Promise<void> {
    const { step } = this;
    if (step === null || this.working) return;
    const { signal } = this.#ending;
    [this.working, this.error] = [true, null];
    try {
      const next =
        step === 'model'
          ? await this.#load(signal)
          : step === 'burst'
            ? await this.#burst(signal)
            : await this.#shrink(signal);
      if (!signal.aborted) this.step = next;
    } catch (thrown) {
      if (!signal.aborted) this.error = ApiError.from(thrown);
    }
    if (!signal.aborted) this.working = false;
    void models.refresh();
    void system.refresh();
  }

  async #load(signal: AbortSignal): Promise<Step> {
    const alias = await this.#added();
    if (signal.aborted) return 'model';
    const path = { alias };
    if (models.of(alias)?.state !== 'loaded') {
      const body = {} as LoadOptions;
      await done(api.POST('/ebb/v1/models/{alias}/load', { params: { path, query: {} }, body, signal }));
    }
    this.before = await held(alias, signal);
    this.alias = alias;
    return 'burst';
  }

  /** The model's alias, once it is in the list. */
  async #added(): Promise<string> {
    if (!this.subject) throw new ApiError({ code: 'not_found', message: text.welcome.modelNone });
    if ('alias' in this.subject) return this.subject.alias;
    const { job, added } = adding.start(this.subject.source);
    this.job = job;
    const model = await added;
    this.job = null;
    if (model !== null) {
      // Where loading it fails, it is in the list all the same.
      this.subject = { alias: model.alias };
      return model.alias;
    }
    adding.close(job);
    throw job.error ?? new ApiError({ code: 'cancelled', message: text.models.jobCancelled });
  }

  async #burst(signal: AbortSignal): Promise<Step> {
    const path = { alias: this.alias ?? '' };
    for (this.answered = 0; this.answered < REQUESTS; this.answered += 1) {
      const texts = Array.from({ length: TEXTS }, (_, index) => text.welcome.sample(this.answered + index));
      const body = { texts } as EmbedRequest;
      await done(api.POST('/ebb/v1/models/{alias}/embed', { params: { path }, body, signal }));
      void system.refresh();
    }
    this.after = await held(path.alias, signal);
    return 'shrink';
  }

  async #shrink(signal: AbortSignal): Promise<null> {
    const path = { alias: this.alias ?? '' };
    const body = { targets: null };
    this.report = await done(api.POST('/ebb/v1/models/{alias}/shrink', { params: { path }, body, signal }));
    return null;
  }
}

async function held(alias: string, signal: AbortSignal): Promise<Figures> {
  const path = { alias };
  return figuresOf((await done(api.GET('/ebb/v1/models/{alias}/stats', { params: { path }, signal }))).now);
}

/** The demo model where it is in the list, else one of the user's own, else the demo model from where it is. */
function chosen(demos: DemoModel[]): Subject | null {
  const fitting = demos.filter(({ kind }) => kind === 'embeddings');
  const added = fitting.find((demo) => demo.added != null && models.of(demo.added) !== undefined)?.added;
  const own = models.loaded('embeddings')[0] ?? models.list.find(({ kind }) => kind === 'embeddings');
  const alias = added ?? own?.alias;
  if (alias !== undefined) return { alias };
  for (const demo of fitting) {
    const { alias, path, pull } = demo;
    if (path) return { demo, source: { kind: 'path', path, alias } };
    if (pull) return { demo, source: { kind: 'hub', model: pull, alias, revision: '' } };
  }
  return null;
}

export const welcome = new Welcome();
