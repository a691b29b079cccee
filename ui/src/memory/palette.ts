import type { Mark } from '../live/samples';

/** The theme's colours, as a canvas wants them. */
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
}

/** Reads the theme that holds for an element. */
export function palette(of: Element): Palette {
  const style = getComputedStyle(of);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim() || '#777777';
  return {
    inUse: colour('in-use'),
    inUseSoft: soft(colour('in-use'), 0.3),
    reserved: colour('reserved'),
    reservedSoft: soft(colour('reserved'), 0.22),
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
  };
}

/** A colour in the form `#rrggbb` with so much of it. */
function soft(colour: string, share: number): string {
  const alpha = Math.round(share * 255)
    .toString(16)
    .padStart(2, '0');
  return colour.length === 7 ? colour + alpha : colour;
}

/** The sign of a mark, which tells it apart without its colour, and the colour. */
export const SIGNS: Record<Mark['kind'], { sign: string; colour: keyof Palette; line: boolean }> = {
  shrink: { sign: '▼', colour: 'good', line: true },
  policy: { sign: '◆', colour: 'accent', line: false },
  near_cap: { sign: '▲', colour: 'warn', line: true },
  crashed: { sign: '✕', colour: 'bad', line: true },
  loaded: { sign: '●', colour: 'muted', line: true },
  unloaded: { sign: '○', colour: 'muted', line: true },
  other: { sign: '·', colour: 'muted', line: false },
};
