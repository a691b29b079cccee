import type uPlot from 'uplot';

import type { Mark, Track } from '../live/samples';
import { bytes } from '../shared/format';
import { text } from '../text/en';
import { type Palette, SIGNS } from './palette';

const MiB = 1024 * 1024;

/** Room for the signs above the plot. */
export const SIGNS_HIGH = 22;

/** What stands beside a mark's sign; the rest is told where the pointer is. */
function labelOf({ event }: Mark): string {
  switch (event.event) {
    case 'shrink':
      return event.report.freed_bytes < MiB ? '' : `−${bytes(event.report.freed_bytes)}`;
    case 'crashed':
    case 'load_failed':
    case 'near_cap':
    case 'loaded':
    case 'unloaded':
    case 'attached':
    case 'detached':
    case 'runtime_option':
      return text.happened.kinds[event.event];
    default:
      return '';
  }
}

/** Draws what happened: a tick below for each request, a sign above for the rest, with as many words as there is room for. */
export function drawMarks(plot: uPlot, track: Track, colours: Palette): void {
  const { ctx, bbox } = plot;
  const [from_ms, to_ms] = [plot.scales.x?.min ?? 0, plot.scales.x?.max ?? 0];
  const xOf = (time_ms: number) => Math.round(plot.valToPos(time_ms, 'x', true));
  ctx.save();
  drawRuns(ctx, track, colours, from_ms, to_ms, xOf, bbox);
  const size = Math.round(11 * devicePixelRatio);
  ctx.font = `600 ${size}px ${colours.font}`;
  // Axes and the dashed limit left theirs.
  [ctx.textBaseline, ctx.textAlign] = ['top', 'left'];
  ctx.setLineDash([]);
  const place_ms = ((to_ms - from_ms) / bbox.width) * size;
  const signs = outstanding(track.marks, from_ms, to_ms, place_ms).map((mark) => ({
    mark,
    x: xOf(mark.time_ms),
  }));
  const top = bbox.top - (SIGNS_HIGH - 4) * devicePixelRatio;
  let words_end = -Infinity;
  for (const [index, { mark, x }] of signs.entries()) {
    const { sign, colour, line } = SIGNS[mark.kind];
    ctx.fillStyle = ctx.strokeStyle = colours[colour];
    if (line) drawLine(ctx, x, bbox);
    ctx.fillText(sign, x - ctx.measureText(sign).width / 2, top);
    const label = labelOf(mark);
    if (label === '') continue;
    const width = ctx.measureText(label).width + size / 2;
    const [after, before] = [x + size * 0.7, x - size * 0.7 - width];
    const before_free = Math.max(words_end, (signs[index - 1]?.x ?? -Infinity) + size);
    const after_free = Math.min(bbox.left + bbox.width, (signs[index + 1]?.x ?? Infinity) - size);
    const left = after >= words_end && after + width <= after_free ? after : before;
    if (left === before && before < Math.max(before_free, bbox.left)) continue;
    ctx.fillText(label, left, top);
    words_end = Math.max(left + width, x + size);
  }
  ctx.restore();
}

/** What matters more stands first. */
const RANK: Mark['kind'][] = ['crashed', 'near_cap', 'loaded', 'unloaded', 'shrink', 'policy', 'change'];

function rankOf({ kind, event }: Mark): number {
  const in_vain = event.event === 'shrink' && event.report.freed_bytes === 0;
  return in_vain ? RANK.length : RANK.indexOf(kind);
}

/**
 * The marks that are drawn, from left to right: of those that would stand at one place the one that matters most; where the pointer
 * is, all are told. Places begin at multiples of their width in time, so that nothing jumps while the picture moves on.
 */
export function outstanding(
  marks: readonly Mark[],
  from_ms: number,
  to_ms: number,
  place_ms: number,
): Mark[] {
  const best = new Map<number, Mark>();
  for (const mark of marks) {
    if (mark.time_ms < from_ms || mark.time_ms > to_ms) continue;
    const place = Math.floor(mark.time_ms / place_ms);
    const other = best.get(place);
    if (other === undefined || rankOf(mark) < rankOf(other)) best.set(place, mark);
  }
  return [...best.values()].sort((one, other) => one.time_ms - other.time_ms);
}

function drawLine(ctx: CanvasRenderingContext2D, x: number, { top, height }: uPlot.BBox): void {
  ctx.globalAlpha = 0.55;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, top - 2 * devicePixelRatio);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawRuns(
  ctx: CanvasRenderingContext2D,
  { runs }: Track,
  colours: Palette,
  from_ms: number,
  to_ms: number,
  xOf: (time_ms: number) => number,
  { top, height }: uPlot.BBox,
): void {
  ctx.fillStyle = colours.text;
  const tall = 6 * devicePixelRatio;
  let last = -Infinity;
  for (let row = runs.from(from_ms); row < runs.length && runs.at(0, row) <= to_ms; row++) {
    const x = xOf(runs.at(0, row));
    // Ticks nearer than two pixels would be a bar.
    if (x < last + 2 * devicePixelRatio) continue;
    ctx.fillRect(x, top + height - tall, devicePixelRatio, tall);
    last = x;
  }
}
