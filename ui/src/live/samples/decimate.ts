import type { Ring } from './ring';

/** Columns for a chart: the times first, then the figures; `null` is a gap. */
export type Drawn = [number[], ...(number | null)[][]];

/**
 * The rows of a stretch of time as few enough points for so many pixels: of each pixel's rows the lowest and the highest figure, in
 * the order in which they came, so that no peak is lost however far one zooms out. Pixels begin at multiples of their own width,
 * not at the edge of the picture: while it moves on, what is drawn already stays as it is.
 *
 * A row whose figures are all missing is a gap that nothing is drawn across.
 */
export function decimate(
  ring: Ring,
  columns: readonly number[],
  from_ms: number,
  to_ms: number,
  pixels: number,
): Drawn {
  const points = new Points(ring, columns);
  // One row more at either side, so that lines reach the edges.
  const first = Math.max(ring.from(from_ms) - 1, 0);
  const end = Math.min(ring.from(to_ms) + 1, ring.length);
  if (end - first <= pixels * 2) {
    for (let row = first; row < end; row++) points.row(row);
    return points.drawn;
  }
  const width_ms = (to_ms - from_ms) / Math.max(pixels, 1);
  for (let row = first; row < end;) {
    if (points.gap(row)) {
      points.row(row++);
      continue;
    }
    const pixel = Math.floor(ring.at(0, row) / width_ms);
    let next = row + 1;
    while (next < end && !points.gap(next) && Math.floor(ring.at(0, next) / width_ms) === pixel) next++;
    if (next - row > 2) points.extremes(row, next);
    else for (let each = row; each < next; each++) points.row(each);
    row = next;
  }
  return points.drawn;
}

class Points {
  readonly drawn: Drawn;

  constructor(
    readonly ring: Ring,
    readonly columns: readonly number[],
  ) {
    this.drawn = [[], ...columns.map(() => [] as (number | null)[])];
  }

  gap(row: number): boolean {
    return this.columns.every((column) => Number.isNaN(this.ring.at(column, row)));
  }

  row(row: number): void {
    this.drawn[0].push(this.ring.at(0, row));
    this.columns.forEach((column, index) => this.#put(index, this.ring.at(column, row)));
  }

  /** Two points of all rows from `row` to before `end`. */
  extremes(row: number, end: number): void {
    this.drawn[0].push(this.ring.at(0, row), this.ring.at(0, end - 1));
    this.columns.forEach((column, index) => {
      let [low, high, low_at, high_at] = [NaN, NaN, 0, 0];
      for (let each = row; each < end; each++) {
        const figure = this.ring.at(column, each);
        if (!(figure >= low)) [low, low_at] = Number.isNaN(figure) ? [low, low_at] : [figure, each];
        if (!(figure <= high)) [high, high_at] = Number.isNaN(figure) ? [high, high_at] : [figure, each];
      }
      const [before, after] = low_at <= high_at ? [low, high] : [high, low];
      this.#put(index, before);
      this.#put(index, after);
    });
  }

  #put(index: number, figure: number): void {
    (this.drawn[index + 1] as (number | null)[]).push(Number.isNaN(figure) ? null : figure);
  }
}
