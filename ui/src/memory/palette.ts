import type { Mark } from '../live/samples';

/** The theme's colours and its font, as a canvas wants them. */
export interface Palette {
  inUse: string;
  inUseSoft: string;
  reserved: string;
  reservedSoft: string;
  resident: string;
  limit: string;
  text: string;
  muted: string;
  line: string;
  surface: string;
  good: string;
  warn: string;
  bad: string;
  accent: string;
  font: string;
}

/** Reads the theme that holds for an element. */
export function palette(of: Element): Palette {
  const style = getComputedStyle(of);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim() || '#777777';
  return {
    inUse: colour('in-use'),
    inUseSoft: soft(colour('in-use'), colour('surface'), 0.4),
    reserved: colour('reserved'),
    reservedSoft: soft(colour('reserved'), colour('surface'), 0.22),
    resident: colour('resident'),
    limit: colour('limit'),
    text: colour('text'),
    muted: colour('muted'),
    line: colour('line'),
    surface: colour('surface'),
    good: colour('good'),
    warn: colour('warn'),
    bad: colour('bad'),
    accent: colour('accent'),
    font: style.fontFamily || 'sans-serif',
  };
}

/** So much of a colour on a ground, both as `#rrggbb`. It covers: an area that is seen through takes twice the work to draw. */
function soft(colour: string, ground: string, share: number): string {
  if (colour.length !== 7 || ground.length !== 7) return colour;
  const mixed = [1, 3, 5].map((at) => {
    const [over, under] = [colour, ground].map((each) => Number.parseInt(each.slice(at, at + 2), 16));
    return Math.round((over ?? 0) * share + (under ?? 0) * (1 - share));
  });
  return `#${mixed.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** The sign of a mark, which tells it apart without its colour, and the colour. */
export const SIGNS: Record<
  Mark['kind'],
  { sign: string; colour: Exclude<keyof Palette, 'font'>; line: boolean }
> = {
  shrink: { sign: '▼', colour: 'good', line: true },
  policy: { sign: '◆', colour: 'accent', line: false },
  near_cap: { sign: '▲', colour: 'warn', line: true },
  crashed: { sign: '✕', colour: 'bad', line: true },
  loaded: { sign: '●', colour: 'muted', line: true },
  unloaded: { sign: '○', colour: 'muted', line: true },
  other: { sign: '·', colour: 'muted', line: false },
};
