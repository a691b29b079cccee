import { ApiError } from '../api';

/** Something said in a corner of the page, in passing. */
export interface Notice {
  id: number;
  kind: 'done' | 'error';
  text: string;
  error: ApiError | null;
}

/** How long a report stays; an error stays until it is closed. */
const SHOWN_MS = 8000;

class Notices {
  list = $state.raw<Notice[]>([]);
  #next = 1;

  /** Says what was done. */
  say(text: string): void {
    const id = this.#add({ kind: 'done', text, error: null });
    setTimeout(() => this.close(id), SHOWN_MS);
  }

  /** Says what failed, unless the user ended it. */
  fail(thrown: unknown): void {
    const error = ApiError.from(thrown);
    if (error.code !== 'cancelled') this.#add({ kind: 'error', text: error.message, error });
  }

  close(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }

  #add(notice: Omit<Notice, 'id'>): number {
    const id = this.#next++;
    // What fails again in the same way is said once.
    const others = this.list.filter(({ error }) => error === null || error.detail !== notice.error?.detail);
    this.list = [...others, { id, ...notice }].slice(-4);
    return id;
  }
}

export const notices = new Notices();
