import { ApiError, api, given, isCancelled, opened, pieces } from '../api';
import type { GeneratePiece, GenerateRequest } from '../api';
import type { Generation, Message } from '../api/generated/schema';
import { Conversations } from './conversations.svelte';
import type { Conversation, Turn } from './conversations.svelte';
import { generation } from './options';
import type { Options } from './options';

/** Pieces of a text come faster than a page is to be drawn. */
const DRAWN_EVERY_MS = 60;

/** Who is talked to, and how. */
export interface Asked {
  model: string;
  /** Whether it takes conversations; without, the last message is continued as it is. */
  template: boolean;
  options: Options;
}

/** Conversations with models, and the answer that is being written. It goes on while the page shows something else. */
export class Chat {
  readonly conversations = new Conversations();
  /** The one that is shown; 0 is one that has not begun. */
  shown = $state(0);
  /** How much of the prompt was read, before the first piece. */
  reading = $state.raw<{ done: number; total: number } | null>(null);
  error = $state.raw<ApiError | null>(null);

  #writing: AbortController | null = $state.raw(null);

  get conversation(): Conversation | undefined {
    return this.conversations.of(this.shown);
  }

  get busy(): boolean {
    return this.#writing !== null;
  }

  show(id: number): void {
    [this.shown, this.error] = [id, null];
  }

  forget(id: number): void {
    if (id === this.shown) {
      this.stop();
      this.show(0);
    }
    this.conversations.forget(id);
  }

  clear(): void {
    this.stop();
    this.show(0);
    this.conversations.clear();
  }

  /** Says something in the conversation that is shown, or begins one, and has it answered. */
  async say(said: string, asked: Asked): Promise<void> {
    if (this.busy) return;
    const conversation = this.conversation ?? this.conversations.begin(asked.model);
    this.shown = conversation.id;
    conversation.turns.push(turn('user', said));
    await this.#answer(conversation, asked);
  }

  /** Has what was said last answered anew. */
  async again(asked: Asked): Promise<void> {
    const { conversation } = this;
    if (this.busy || conversation === undefined) return;
    if (conversation.turns.at(-1)?.role === 'assistant') conversation.turns.pop();
    await this.#answer(conversation, asked);
  }

  stop(): void {
    this.#writing?.abort();
  }

  async #answer(conversation: Conversation, asked: Asked): Promise<void> {
    const body = given<GenerateRequest>({ stream: true, generation: wanted(conversation.turns, asked) });
    conversation.model = asked.model;
    conversation.turns.push({ ...turn('assistant', ''), state: 'writing' });
    const answer = conversation.turns.at(-1) as Turn;
    const writing = (this.#writing = new AbortController());
    [this.reading, this.error] = [null, null];
    // Whoever closes the page meanwhile finds the question again.
    this.conversations.keep();
    try {
      const params = { path: { alias: asked.model } };
      const response = await opened(
        api.POST('/ebb/v1/models/{alias}/generate', {
          params,
          body,
          signal: writing.signal,
          parseAs: 'stream',
        }),
      );
      await this.#read(response, answer);
    } catch (thrown) {
      const stopped = writing.signal.aborted || isCancelled(thrown);
      answer.state = stopped ? 'stopped' : 'failed';
      if (!stopped) this.error = ApiError.from(thrown);
    }
    [this.#writing, this.reading] = [null, null];
    this.conversations.keep();
  }

  async #read(response: Response, answer: Turn): Promise<void> {
    let [waiting, drawn] = ['', 0];
    const draw = () => {
      answer.text += waiting;
      [waiting, drawn] = ['', performance.now()];
    };
    try {
      for await (const piece of pieces<GeneratePiece>(response)) {
        if ('progress' in piece) this.reading = piece.progress;
        if ('piece' in piece) {
          this.reading = null;
          waiting += piece.piece.text;
          if (performance.now() - drawn >= DRAWN_EVERY_MS) draw();
        }
        if ('figures' in piece) answer.figures = { ...piece.figures };
      }
    } finally {
      draw();
    }
    if (answer.figures === null) throw new ApiError({ code: 'internal', message: 'the answer broke off' });
    answer.state = 'done';
  }
}

const turn = (role: Turn['role'], text: string): Turn => ({ role, text, state: 'done', figures: null });

/** What the host is asked for: the conversation through the template, or the last message as it is. */
function wanted(turns: Turn[], { template, options }: Asked): Generation {
  const asked = generation(options);
  if (!template) return given({ ...asked, prompt: turns.at(-1)?.text ?? '' });
  const messages: Message[] = turns
    .filter(({ text }) => text !== '')
    .map(({ role, text }) => given<Message>({ role, content: text }));
  if (options.system.trim() !== '') {
    messages.unshift(given<Message>({ role: 'system', content: options.system }));
  }
  return given({ ...asked, messages });
}

/** One for the page. */
let one: Chat | null = null;
export const theChat = (): Chat => (one ??= new Chat());
/** A test begins anew. */
export const forgetTheChat = (): void => void (one = null);
