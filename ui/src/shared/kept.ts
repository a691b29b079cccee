/** The text that was kept in this browser under a name; `null` where there is none, or the browser keeps nothing. */
export function keptText(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text in this browser; says whether there was room. */
export function keepText(name: string, value: string): boolean {
  try {
    localStorage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

/** What was kept in this browser under a name; `otherwise` where there is nothing, or something else. */
export function kept<T>(name: string, fits: (value: unknown) => value is T, otherwise: T): T {
  try {
    const value: unknown = JSON.parse(keptText(name) ?? 'null');
    return fits(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

/** Keeps a value in this browser; says whether there was room. */
export const keep = (name: string, value: unknown): boolean => keepText(name, JSON.stringify(value));
