import type { ErrorFields } from './generated/schema';

/** What went wrong, in the host's one form: what happened, what to do, and what to copy into a report. */
export class ApiError extends Error {
  /** The host's code, which programs branch on; `unreachable` where no host answered. */
  readonly code: string;
  /** What to do next. */
  readonly hint: string | null;
  /** The field or option at fault. */
  readonly param: string | null;
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;

  constructor(
    fields: { code: string; message: string; hint?: string | null; param?: string | null },
    status = 0,
  ) {
    super(fields.message);
    this.name = 'ApiError';
    this.code = fields.code;
    this.hint = fields.hint ?? null;
    this.param = fields.param ?? null;
    this.status = status;
  }

  /** All that is known, for a bug report. */
  get detail(): string {
    const { code, message, hint, param, status } = this;
    return JSON.stringify({ code, message, hint, param, status }, null, 2);
  }

  /** Anything that was thrown. */
  static from(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown;
    if (thrown instanceof DOMException && thrown.name === 'AbortError') {
      return new ApiError({ code: 'cancelled', message: 'cancelled' });
    }
    // What a command of the desktop app rejects with.
    const fields = (thrown as { error?: ErrorFields } | null | undefined)?.error;
    if (typeof fields?.message === 'string') return new ApiError(fields);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    // A part of the page is fetched from the host, too.
    const unfetched = message.startsWith('Unable to preload');
    if (unfetched || (thrown instanceof TypeError && /fetch|network|load failed/i.test(message))) {
      return unreachable();
    }
    return new ApiError({ code: 'internal', message });
  }
}

/** No answer came from the host. */
export const unreachable = (): ApiError =>
  new ApiError({
    code: 'unreachable',
    message: 'the host does not answer',
    hint: 'look whether it runs: `ebb server status`',
  });

/** Whether the user ended it. */
export const isCancelled = (thrown: unknown): boolean =>
  (thrown instanceof ApiError && thrown.code === 'cancelled') ||
  (thrown instanceof DOMException && thrown.name === 'AbortError');
