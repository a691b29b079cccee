import { ApiError, api, isCancelled, opened, pieces } from '../api';
import type { ModelEntry } from '../api';
import type { PullPiece, PullProgress } from '../api/generated/schema';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { text } from '../text/en';

/** What is to be added: something on this machine, or a name on the Hub. */
export type Source =
  | { kind: 'path'; path: string; alias: string }
  | { kind: 'hub'; model: string; alias: string; revision: string };

/** A model on its way into the list. */
export class Job {
  progress = $state.raw<PullProgress | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** The model, once it is in the list. */
  added = $state.raw<ModelEntry | null>(null);
  readonly #ending = new AbortController();

  constructor(
    readonly id: number,
    readonly source: Source,
  ) {}

  /** What people call it. */
  get label(): string {
    return this.source.kind === 'path' ? this.source.path : this.source.model;
  }

  /** 0 to 1; undefined where nobody knows. */
  get fraction(): number | undefined {
    const { done_bytes, total_bytes } = this.progress ?? { done_bytes: 0, total_bytes: 0 };
    return total_bytes > 0 ? Math.min(1, done_bytes / total_bytes) : undefined;
  }

  cancel(): void {
    this.#ending.abort();
  }

  async run(): Promise<ModelEntry | null> {
    this.error = null;
    try {
      for await (const piece of pieces<PullPiece>(await this.#open())) {
        if ('progress' in piece) this.progress = piece.progress;
        if ('report' in piece) this.added = piece.report;
      }
    } catch (thrown) {
      this.error = this.#ending.signal.aborted
        ? new ApiError({ code: 'cancelled', message: text.models.jobCancelled })
        : ApiError.from(thrown);
    }
    return this.added;
  }

  #open(): Promise<Response> {
    const { signal } = this.#ending;
    if (this.source.kind === 'path') {
      const body = { path: this.source.path, alias: this.source.alias || null, force: false };
      return opened(api.POST('/ebb/v1/models/import', { body, signal, parseAs: 'stream' }));
    }
    const { model, alias, revision } = this.source;
    const body = { model, alias: alias || null, revision: revision || null, force: false };
    return opened(api.POST('/ebb/v1/models/pull', { body, signal, parseAs: 'stream' }));
  }
}

/** Models being added. They go on while other views are open. */
class Adding {
  jobs = $state.raw<Job[]>([]);
  #next = 1;

  /** Begins; `added` is the model, or `null` where it failed or was cancelled. */
  start(source: Source): { job: Job; added: Promise<ModelEntry | null> } {
    const job = new Job(this.#next++, source);
    this.jobs = [...this.jobs, job];
    return { job, added: this.#run(job) };
  }

  /** Tries again what failed. */
  again(job: Job): void {
    this.close(job);
    this.start(job.source);
  }

  async #run(job: Job): Promise<ModelEntry | null> {
    const added = await job.run();
    if (added !== null) {
      notices.say(text.models.jobAdded(added.alias));
      await models.refresh();
    }
    // What failed stays, to be read and tried again.
    if (added !== null || (job.error !== null && isCancelled(job.error))) this.close(job);
    return added;
  }

  close(job: Job): void {
    this.jobs = this.jobs.filter((other) => other.id !== job.id);
  }
}

export const adding = new Adding();
