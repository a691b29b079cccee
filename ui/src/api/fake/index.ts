import type { Transport } from '../transport';
import { FakeHost } from './host';
import { hostRoutes } from './itself';
import { memoryRoutes } from './memory';
import { modelRoutes } from './models';
import { optionRoutes } from './options';
import { pipelineRoutes } from './pipelines';
import { FakePlugins, pluginRoutes } from './plugins';
import { answer } from './routes';
import { systemRoutes } from './system';
import { workRoutes } from './work';

export { FakeHost } from './host';
export { FakePlugins } from './plugins';

/** The way to a host of recorded figures. */
export function fake(host: FakeHost, plugins = new FakePlugins(host), pace = { every_ms: 0 }): Transport {
  const routes = {
    ...modelRoutes(host, pace),
    ...optionRoutes(host),
    ...memoryRoutes(host),
    ...systemRoutes(host),
    ...hostRoutes(),
    ...pluginRoutes(host, plugins),
    ...pipelineRoutes(plugins, pace),
    ...workRoutes(host, pace),
  };
  return { name: 'recorded', fetch: (request) => answer(routes, request), native: null };
}

/** A demo without a model: a host that is used, so that there is something to see. */
export function recorded(): Transport {
  const host = new FakeHost();
  host.load('minilm', {} as never);
  host.load('smollm2', {} as never);
  let step = 0;
  host.write('info', 'ebb_api::load', 'loaded', { model: 'minilm', fields: { load_ms: 180 } });
  host.write('warn', 'ebb_server', 'the address is in use by another program', { fields: { port: 4770 } });
  setInterval(() => {
    for (const { entry } of host.models.values()) if (entry.state === 'loaded') host.keep(entry.alias);
  }, 1000);
  setInterval(() => {
    const grown = (step++ % 40) * 3;
    if (host.models.get('minilm')?.entry.state === 'loaded') host.run('minilm', (12 + grown) * 1024 * 1024);
    if (step % 3 === 0 && host.models.get('smollm2')?.entry.state === 'loaded') {
      host.run('smollm2', (40 + grown / 2) * 1024 * 1024, 900_000);
    }
  }, 700);
  return fake(host, new FakePlugins(host), { every_ms: 40 });
}
