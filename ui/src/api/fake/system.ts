import type { HostLogLine } from '../generated/schema';
import type { FakeHost } from './host';
import type { Routes } from './routes';

/** The host itself and the machine. */
export const systemRoutes = (host: FakeHost): Routes => ({
  'GET /ebb/v1/system': () => {
    const loaded = [...host.models.values()].filter((model) => model.entry.state === 'loaded');
    const held = loaded.reduce((sum, model) => sum + host.sample(model).resident_bytes, 0);
    return {
      memory: { total_bytes: host.total_bytes, available_bytes: host.total_bytes * 0.6 - held },
      host: {
        pid: 4711,
        resident_bytes: 34 * 1024 * 1024,
        private_bytes: 21 * 1024 * 1024,
        version: '0.1.0',
        wasmtime_version: '48.0.8',
        uptime_ms: 60_000,
      },
      devices: [{ name: 'A processor', provider: 'cpu', kind: 'cpu', available: true }],
      runtimes: [],
      models: loaded.map((model) => {
        const sample = host.sample(model);
        return {
          alias: model.entry.alias,
          state: model.entry.state,
          pid: 4712 + [...host.models.keys()].indexOf(model.entry.alias),
          provider: 'cpu',
          resident_bytes: sample.resident_bytes,
          private_bytes: sample.private_bytes,
          reserved_bytes: model.reserved,
          in_use_bytes: model.weights,
          arenas: sample.arenas,
        };
      }),
      folders: [],
    };
  },
  'GET /ebb/v1/log': ({ query, request }) => {
    const past = host.log.slice(-Number(query.get('lines') ?? 100));
    if (query.get('follow') !== 'true') return { lines: past };
    const encoder = new TextEncoder();
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (line: HostLogLine) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
        past.forEach(send);
        host.readers.add(send);
        end = () => void host.readers.delete(send);
        request.signal.addEventListener('abort', () => {
          end();
          controller.error(request.signal.reason);
        });
      },
      cancel: () => end(),
    });
    return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });
  },
  'GET /ebb/v1/events': ({ query, request }) => {
    const encoder = new TextEncoder();
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (event: { event: string; seq: number }) =>
          controller.enqueue(
            encoder.encode(`id: ${event.seq}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`),
          );
        const history = Number(query.get('history') ?? 0);
        if (history > 0) host.past.slice(-history).forEach(send);
        end = host.listen(send);
        request.signal.addEventListener('abort', () => {
          end();
          controller.error(request.signal.reason);
        });
      },
      cancel: () => end(),
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  },
});
