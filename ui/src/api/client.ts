import createClient from 'openapi-fetch';

import { ApiError, unreachable } from './error';
import type { ErrorBody, paths } from './generated/schema';
import type { Native, Transport } from './transport';

/** Somewhere to be: requests never leave through it except over HTTP, where it is the page's own. */
const origin = () => (location.origin.startsWith('http') ? location.origin : 'http://ebb.localhost');

let transport: Transport | null = null;

/** Chooses the way to the host. Called once, before the page is made. */
export function use(chosen: Transport): void {
  transport = chosen;
}

/** The way that was chosen. */
export function way(): Transport {
  if (transport === null) throw new Error('no way to a host was chosen yet');
  return transport;
}

/** What only the desktop app can do. */
export const native = (): Native | null => way().native;

/**
 * Every route of the host, typed by its own description:
 * `await done(api.POST('/ebb/v1/models/{alias}/shrink', { params: { path: { alias } }, body: {} }))`.
 */
export const api = createClient<paths>({
  baseUrl: origin(),
  fetch: async (request) => {
    try {
      return await way().fetch(request);
    } catch (thrown) {
      throw ApiError.from(thrown);
    }
  },
});

/** A body without the fields that are to be at the host's defaults: the types of routes ask for all of them. */
export const given = <T>(fields: Partial<T>): T => fields as T;

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The answer of a call, or its error thrown as an `ApiError`. */
export async function done<T>(call: Promise<Outcome<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok && error === undefined) return data as T;
  throw refused(error, response);
}

/** A host that runs answers a look at its figures in moments, also while its models work. */
const LOOK_MS = 5000;

/** The answer of a call that only looks at something. Where none comes in time, the host is taken for one that does not answer. */
export async function looked<T>(call: (signal: AbortSignal) => Promise<Outcome<T>>): Promise<T> {
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(unreachable()), LOOK_MS);
  });
  try {
    // Not by the signal alone: not every way to a host ends a call that it began.
    return await Promise.race([done(call(ending.signal)), late]);
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/** The response of a call whose body is a stream (`parseAs: 'stream'`), or its error thrown. */
export async function opened(call: Promise<Outcome<unknown>>): Promise<Response> {
  const { data, error, response } = await call;
  if (!response.ok || error !== undefined) throw refused(error, response);
  // openapi-fetch has taken the body out of the response.
  return new Response(data as ReadableStream<Uint8Array>, { status: response.status });
}

function refused(error: unknown, response: Response): ApiError {
  const fields = (error as Partial<ErrorBody> | undefined)?.error;
  if (fields !== undefined && typeof fields.message === 'string')
    return new ApiError(fields, response.status);
  const message = `the host answered ${response.status}`;
  return new ApiError({ code: 'internal', message }, response.status);
}
