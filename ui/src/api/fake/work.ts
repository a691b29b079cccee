import type { Citation, GenerateRequest, Generation, Segment } from '../generated/schema';
import type { FakeHost } from './host';
import { lines, Refusal, type Routes } from './routes';

const MiB = 1024 * 1024;

/** A moment between the pieces of an answer, so that it is seen to stream. */
export interface Pace {
  every_ms: number;
}

/** What models are asked: to write, to embed, to transcribe. */
export const workRoutes = (host: FakeHost, pace: Pace): Routes => ({
  'POST /ebb/v1/models/{alias}/generate': ({ path, body }) => {
    const alias = host.loaded(path.alias ?? '').entry.alias;
    const generation: Generation = (body as GenerateRequest).generation ?? {};
    const question = generation.messages?.at(-1)?.content ?? generation.prompt ?? '';
    const words = wordsOf(question, generation.response_format, generation.max_tokens ?? 400);
    return lines(written(host, alias, question, words), pace.every_ms);
  },
  'POST /ebb/v1/models/{alias}/embed': ({ path, body }) => {
    const alias = host.loaded(path.alias ?? '').entry.alias;
    const { texts = [] } = body as { texts?: string[] };
    host.run(alias, texts.length * MiB);
    const long = (text: string) => text.split(/\s+/).length > 250;
    const truncated = texts.flatMap((text, index) =>
      long(text) ? [{ index, tokens: text.split(/\s+/).length, used: 256, exact: true }] : [],
    );
    const tokens = texts.reduce((sum, text) => sum + text.split(/\s+/).length + 2, 0);
    const figures = { batches: 1, cap_retries: 0, dimensions: 64, padding_tokens: 0, texts: texts.length };
    return { vectors: texts.map(vector), figures: { ...figures, tokens, truncated } };
  },
  'POST /ebb/v1/models/{alias}/transcribe': async ({ path, request }) => {
    const alias = host.loaded(path.alias ?? '').entry.alias;
    const { byteLength } = await request.arrayBuffer();
    if (byteLength === 0) {
      throw new Refusal(400, 'invalid_request', 'the body is no audio file', 'send WAV, FLAC, MP3 or OGG');
    }
    return lines(heard(host, alias), pace.every_ms);
  },
});

function wordsOf(question: string, format: unknown, most: number): string[] {
  const wants_json = format === 'json_object' || (typeof format === 'object' && format !== null);
  const answer = wants_json
    ? '{"answer": 42, "sure": true}'
    : `You asked: *${question.slice(0, 80)}*. A model keeps what it has once reserved:\n\n` +
      '1. A long request makes the **arena** grow.\n2. It stays grown until somebody shrinks it.\n\n' +
      '```sh\nebb model shrink smollm2\n```\n\n| before | after |\n| --- | --- |\n| 351 MiB | 289 MiB |\n';
  return (answer.match(/\S+\s*|\s+/g) ?? []).slice(0, most);
}

function* written(host: FakeHost, alias: string, question: string, words: string[]) {
  const prompt_tokens = question.split(/\s+/).length + 12;
  yield { progress: { done: prompt_tokens, total: prompt_tokens } };
  for (const text of words) yield { piece: { text, logprobs: [] } };
  host.run(alias, 48 * MiB, words.length * 25_000);
  const figures = {
    cached_tokens: 0,
    cap_retries: 0,
    completion_tokens: words.length,
    finish_reason: 'stop',
    first_token_us: 84_000,
    kv_bytes: 9 * MiB,
    peak_arena_bytes: 260 * MiB,
    prompt_tokens,
    seed: 7,
    stop: null,
    tokens_per_second: 40.2,
    took_us: words.length * 25_000 + 84_000,
  };
  yield { figures };
}

/** A vector that is near to that of a text with the same words. */
function vector(text: string): number[] {
  const sums = new Array<number>(64).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 7;
    for (const letter of word.slice(0, 5)) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 64;
    sums[hash] = (sums[hash] ?? 0) + 1;
  }
  const length = Math.hypot(...sums) || 1;
  return sums.map((sum) => sum / length);
}

const SPOKEN = [
  'Good morning.',
  'Memory that is not given back is memory that nobody else has.',
  'That is all.',
];

function* heard(host: FakeHost, alias: string) {
  const segment = (index: number, text: string): Segment => ({
    index,
    start_ms: index * 4200 + 120,
    end_ms: index * 4200 + 3900,
    text,
    partial: false,
  });
  const total = SPOKEN.length * 4200;
  for (const [index, text] of SPOKEN.entries()) {
    yield { progress: { done: index * 4200, total } };
    yield { segment: segment(index, text) };
  }
  host.run(alias, 30 * MiB, 900_000);
  yield {
    figures: {
      audio_ms: total,
      cap_retries: 0,
      first_segment_us: 210_000,
      language: 'en',
      peak_arena_bytes: 96 * MiB,
      segments: SPOKEN.length,
      speech_ms: 11_340,
      tokens: 31,
      took_us: 900_000,
    },
  };
}

/** What a pipeline of the recorded host answers from. */
export const PASSAGES: Citation[] = [
  {
    number: 1,
    document: 'handbook/memory.md',
    text: 'An arena takes memory from the system in regions and hands it out in pieces. What it has once taken it keeps, until it is shrunk.',
    start: 1204,
    end: 1337,
    score: 0.71,
  },
  {
    number: 2,
    document: 'handbook/policies/idle.md',
    text: 'The idle policy gives the slack back after thirty seconds without a request, and unloads the model after half an hour.',
    start: 96,
    end: 215,
    score: 0.58,
  },
];
