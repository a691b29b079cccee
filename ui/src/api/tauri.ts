import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';

import type { DesktopInfo, Native, Transport } from './transport';

/** The head of an answer; its body is read in pieces under this number. */
interface Head {
  status: number;
  content_type: string | null;
  body: number;
}

/** The host in the desktop app's own process. Bodies are pulled: nothing is made faster than the page reads. */
async function send(request: Request): Promise<Response> {
  request.signal.throwIfAborted();
  const url = new URL(request.url);
  const content = new Uint8Array(await request.arrayBuffer());
  const head = await invoke<Head>('send', content, {
    headers: {
      'ebb-method': request.method,
      'ebb-path': url.pathname + url.search,
      'ebb-content-type': request.headers.get('content-type') ?? '',
    },
  });
  const headers = head.content_type === null ? undefined : { 'content-type': head.content_type };
  return new Response(body(head.body, request.signal), { status: head.status, headers });
}

function body(id: number, signal: AbortSignal): ReadableStream<Uint8Array> {
  const close = () => invoke<void>('close', { body: id });
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener('abort', () => {
          controller.error(signal.reason);
          void close();
        });
      },
      async pull(controller) {
        const piece = await invoke<ArrayBuffer>('read', { body: id });
        if (signal.aborted) return;
        if (piece.byteLength === 0) controller.close();
        else controller.enqueue(new Uint8Array(piece));
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}

/** Listening begins in a moment, ending may be asked for before that. */
function on<T>(event: string, handle: (payload: T) => void): () => void {
  const listening = listen<T>(event, ({ payload }) => handle(payload));
  return () => void listening.then((end) => end());
}

const native: Native = {
  info: () => invoke<DesktopInfo>('desktop_info'),
  pick: (kind, title, name) => invoke<string | null>('pick', { kind, title, name: name ?? null }),
  openPath: (path) => invoke<void>('open_path', { path }),
  saveFile: async (path, content) =>
    invoke<void>('save_file', new Uint8Array(await content.arrayBuffer()), {
      headers: { 'ebb-path': encodeURIComponent(path) },
    }),
  setPreference: (name, value) => invoke<void>('set_preference', { name, value }),
  quit: () => invoke<void>('quit'),
  onDropped: (handle) => on<string[]>('dropped', handle),
  onQuitting: (handle) => on<string[]>('quitting', handle),
};

export const tauri: Transport = { name: 'desktop', fetch: send, native };
