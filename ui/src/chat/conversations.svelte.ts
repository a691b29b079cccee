import { keep, kept } from '../shared/kept';

/** What was said once. */
export interface Turn {
  role: 'user' | 'assistant';
  text: string;
  state: 'done' | 'writing' | 'stopped' | 'failed';
  figures: Figures | null;
}

/** What an answer took. */
export interface Figures {
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  tokens_per_second: number;
  first_token_us: number;
  took_us: number;
  kv_bytes: number;
  cap_retries: number;
  seed: number;
  finish_reason: string;
}

export interface Conversation {
  id: number;
  /** The model that answered last. */
  model: string;
  turns: Turn[];
}

/** Conversations that are kept; older ones go. */
export const KEPT = 50;
/** Letters of all of them together: browsers give a page about 5 MiB. */
export const KEPT_LETTERS = 1_500_000;

const KEY = 'ebb.conversations';
const TITLE_LETTERS = 60;

const STATES: readonly unknown[] = ['done', 'stopped', 'failed'] satisfies Turn['state'][];
const COUNTS = [
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'tokens_per_second',
  'first_token_us',
  'took_us',
  'kv_bytes',
  'cap_retries',
  'seed',
] as const;

const isTurn = (value: Partial<Turn> | null) =>
  (value?.role === 'user' || value?.role === 'assistant') && typeof value.text === 'string';
const areConversations = (value: unknown): value is Conversation[] =>
  Array.isArray(value) &&
  value.every(
    (one: Partial<Conversation> | null) =>
      typeof one?.id === 'number' && Array.isArray(one.turns) && one.turns.every(isTurn),
  ) &&
  new Set(value.map(({ id }: Conversation) => id)).size === value.length;

const areFigures = (value: Partial<Figures> | null | undefined): value is Figures =>
  value != null && COUNTS.every((name) => typeof value[name] === 'number');

/** A turn as it was kept: the page may have been closed while it was written, or be another version than the one that kept it. */
const again = ({ role, text, state, figures }: Turn): Turn => ({
  role,
  text,
  state: STATES.includes(state) ? state : 'stopped',
  figures: areFigures(figures) ? figures : null,
});

/** What a conversation is called: how it began. */
export function titleOf({ turns }: Conversation): string {
  const first = turns[0]?.text.trim().split('\n')[0] ?? '';
  return first.length > TITLE_LETTERS ? `${first.slice(0, TITLE_LETTERS)}…` : first;
}

/** What was kept. */
const before = (): Conversation[] =>
  kept(KEY, areConversations, []).map(({ turns, ...conversation }) => ({
    ...conversation,
    turns: turns.map(again),
  }));

/** Conversations, kept in this browser. */
export class Conversations {
  /** Newest first. */
  list = $state<Conversation[]>([]);
  /** Whether there was room to keep them. */
  isKept = $state(true);

  constructor() {
    this.list = before();
    addEventListener('storage', ({ key }) => {
      if (key === KEY) this.#takeIn();
    });
  }

  /** Another page of this browser kept what it has: that holds here, too, but for what is being written here. */
  #takeIn(): void {
    const writing = this.list.filter(({ turns }) => turns.some(({ state }) => state === 'writing'));
    const others = before().filter(({ id }) => writing.every((one) => one.id !== id));
    this.list = [...writing, ...others].sort((one, other) => other.id - one.id);
  }

  of(id: number): Conversation | undefined {
    return this.list.find((conversation) => conversation.id === id);
  }

  begin(model: string): Conversation {
    const id = Math.max(0, ...this.list.map((conversation) => conversation.id)) + 1;
    this.list = [{ id, model, turns: [] }, ...this.list].slice(0, KEPT);
    return this.list[0] as Conversation;
  }

  /** Keeps what is there now, the newest as far as there is room. */
  keep(): void {
    const all = $state.snapshot(this.list);
    let letters = 0;
    const fitting = all.filter((conversation, index) => {
      letters += JSON.stringify(conversation).length;
      return index === 0 || letters <= KEPT_LETTERS;
    });
    this.isKept = keep(KEY, fitting);
    while (!this.isKept && fitting.length > 1) {
      fitting.pop();
      this.isKept = keep(KEY, fitting);
    }
  }

  forget(id: number): void {
    this.list = this.list.filter((conversation) => conversation.id !== id);
    this.keep();
  }

  clear(): void {
    this.list = [];
    this.keep();
  }
}
