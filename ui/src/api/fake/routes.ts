/** What a route of the recorded host answers with: a value as JSON, or a whole response. */
export interface Call {
  /** Parts of the path in braces, by name. */
  path: Record<string, string>;
  query: URLSearchParams;
  /** The body as JSON; `null` where there is none or it is none. */
  body: unknown;
  request: Request;
}
export type Handler = (call: Call) => unknown;

/** Handlers by method and path: `'POST /ebb/v1/models/{alias}/shrink'`. */
export type Routes = Record<string, Handler>;

/** A refusal, in the host's form. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly message: string,
    readonly hint: string | null = null,
    readonly param: string | null = null,
  ) {}
}

/** Calls the handler that the request is for. */
export async function answer(routes: Routes, request: Request): Promise<Response> {
  const url = new URL(request.url);
  for (const [route, handler] of Object.entries(routes)) {
    const [method, pattern] = route.split(' ') as [string, string];
    const path = method === request.method ? matched(pattern, url.pathname) : null;
    if (path === null) continue;
    const body = await json(request);
    try {
      const value = await handler({ path, query: url.searchParams, body, request });
      return value instanceof Response ? cancellable(value, request) : Response.json(value);
    } catch (thrown) {
      if (thrown instanceof Refusal) return refused(thrown);
      throw thrown;
    }
  }
  return refused(new Refusal(404, 'not_found', `there is no route ${url.pathname}`));
}

/**
 * An answer that breaks off when its request is cancelled, as one over a network does. It holds the request: Node's signal hears
 * of nothing once its request was collected.
 */
function cancellable(response: Response, request: Request): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      request.signal.addEventListener('abort', () => {
        controller.error(request.signal.reason);
        reader.cancel().catch(() => undefined);
      });
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (request.signal.aborted) return;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => reader.cancel(),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

function matched(pattern: string, path: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith('{')) found[part.slice(1, -1)] = decodeURIComponent(value);
    else if (part !== value) return null;
  }
  return found;
}

async function json(request: Request): Promise<unknown> {
  if (request.headers.get('content-type')?.startsWith('application/json') !== true) return null;
  const text = await request.clone().text();
  return text === '' ? null : JSON.parse(text);
}

function refused({ status, code, message, hint, param }: Refusal): Response {
  const error = { code, message, hint, param, type: 'invalid_request_error' };
  return Response.json({ error }, { status });
}

/** An answer in lines of JSON, each after a moment, as long as somebody reads. */
export function lines(pieces: Iterable<unknown> | AsyncIterable<unknown>, every_ms = 0): Response {
  const encoder = new TextEncoder();
  const from = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await from.next();
      if (done === true) return controller.close();
      if (every_ms > 0) await new Promise((next) => setTimeout(next, every_ms));
      controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    async cancel() {
      await from.return?.();
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });
}
