import { ApiError, api, isCancelled, opened, pieces } from '../api';
import type { AskPiece, Citation } from '../api';
import { keep, kept } from '../shared/kept';

/** A question and what came of it. */
export interface Question {
  id: number;
  question: string;
  answer: string;
  citations: Citation[];
  took_ms: number | null;
  state: 'answering' | 'done' | 'stopped' | 'failed';
  error: string | null;
}

/** Questions that are kept; older ones go. */
export const KEPT = 50;
/** Earlier ones that the pipeline is told of. */
const TOLD = 4;

const isCitation = (value: Partial<Citation> | null) =>
  typeof value?.number === 'number' && typeof value.document === 'string' && typeof value.text === 'string';
const areQuestions = (value: unknown): value is Question[] =>
  Array.isArray(value) &&
  value.every(
    (one: Partial<Question> | null) =>
      typeof one?.id === 'number' &&
      typeof one.question === 'string' &&
      typeof one.answer === 'string' &&
      Array.isArray(one.citations) &&
      one.citations.every(isCitation),
  ) &&
  new Set(value.map(({ id }: Question) => id)).size === value.length;

/** What a pipeline was asked, kept in this browser. */
export class Questions {
  /** Oldest first. */
  list = $state<Question[]>([]);
  /** What is being done before the answer begins. */
  progress = $state<string | null>(null);
  error = $state.raw<ApiError | null>(null);

  readonly #key: string;
  #asking: AbortController | null = $state.raw(null);

  constructor(readonly plugin: string) {
    this.#key = `ebb.questions.${plugin}`;
    this.list = kept(this.#key, areQuestions, []);
  }

  get busy(): boolean {
    return this.#asking !== null;
  }

  async ask(question: string): Promise<void> {
    const history = this.list
      .filter(({ state }) => state === 'done')
      .slice(-TOLD)
      .map(({ question, answer }) => ({ question, answer }));
    const id = (this.list.at(-1)?.id ?? 0) + 1;
    const fresh: Question = {
      id,
      question,
      answer: '',
      citations: [],
      took_ms: null,
      state: 'answering',
      error: null,
    };
    this.list = [...this.list, fresh].slice(-KEPT);
    const asked = this.list.at(-1) ?? fresh;
    const asking = (this.#asking = new AbortController());
    [this.progress, this.error] = ['', null];
    try {
      await this.#read(asked, { question, history, stream: true }, asking.signal);
    } catch (thrown) {
      asked.state = isCancelled(thrown) || asking.signal.aborted ? 'stopped' : 'failed';
      if (asked.state === 'failed') {
        this.error = ApiError.from(thrown);
        asked.error = this.error.message;
      }
    }
    [this.#asking, this.progress] = [null, null];
    this.#keep();
  }

  async #read(
    asked: Question,
    body: { question: string; history: { question: string; answer: string }[]; stream: true },
    signal: AbortSignal,
  ): Promise<void> {
    const params = { path: { id: this.plugin } };
    const response = await opened(
      api.POST('/ebb/v1/plugins/{id}/ask', { params, body, signal, parseAs: 'stream' }),
    );
    for await (const piece of pieces<AskPiece>(response)) {
      if ('progress' in piece) this.progress = piece.progress.message;
      if ('citations' in piece) asked.citations = piece.citations;
      if ('text' in piece) asked.answer += piece.text;
      if ('done' in piece) [asked.took_ms, asked.state] = [piece.done.took_ms, 'done'];
    }
    if (asked.state === 'answering')
      throw new ApiError({ code: 'internal', message: 'the answer broke off' });
  }

  stop(): void {
    this.#asking?.abort();
  }

  forget(id: number): void {
    this.list = this.list.filter((question) => question.id !== id);
    this.#keep();
  }

  clear(): void {
    this.list = [];
    this.error = null;
    this.#keep();
  }

  #keep(): void {
    keep(this.#key, this.list);
  }
}

/** An answer in parts: text, and the numbers of passages that it names and that there are. */
export function partsOf(answer: string, citations: Citation[]): (string | Citation)[] {
  const parts: (string | Citation)[] = [];
  let from = 0;
  for (const match of answer.matchAll(/\[(\d{1,3})\]/g)) {
    const citation = citations.find(({ number }) => number === Number(match[1]));
    if (citation === undefined) continue;
    if (match.index > from) parts.push(answer.slice(from, match.index));
    parts.push(citation);
    from = match.index + match[0].length;
  }
  if (from < answer.length) parts.push(answer.slice(from));
  return parts;
}
