/** Rows that are made beyond those seen, so that scrolling shows none too late. */
const BEYOND = 8;

/** Which rows of a list are made: from `from` to before `to`. `first` is the first that is seen. */
export function slice(
  count: number,
  top: number,
  height: number,
  row: number,
): { from: number; to: number; first: number } {
  const tall = Math.max(row, 1);
  const first = Math.min(Math.max(Math.floor(top / tall), 0), Math.max(count - 1, 0));
  const seen = Math.ceil(Math.max(height, 0) / tall) + 1;
  return { from: Math.max(first - BEYOND, 0), to: Math.min(first + seen + BEYOND, count), first };
}
