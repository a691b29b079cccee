import 'uplot/dist/uPlot.min.css';

/**
 * The chart library. It makes a number format of the browser's language as it is imported, and that throws where the language is no
 * language: WebKitGTK says "C" under the locale C.UTF-8, which containers and fresh machines have. So that is put right first.
 */
export async function library() {
  ensureLanguage(navigator);
  return (await import('uplot')).default;
}

/** Makes the browser's language one that `Intl` knows. */
export function ensureLanguage(browser: { readonly language: string }): void {
  try {
    new Intl.NumberFormat(browser.language);
  } catch {
    Object.defineProperty(browser, 'language', { value: 'en', configurable: true });
  }
}
