/** The cosine of the angle between two vectors: 1 the same way, 0 nothing in common. 0 where one of them is nothing. */
export function cosine(a: number[], b: number[]): number {
  let [product, of_a, of_b] = [0, 0, 0];
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0;
    product += x * y;
    of_a += x * x;
    of_b += y * y;
  }
  return of_a === 0 || of_b === 0 ? 0 : product / Math.sqrt(of_a * of_b);
}

/** The similarity of each to each; both halves are the same to the last digit. */
export function matrix(vectors: number[][]): number[][] {
  const rows = vectors.map(() => new Array<number>(vectors.length).fill(1));
  for (const [i, a] of vectors.entries()) {
    for (const [j, b] of vectors.entries()) {
      if (j >= i) continue;
      const value = cosine(a, b);
      (rows[i] as number[])[j] = value;
      (rows[j] as number[])[i] = value;
    }
  }
  return rows;
}

export interface Pair {
  a: number;
  b: number;
  similarity: number;
}

/** The pairs that are most alike. */
export function nearest(rows: number[][], most: number): Pair[] {
  const pairs = rows.flatMap((row, a) =>
    row.flatMap((similarity, b) => (b > a ? [{ a, b, similarity }] : [])),
  );
  return pairs.sort((one, other) => other.similarity - one.similarity).slice(0, most);
}

/** How strongly a cell is coloured, 0 to 1, between the least and the most of what is shown. */
export function heat(value: number, rows: number[][]): number {
  const others = rows.flatMap((row, i) => row.filter((_, j) => i !== j));
  const [least, most] = [Math.min(...others), Math.max(...others)];
  if (!(most > least)) return 0;
  return Math.min(1, Math.max(0, (value - least) / (most - least)));
}

/** `0.83`, `−0.07`; never `−0.00`. */
export const shown = (value: number): string => {
  const rounded = Math.round(value * 100) / 100;
  return rounded === 0 ? '0.00' : `${rounded < 0 ? '−' : ''}${Math.abs(rounded).toFixed(2)}`;
};
