/** A stretch of time. */
export interface Range {
  from_ms: number;
  to_ms: number;
}

/** Lengths that one can choose. */
export const SPANS = { minute: 60_000, ten: 600_000, hour: 3_600_000 } as const;
export type Span = keyof typeof SPANS;

/** Nothing shorter can be zoomed into: that is ten samples. */
const SHORTEST_MS = 1000;

/** Which stretch of time is looked at: the last so and so long, moving on, or one that was zoomed into, which stands still. */
export interface Stretch {
  span: Span;
  /** Where it was paused. */
  paused_ms: number | null;
  zoomed: Range | null;
}

export function rangeOf({ span, paused_ms, zoomed }: Stretch, now_ms: number): Range {
  if (zoomed !== null) return zoomed;
  const to_ms = paused_ms ?? now_ms;
  return { from_ms: to_ms - SPANS[span], to_ms };
}

/** Zooms into a part of what is seen; what is too short grows around its middle. */
export function zoomedTo(from_ms: number, to_ms: number): Range {
  const [from, to] = from_ms <= to_ms ? [from_ms, to_ms] : [to_ms, from_ms];
  const missing = Math.max(SHORTEST_MS - (to - from), 0) / 2;
  return { from_ms: from - missing, to_ms: to + missing };
}

/** Twice as near, or half as near, around a moment. */
export function scaled({ from_ms, to_ms }: Range, factor: number, around_ms: number): Range {
  const longest_ms = SPANS.hour;
  const length = Math.min(Math.max((to_ms - from_ms) * factor, SHORTEST_MS), longest_ms);
  const share = Math.min(Math.max((around_ms - from_ms) / (to_ms - from_ms), 0), 1);
  return { from_ms: around_ms - length * share, to_ms: around_ms + length * (1 - share) };
}

/** Moved by a share of its length, never beyond now. */
export function moved({ from_ms, to_ms }: Range, share: number, now_ms: number): Range {
  const length = to_ms - from_ms;
  const to = Math.min(to_ms + length * share, now_ms);
  return { from_ms: to - length, to_ms: to };
}

/**
 * How often a picture of so many pixels is drawn: as often as it moves by two, which the eye takes for steady; at most ten times a
 * second, once a second at least.
 */
export function everyMs({ from_ms, to_ms }: Range, pixels: number): number {
  return Math.min(Math.max((2 * (to_ms - from_ms)) / Math.max(pixels, 1), 100), 1000);
}
