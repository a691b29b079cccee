/** What is kept of a model: an hour at ten samples a second. */
export const KEPT = 36_000;

/** Before a ring is full it grows in steps, so that a model that is looked at for a moment costs little. */
const FIRST = 1024;

/**
 * Rows of figures under the time that they were true at, oldest first. When it is full the oldest row goes: a day of samples
 * takes no more memory than an hour, and adding one takes as long as ever. A figure that is not there is `NaN`.
 */
export class Ring {
  #columns: Float64Array[];
  #start = 0;
  #room: number;
  /** Rows that are held. */
  length = 0;

  /** `width` counts the columns, of which the first is the time. */
  constructor(
    readonly width: number,
    readonly capacity = KEPT,
  ) {
    this.#room = Math.min(FIRST, capacity);
    this.#columns = Array.from({ length: width }, () => new Float64Array(this.#room));
  }

  /** Adds a row. Time does not go back: a row that claims so happened just now. */
  push(...row: number[]): void {
    if (this.length === this.#room && this.#room < this.capacity) this.#grow();
    const last = this.length === 0 ? -Infinity : this.at(0, this.length - 1);
    const slot = (this.#start + this.length) % this.#room;
    for (let column = 0; column < this.width; column++) this.#columns[column]![slot] = row[column] ?? NaN;
    this.#columns[0]![slot] = Math.max(row[0] ?? NaN, last);
    if (this.length < this.#room) this.length += 1;
    else this.#start = (this.#start + 1) % this.#room;
  }

  /** A figure of a row; rows count from the oldest. */
  at(column: number, row: number): number {
    return this.#columns[column]![(this.#start + row) % this.#room]!;
  }

  /** Time of the oldest row; `NaN` where there is none. */
  get first_ms(): number {
    return this.length === 0 ? NaN : this.at(0, 0);
  }

  /** Time of the newest row; `NaN` where there is none. */
  get last_ms(): number {
    return this.length === 0 ? NaN : this.at(0, this.length - 1);
  }

  /** The first row at this time or later; `length` where all are earlier. */
  from(time_ms: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(0, middle) < time_ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Bytes of its buffers. */
  get bytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.byteLength, 0);
  }

  #grow(): void {
    const room = Math.min(this.#room * 2, this.capacity);
    // It was never full, so that its oldest row is still in the first slot.
    this.#columns = this.#columns.map((column) => {
      const larger = new Float64Array(room);
      larger.set(column);
      return larger;
    });
    this.#room = room;
  }
}
