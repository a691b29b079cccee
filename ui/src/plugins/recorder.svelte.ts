import { ApiError, textLines } from '../api';
import { record } from './report';

/** What a recording may take in the page: an hour of a busy model is a few MiB. */
export const MAX_BYTES = 32 << 20;

/** A recording of what a model held: figures only. One at a time, kept while the page is open, tried on any policy. */
class Recorder {
  /** The model that is recorded now. */
  model = $state<string | null>(null);
  /** Model or file that the recording is of. */
  name = $state('');
  requests = $state(0);
  size = $state(0);
  lasted_ms = $state(0);
  /** Whether it ended because it is too long. */
  full = $state(false);
  /** Whether there is a whole recording. */
  ready = $state(false);
  error = $state.raw<ApiError | null>(null);

  #lines: string[] = [];
  #ending: AbortController | null = null;

  /** The recording as it is sent and saved. */
  get text(): string {
    return this.#lines.join('\n');
  }

  /** Records until it is stopped, the model goes, or it is too long. */
  async start(model: string): Promise<void> {
    this.#begin(model);
    this.model = model;
    const ending = (this.#ending = new AbortController());
    try {
      for await (const line of textLines(await record(model, ending.signal))) {
        this.#take(line);
        if (this.size < MAX_BYTES) continue;
        this.full = true;
        break;
      }
    } catch (thrown) {
      if (!ending.signal.aborted) this.error = ApiError.from(thrown);
    }
    if (this.#ending !== ending) return;
    [this.model, this.#ending] = [null, null];
    this.ready = this.#lines.length > 0;
  }

  stop(): void {
    this.#ending?.abort();
  }

  /** Takes a recording from a file. */
  async open(file: File): Promise<void> {
    this.#begin(file.name);
    if (file.size > MAX_BYTES) {
      this.full = true;
      return;
    }
    for (const line of (await file.text()).split('\n')) this.#take(line);
    this.ready = this.#lines.length > 0;
  }

  #begin(name: string): void {
    this.#ending?.abort();
    [this.#lines, this.#ending, this.name] = [[], null, name];
    [this.model, this.error, this.full, this.ready] = [null, null, false, false];
    [this.requests, this.size, this.lasted_ms] = [0, 0, 0];
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    this.#lines.push(line);
    this.size += line.length + 1;
    // Not parsed: the host reads it, and it may be long.
    if (line.includes('"run":{')) this.requests += 1;
    const at = /"at_ms":(\d+)/.exec(line);
    if (at !== null && line.startsWith('{"at_ms"')) this.lasted_ms = Number(at[1]);
  }
}

export const recorder = new Recorder();
