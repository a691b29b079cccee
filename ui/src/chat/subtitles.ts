import type { Segment } from '../api/generated/schema';

/** `00:01:02,345`, with another mark before the thousandths where wanted. */
export function stamp(ms: number, mark: ',' | '.' = '.'): string {
  const whole = Math.max(0, Math.round(ms));
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(whole / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  return `${clock}${mark}${String(whole % 1000).padStart(3, '0')}`;
}

/** A line of a subtitle: no line ends within, and nothing that its format takes for its own. */
const line = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll('-->', '→').trim();

export const srt = (segments: Segment[]): string =>
  segments
    .map(
      ({ start_ms, end_ms, text }, index) =>
        `${index + 1}\n${stamp(start_ms, ',')} --> ${stamp(end_ms, ',')}\n${line(text)}\n`,
    )
    .join('\n');

const WEB = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const;

export const vtt = (segments: Segment[]): string =>
  `WEBVTT\n\n${segments
    .map(({ start_ms, end_ms, text }) => {
      const safe = line(text).replaceAll(/[&<>]/g, (letter) => WEB[letter as keyof typeof WEB]);
      return `${stamp(start_ms)} --> ${stamp(end_ms)}\n${safe}\n`;
    })
    .join('\n')}`;

export const plain = (segments: Segment[]): string => segments.map(({ text }) => text.trim()).join('\n');

/** Segments with one more: a partial one is replaced by what it became. */
export const withSegment = (segments: Segment[], fresh: Segment): Segment[] =>
  [...segments.filter(({ index }) => index !== fresh.index), fresh].sort((a, b) => a.index - b.index);
