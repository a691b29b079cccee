import { text } from '../text/en';
import { palette } from './palette';

/** The chart as a picture of its own: with its title, on the page's ground, with a legend. */
export async function photograph(chart: HTMLCanvasElement, title: string, place: HTMLElement): Promise<Blob> {
  const scale = devicePixelRatio;
  const [head, foot, side] = [34 * scale, 26 * scale, 12 * scale];
  const whole = document.createElement('canvas');
  [whole.width, whole.height] = [chart.width + 2 * side, chart.height + head + foot];
  const ctx = whole.getContext('2d');
  if (ctx === null) throw new Error('this browser cannot draw a picture');
  const colours = palette(place);
  const family = colours.font;
  ctx.fillStyle = colours.surface;
  ctx.fillRect(0, 0, whole.width, whole.height);
  ctx.textBaseline = 'middle';
  ctx.fillStyle = colours.text;
  ctx.font = `600 ${15 * scale}px ${family}`;
  ctx.fillText(title, side, head / 2, whole.width - 2 * side);
  ctx.drawImage(chart, side, head);
  ctx.font = `${12 * scale}px ${family}`;
  let x = side;
  const { series } = text.memory;
  const legend = [
    [series.in_use, colours['in-use']],
    [series.reserved, colours.reserved],
    [series.resident, colours.resident],
    [series.limit, colours.limit],
  ] as const;
  for (const [label, colour] of legend) {
    ctx.fillStyle = colour;
    ctx.fillRect(x, head + chart.height + foot / 2 - 1.5 * scale, 16 * scale, 3 * scale);
    ctx.fillStyle = colours.text;
    ctx.fillText(label, x + 21 * scale, head + chart.height + foot / 2);
    x += 21 * scale + ctx.measureText(label).width + 18 * scale;
  }
  return new Promise((made, failed) =>
    whole.toBlob((blob) => (blob === null ? failed(new Error('the picture could not be made')) : made(blob))),
  );
}
