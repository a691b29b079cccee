/** The views, in the order of the side bar. */
export const VIEWS = ['models', 'memory', 'chat', 'plugins', 'activity', 'settings'] as const;
export type View = (typeof VIEWS)[number];

/** Where the page is: `#/memory/minilm` is the view `memory` of `minilm`. */
class Route {
  view = $state<View>('models');
  /** What comes after the view, e.g. a model's alias. */
  rest = $state('');

  constructor() {
    this.#read();
    addEventListener('hashchange', () => this.#read());
  }

  #read(): void {
    const [view, ...rest] = location.hash.replace(/^#\/?/, '').split('/').map(decoded);
    this.view = VIEWS.find((known) => known === view) ?? 'models';
    this.rest = rest.join('/');
  }

  go(view: View, rest = ''): void {
    location.hash = `/${view}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}`;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Route();
