import { ApiError, api, done } from '../api';
import type { Attachment, PluginEntry } from '../api';

/** How often they are asked for while somebody looks: what they used changes by itself. */
const EVERY_MS = 2000;

/** Every plugin, as the host knows it now. */
class Plugins {
  list = $state.raw<PluginEntry[]>([]);
  known = $state(false);
  error = $state.raw<ApiError | null>(null);

  #watchers = 0;
  #asking = false;
  #changes = 0;

  /** Keeps them fresh until the result is called: for `$effect(() => plugins.watch())`. */
  watch(): () => void {
    this.#watchers += 1;
    void this.refresh();
    if (!this.#asking) void this.#run();
    return () => void (this.#watchers -= 1);
  }

  async #run(): Promise<void> {
    this.#asking = true;
    while (this.#watchers > 0) {
      await new Promise((next) => setTimeout(next, EVERY_MS));
      if (this.#watchers > 0 && !document.hidden) await this.refresh();
    }
    this.#asking = false;
  }

  async refresh(): Promise<void> {
    const changes = this.#changes;
    try {
      const { plugins } = await done(api.GET('/ebb/v1/plugins'));
      // What was changed since this was asked is newer than the answer.
      if (changes === this.#changes) this.list = plugins;
      [this.known, this.error] = [true, null];
    } catch (thrown) {
      this.error = ApiError.from(thrown);
    }
  }

  /** Takes what the host answered to a change. */
  put(entry: PluginEntry): void {
    this.#changes += 1;
    const others = this.list.filter(({ manifest }) => manifest.id !== entry.manifest.id);
    this.list = [...others, entry].sort((a, b) => (a.manifest.id < b.manifest.id ? -1 : 1));
  }

  remove(id: string): void {
    this.#changes += 1;
    this.list = this.list.filter(({ manifest }) => manifest.id !== id);
  }

  of(id: string): PluginEntry | undefined {
    return this.list.find(({ manifest }) => manifest.id === id);
  }

  /** The policies of a model, in the order in which they are asked. */
  policiesOf(model: string): { plugin: PluginEntry; attachment: Attachment }[] {
    return this.list
      .flatMap((plugin) =>
        plugin.attachments
          .filter((attachment) => attachment.model === model)
          .map((attachment) => ({ plugin, attachment })),
      )
      .sort((a, b) => a.attachment.position - b.attachment.position);
  }
}

export const plugins = new Plugins();
