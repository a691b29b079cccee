import { expect, test } from 'vitest';

import { ApiError } from './error';
import { pieces, serverSent, textLines } from './lines';

const response = (...parts: string[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      },
    }),
  );

const all = async <T>(from: AsyncGenerator<T>) => {
  const found: T[] = [];
  for await (const one of from) found.push(one);
  return found;
};

test('lines are whole wherever the pieces are cut, also within a letter', async () => {
  const [head, tail] = [new TextEncoder().encode('é').slice(0, 1), new TextEncoder().encode('é').slice(1)];
  const cut = new Response(
    new ReadableStream({
      start(controller) {
        for (const part of [
          new TextEncoder().encode('a\r\nb'),
          head,
          tail,
          new TextEncoder().encode('\nc'),
        ]) {
          controller.enqueue(part);
        }
        controller.close();
      },
    }),
  );
  expect(await all(textLines(cut))).toEqual(['a', 'bé', 'c']);
});

test('a piece that is an error is thrown with all that it says', async () => {
  const answer = response(
    '{"progress":1}\n{"error":{"code":"cap","message":"too large","hint":"raise it"}}\n',
  );
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const piece of pieces(answer)) seen.push(piece);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'cap', message: 'too large', hint: 'raise it' });
  await expect(reading).rejects.toBeInstanceOf(ApiError);
  expect(seen).toEqual([{ progress: 1 }]);
});

test('server-sent events have a name and all their lines', async () => {
  const answer = response(': alive\n\nid: 1\nevent: run\nda', 'ta: {"a":1}\n\ndata: x\ndata: y\n\n');
  expect(await all(serverSent(answer))).toEqual([
    { name: 'run', data: '{"a":1}' },
    { name: 'message', data: 'x\ny' },
  ]);
});

test('leaving the loop early tells the host to stop', async () => {
  let cancelled = false;
  const endless = new Response(
    new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('a\n')),
      cancel: () => void (cancelled = true),
    }),
  );
  for await (const line of textLines(endless)) if (line === 'a') break;
  expect(cancelled).toBe(true);
});
