import type { Mark } from '../live/samples';
import { colours } from '../shared/colours';

const NAMES = [
  'in-use',
  'in-use-soft',
  'reserved',
  'reserved-soft',
  'resident',
  'limit',
  'text',
  'muted',
  'line',
  'surface',
  'good',
  'warn',
  'bad',
  'accent',
] as const;

type Colour = (typeof NAMES)[number];

/** The theme's colours and its font, as a canvas wants them. */
export type Palette = Record<Colour, string> & { font: string };

/** Reads the theme that holds for an element. */
export const palette = (of: Element): Palette => ({
  ...colours(of, NAMES),
  font: getComputedStyle(of).fontFamily || 'sans-serif',
});

/** The sign of a mark, which tells it apart without its colour, and the colour. */
export const SIGNS: Record<Mark['kind'], { sign: string; colour: Colour; line: boolean }> = {
  shrink: { sign: '▼', colour: 'good', line: true },
  policy: { sign: '◆', colour: 'accent', line: false },
  near_cap: { sign: '▲', colour: 'warn', line: true },
  crashed: { sign: '✕', colour: 'bad', line: true },
  loaded: { sign: '●', colour: 'muted', line: true },
  unloaded: { sign: '○', colour: 'muted', line: true },
  change: { sign: '◇', colour: 'muted', line: false },
};
