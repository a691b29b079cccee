/** What was kept in this browser under a name; `otherwise` where there is nothing, or something else. */
export function kept<T>(name: string, fits: (value: unknown) => value is T, otherwise: T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? 'null');
    return fits(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

/** Keeps a value in this browser; says whether there was room. */
export function keep(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
