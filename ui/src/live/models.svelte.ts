import { ApiError, api, looked } from '../api';
import type { ModelEntry } from '../api';

/** Every model of the catalogue, as the host knows it now. */
class Models {
  list = $state.raw<ModelEntry[]>([]);
  /** Whether the host has answered once. */
  known = $state(false);
  error = $state.raw<ApiError | null>(null);

  #asking: Promise<void> | null = null;
  #again = false;

  /** Asks anew. Where an answer is awaited already, one more follows it, however often this is called. */
  refresh(): Promise<void> {
    if (this.#asking !== null) {
      this.#again = true;
      return this.#asking;
    }
    this.#asking = this.#ask().finally(() => {
      this.#asking = null;
      if (this.#again) {
        this.#again = false;
        void this.refresh();
      }
    });
    return this.#asking;
  }

  async #ask(): Promise<void> {
    try {
      this.list = (await looked((signal) => api.GET('/ebb/v1/models', { signal }))).models;
      [this.known, this.error] = [true, null];
    } catch (thrown) {
      this.error = ApiError.from(thrown);
    }
  }

  /** The model of this alias. */
  of(alias: string): ModelEntry | undefined {
    return this.list.find((model) => model.alias === alias);
  }

  /** Those in memory, of a kind where one is named. */
  loaded(kind?: ModelEntry['kind']): ModelEntry[] {
    return this.list.filter(
      (model) => model.state === 'loaded' && (kind === undefined || model.kind === kind),
    );
  }
}

export const models = new Models();
