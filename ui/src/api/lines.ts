import { ApiError } from './error';

/** The lines of an answer as they come. A last line without an end counts. */
export async function* textLines(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let kept = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      kept += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = kept.split('\n');
      kept = done ? '' : (lines.pop() ?? '');
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
      if (done) return;
    }
  } finally {
    // Where the loop over these lines is left early, the host is to stop working.
    await reader.cancel().catch(() => undefined);
  }
}

/** The pieces of an answer in lines of JSON. A piece that is an error is thrown. */
export async function* pieces<P>(response: Response): AsyncGenerator<P> {
  for await (const line of textLines(response)) {
    if (line === '') continue;
    const piece = JSON.parse(line) as P | { error: ConstructorParameters<typeof ApiError>[0] };
    if (typeof piece === 'object' && piece !== null && 'error' in piece) throw new ApiError(piece.error);
    yield piece as P;
  }
}

/** A server-sent event. */
export interface Sent {
  name: string;
  data: string;
}

/** The server-sent events of an answer. */
export async function* serverSent(response: Response): AsyncGenerator<Sent> {
  let [name, data] = ['message', [] as string[]];
  for await (const line of textLines(response)) {
    if (line === '') {
      if (data.length > 0) yield { name, data: data.join('\n') };
      [name, data] = ['message', []];
    } else if (line.startsWith('event:')) {
      name = line.slice(6).trim();
    } else if (line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    }
  }
}
