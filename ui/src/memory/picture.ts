import type uPlot from 'uplot';

import { IN_USE, LIMIT, RESERVED, RESIDENT, decimate } from '../live/samples';
import type { Track } from '../live/samples';
import { BYTE_STEPS, TIME_STEPS, byteLabel, timeLabel, topOf } from './axis';
import { library } from './library';
import { SIGNS_HIGH, drawMarks } from './marking';
import { type Palette, palette } from './palette';
import type { Range } from './stretch';

/** Columns as they are drawn, the later over the earlier. */
export const DRAWN = [RESERVED, IN_USE, RESIDENT, LIMIT] as const;

/** A limit so much above the rest would press the rest flat: it is said instead. */
const FAR = 3;

export interface Heard {
  /** The pointer is so many pixels from the plot's left edge; `null`: it left. */
  onpointer(left: number | null): void;
  onzoom(from_ms: number, to_ms: number): void;
  onreset(): void;
}

/** The chart itself: a canvas that is told what to draw. It knows nothing of who asks for it, nor when. */
export class Picture {
  #colours: Palette;
  #plot: uPlot;
  /** Highest figure of the limit that was left out, if it was. */
  limit_above: number | null = null;

  static async of(place: HTMLElement, track: Track, height: number, heard: Heard): Promise<Picture> {
    return new Picture(await library(), place, track, height, heard);
  }

  private constructor(
    Plot: typeof uPlot,
    readonly place: HTMLElement,
    readonly track: Track,
    height: number,
    heard: Heard,
  ) {
    this.#colours = palette(place);
    const size = { width: Math.max(place.clientWidth, 100), height };
    this.#plot = new Plot(this.#options(Plot, size, heard), [[], [], [], [], []], place);
    const { over } = this.#plot;
    over.addEventListener('dblclick', () => heard.onreset());
    over.addEventListener('pointermove', (event) =>
      heard.onpointer(event.clientX - over.getBoundingClientRect().left),
    );
    over.addEventListener('pointerleave', () => heard.onpointer(null));
  }

  /** Pixels of the plot, without its axes. */
  get pixels(): number {
    return Math.max(Math.round(this.#plot.bbox.width / devicePixelRatio), 100);
  }

  get canvas(): HTMLCanvasElement {
    return this.#plot.ctx.canvas;
  }

  draw({ from_ms, to_ms }: Range): void {
    const drawn = decimate(this.track.rows, DRAWN, from_ms, to_ms, this.pixels);
    const highest = (column: number) =>
      (drawn[column + 1] as (number | null)[]).reduce<number>((top, each) => Math.max(top, each ?? 0), 0);
    const rest = Math.max(highest(0), highest(1), highest(2));
    const limit = highest(3);
    this.limit_above = limit > rest * FAR ? limit : null;
    const top = topOf(this.limit_above === null ? Math.max(rest, limit) : rest);
    this.#plot.batch(() => {
      this.#plot.setData(drawn as uPlot.AlignedData, false);
      this.#plot.setScale('x', { min: from_ms, max: to_ms });
      this.#plot.setScale('y', { min: 0, max: top });
    });
  }

  resize(width: number, height: number): void {
    if (width > 0 && (width !== this.#plot.width || height !== this.#plot.height)) {
      this.#plot.setSize({ width, height });
    }
  }

  /** Colours are others now: light, dark, high contrast. */
  recolour(): void {
    this.#colours = palette(this.place);
    this.#plot.redraw(false);
  }

  /** Where a moment is, in pixels from the left edge of the whole. */
  leftOf(time_ms: number): number {
    return this.#plot.valToPos(time_ms, 'x') + this.#plot.bbox.left / devicePixelRatio;
  }

  /** The moment at so many pixels from the plot's left edge. */
  momentAt(left: number): number {
    return this.#plot.posToVal(left, 'x');
  }

  /** How long a pixel is. */
  get pixel_ms(): number {
    return this.#plot.posToVal(1, 'x') - this.#plot.posToVal(0, 'x');
  }

  /** Shows a moment as if the pointer were there. */
  point(time_ms: number | null): void {
    const left = time_ms === null ? -10 : this.#plot.valToPos(time_ms, 'x');
    this.#plot.setCursor({ left, top: time_ms === null ? -10 : 1 }, false);
  }

  destroy(): void {
    this.#plot.destroy();
  }

  #options(Plot: typeof uPlot, size: { width: number; height: number }, heard: Heard): uPlot.Options {
    const paths = Plot.paths.stepped?.({ align: 1 });
    const series = (
      colour: 'in-use' | 'reserved' | 'resident' | 'limit',
      more: Partial<uPlot.Series>,
    ): uPlot.Series => ({
      stroke: () => this.#colours[colour],
      paths,
      points: { show: false },
      ...more,
    });
    return {
      ...size,
      // Above are the signs of what happened.
      padding: [SIGNS_HIGH, 30, 0, 0],
      legend: { show: false },
      // Lines of the axes over the areas, which cover.
      drawOrder: ['series', 'axes'] as uPlot.DrawOrderKey[],
      scales: { x: { time: false }, y: { auto: false } },
      axes: this.#axes(),
      series: [
        {},
        series('reserved', { width: 1.5, fill: () => this.#colours['reserved-soft'] }),
        series('in-use', { width: 1.5, fill: () => this.#colours['in-use-soft'] }),
        series('resident', { width: 1.5 }),
        series('limit', { width: 1.5, dash: [6, 4] }),
      ],
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      hooks: {
        draw: [(plot) => drawMarks(plot, this.track, this.#colours)],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width > 3) heard.onzoom(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    };
  }

  #axes(): uPlot.Axis[] {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
    const font = `${Math.round(rem * 0.86)}px ${this.#colours.font}`;
    const axis = (more: uPlot.Axis): uPlot.Axis => ({
      stroke: () => this.#colours.muted,
      grid: { stroke: () => this.#colours.line, width: 1 },
      ticks: { show: false },
      font,
      ...more,
    });
    return [
      axis({
        incrs: TIME_STEPS,
        space: rem * 6,
        size: rem * 1.9,
        gap: rem * 0.4,
        values: (_, splits, _index, _space, step) => splits.map((time_ms) => timeLabel(time_ms, step)),
      }),
      axis({
        incrs: BYTE_STEPS,
        space: rem * 2.6,
        size: rem * 5.2,
        gap: rem * 0.5,
        values: (_, splits, _index, _space, step) => splits.map((value) => byteLabel(value, step)),
      }),
    ];
  }
}
