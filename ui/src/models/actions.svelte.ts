import { SvelteSet } from 'svelte/reactivity';

import { api, done } from '../api';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { system } from '../live/system.svelte';
import { shrinkWords } from '../shared/happened';
import { text } from '../text/en';

/** Models of which something is being done, so that it is not asked twice. */
export const busy = new SvelteSet<string>();

async function act(alias: string, work: () => Promise<string>): Promise<boolean> {
  if (busy.has(alias)) return false;
  busy.add(alias);
  try {
    notices.say(await work());
    return true;
  } catch (thrown) {
    notices.fail(thrown);
    return false;
  } finally {
    busy.delete(alias);
    void models.refresh();
    void system.refresh();
  }
}

export const shrink = (alias: string): Promise<boolean> =>
  act(alias, async () => {
    const path = { alias };
    const body = { targets: null };
    const report = await done(api.POST('/ebb/v1/models/{alias}/shrink', { params: { path }, body }));
    return text.models.shrunk(alias, shrinkWords(report));
  });

export const unload = (alias: string): Promise<boolean> =>
  act(alias, async () =>
    text.models.unloaded(
      await done(api.POST('/ebb/v1/models/{alias}/unload', { params: { path: { alias } } })),
    ),
  );

export const remove = (alias: string): Promise<boolean> =>
  act(alias, async () => {
    await done(api.DELETE('/ebb/v1/models/{alias}', { params: { path: { alias } } }));
    return text.models.removed(alias);
  });
