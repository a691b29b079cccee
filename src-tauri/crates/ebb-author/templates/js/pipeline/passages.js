// Cutting a text into passages: plain JavaScript, tested without Wasm by `node --test`.

export const MOST_CHARACTERS = 1200;

/** Bytes of a text in UTF-8. */
const bytes = (text) => {
  let all = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0);
    all += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return all;
};

/** Paragraphs, short ones together: where each begins and ends in bytes, and what it says. */
export function passages(text) {
  const spans = [];
  for (const paragraph of text.matchAll(/\S[\s\S]*?(?=\n[^\S\n]*\n|$(?![\s\S]))/g)) {
    const [start, end] = [paragraph.index, paragraph.index + paragraph[0].trimEnd().length];
    const last = spans.at(-1);
    if (last && end - last[0] <= MOST_CHARACTERS) last[1] = end;
    else spans.push([start, end]);
  }
  return spans.map(([start, end]) => {
    const said = text.slice(start, end);
    const before = bytes(text.slice(0, start));
    return { start: before, end: before + bytes(said), text: said };
  });
}
