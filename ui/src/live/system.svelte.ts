import { ApiError, api, looked } from '../api';
import type { System } from '../api/generated/schema';

/** How often it is asked while somebody looks: with no model in memory little changes, and the page is to rest. */
const EVERY_MS = { loaded: 1000, empty: 5000 };

/** The machine's memory and who of us holds how much, as long as a view needs it and the page is visible. */
class SystemFigures {
  now = $state.raw<System | null>(null);
  error = $state.raw<ApiError | null>(null);

  #watchers = 0;

  /** Keeps it fresh until the result is called: for `$effect(() => system.watch())`. */
  watch(): () => void {
    this.#watchers += 1;
    if (this.#watchers === 1) void this.#run();
    return () => void (this.#watchers -= 1);
  }

  async #run(): Promise<void> {
    while (this.#watchers > 0) {
      if (!document.hidden) await this.refresh();
      await new Promise((done) =>
        setTimeout(done, this.now?.models.length === 0 ? EVERY_MS.empty : EVERY_MS.loaded),
      );
    }
  }

  async refresh(): Promise<void> {
    try {
      this.now = await looked((signal) => api.GET('/ebb/v1/system', { signal }));
      this.error = null;
    } catch (thrown) {
      this.error = ApiError.from(thrown);
    }
  }

  /** What a loaded model holds. */
  of(alias: string): System['models'][number] | undefined {
    return this.now?.models.find((model) => model.alias === alias);
  }
}

export const system = new SystemFigures();
