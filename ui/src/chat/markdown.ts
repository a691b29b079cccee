import { type Addresses, type Inline, addressName, inline } from './inline';

/** A part of a Markdown text. */
export type Part =
  | Inline
  | { type: 'paragraph' | 'heading' | 'blockquote'; parts: Part[] }
  | { type: 'hr' }
  /** `language` is the first word after the fence. */
  | { type: 'code'; text: string; language: string }
  /** `start` is the first number; `null`: it has dots. */
  | { type: 'list'; start: number | null; items: Item[] }
  | { type: 'table'; header: Inline[][]; rows: Inline[][][] };

export interface Item {
  /** Whether its box is ticked; `null`: it has none. */
  ticked: boolean | null;
  parts: Part[];
}

/** What stands deeper is text: no page shows it, and a stack has an end. */
const DEEPEST = 20;

const BLANK = /^\s*$/;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})\s*(\S*)/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$/;
/** One dash alone is rather an item that is about to be written. */
const UNDERLINE = /^ {0,3}(?:==+|--+)\s*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})([.)]))( +|$)/;
const INDENTED = /^ {4}/;
const DELIMITERS = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const ADDRESS = /^ {0,3}\[([^[\]]+)\]:\s*<?([^\s<>]+)>?(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*$/;

/**
 * The parts of a Markdown text, as models write it. They are drawn as elements, never as HTML that is inserted: what a model writes
 * can neither load nor run anything. Half of an answer is a text like another: what is not closed yet reaches to its end.
 */
export function parts(markdown: string): Part[] {
  const lines = markdown.replaceAll('\r\n', '\n').split('\n');
  const addresses = new Map<string, string>();
  for (const line of lines) {
    const [, label, address] = ADDRESS.exec(line) ?? [];
    if (label !== undefined && address !== undefined) addresses.set(addressName(label), address);
  }
  return new Blocks(lines, addresses).all();
}

/** Reads lines from the first to the last; each method takes one block and goes to the line after it. */
class Blocks {
  #at = 0;

  constructor(
    readonly lines: readonly string[],
    readonly addresses: Addresses,
    readonly depth = 0,
  ) {}

  all(): Part[] {
    const found: Part[] = [];
    while (this.#at < this.lines.length) {
      const line = this.#line;
      if (BLANK.test(line) || ADDRESS.test(line)) this.#at += 1;
      else found.push(this.#block(line));
    }
    return found;
  }

  #within(lines: readonly string[]): Part[] {
    return new Blocks(lines, this.addresses, this.depth + 1).all();
  }

  /** The line with its indent in spaces. */
  get #line(): string {
    return (this.lines[this.#at] ?? '').replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '    '));
  }

  #block(line: string): Part {
    const fence = FENCE.exec(line);
    if (fence !== null) return this.#fenced(fence[1] ?? '', fence[2] ?? '', line.search(/\S/));
    if (INDENTED.test(line)) return this.#indented();
    const heading = HEADING.exec(line);
    if (heading !== null) {
      this.#at += 1;
      return { type: 'heading', parts: inline(heading[1] ?? '', this.addresses) };
    }
    if (RULE.test(line)) {
      this.#at += 1;
      return { type: 'hr' };
    }
    if (this.depth < DEEPEST && QUOTE.test(line)) return this.#quote();
    if (this.depth < DEEPEST && ITEM.test(line)) return this.#list();
    return this.#table() ?? this.#paragraph();
  }

  #fenced(fence: string, language: string, indent: number): Part {
    const [text, closing] = [[] as string[], new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`)];
    for (this.#at += 1; this.#at < this.lines.length; this.#at += 1) {
      if (closing.test(this.#line)) {
        this.#at += 1;
        break;
      }
      // As it was written, tabs and all: it is copied.
      text.push((this.lines[this.#at] ?? '').replace(new RegExp(`^ {0,${indent}}`), ''));
    }
    return { type: 'code', text: text.join('\n'), language };
  }

  #indented(): Part {
    const text: string[] = [];
    for (; INDENTED.test(this.#line) || (BLANK.test(this.#line) && this.#goesOn(INDENTED)); this.#at += 1)
      text.push(this.#line.slice(4));
    return { type: 'code', text: text.join('\n'), language: '' };
  }

  /** Whether the next line that is not blank is of this kind. */
  #goesOn(kind: RegExp): boolean {
    const next = this.lines.slice(this.#at).find((line) => !BLANK.test(line));
    return next !== undefined && kind.test(next);
  }

  #quote(): Part {
    const inner: string[] = [];
    for (; QUOTE.test(this.#line) || (inner.at(-1) && this.#isText); this.#at += 1)
      inner.push(this.#line.replace(QUOTE, ''));
    return { type: 'blockquote', parts: this.#within(inner) };
  }

  /** Whether the line goes on with the text before it, whatever that stands in. */
  get #isText(): boolean {
    const line = this.#line;
    return !(BLANK.test(line) || interrupts(line));
  }

  #list(): Part {
    const [, , marker = '', number, delimiter] = ITEM.exec(this.#line) ?? [];
    const kind = delimiter ?? marker;
    const read: string[][] = [];
    /** Whether a blank line is between two items, or within one. */
    let [loose, apart] = [false, false];
    for (;;) {
      const item = ITEM.exec(this.#line);
      if (item === null || (item[4] ?? item[2]) !== kind || RULE.test(this.#line)) break;
      loose ||= apart;
      const [lines, ended] = this.#item(item);
      read.push(lines);
      apart = ended;
      loose ||= hasGap(lines);
    }
    const items = read.map((lines) => this.#itemOf(lines, loose));
    return { type: 'list', start: number === undefined ? null : Number(number), items };
  }

  /** The lines of an item without its indent, and whether a blank one ended it. */
  #item([whole]: RegExpExecArray): [string[], boolean] {
    const space = whole.length - whole.trimEnd().length;
    // Five spaces are one, and a block of code.
    const width = space > 4 || space === 0 ? whole.trimEnd().length + 1 : whole.length;
    const inside = new RegExp(`^ {${width}}`);
    const lines = [this.#line.slice(Math.min(width, this.#line.length))];
    let blank = false;
    for (this.#at += 1; this.#at < this.lines.length; this.#at += 1) {
      const line = this.#line;
      if (BLANK.test(line)) {
        blank = true;
        lines.push('');
      } else if (inside.test(line)) {
        blank = false;
        lines.push(line.slice(width));
      } else if (!blank && lines.at(-1) && this.#isText && !ITEM.test(line)) lines.push(line.trimStart());
      else break;
    }
    while (lines.length > 1 && lines.at(-1) === '') lines.pop();
    return [lines, blank];
  }

  #itemOf(lines: string[], loose: boolean): Item {
    const task = /^\[([ xX])\](?: +|$)/.exec(lines[0] ?? '');
    const inner = task === null ? lines : [(lines[0] ?? '').slice(task[0].length), ...lines.slice(1)];
    const found = this.#within(inner);
    const ticked = task === null ? null : task[1] !== ' ';
    // The text of an item is a paragraph only where items stand apart.
    return {
      ticked,
      parts: loose ? found : found.flatMap((part) => (part.type === 'paragraph' ? part.parts : [part])),
    };
  }

  /** The cells of this line, where the next one makes it the header of a table. */
  get #header(): string[] | null {
    const below = this.lines[this.#at + 1] ?? '';
    if (!this.#line.includes('|') || !DELIMITERS.test(below)) return null;
    const header = cells(this.#line);
    return cells(below).length === header.length ? header : null;
  }

  #table(): Part | null {
    const header = this.#header;
    if (header === null) return null;
    const rows: string[][] = [];
    for (this.#at += 2; this.#isText; this.#at += 1) {
      const row = cells(this.#line);
      rows.push(header.map((_, column) => row[column] ?? ''));
    }
    const read = (row: string[]) => row.map((cell) => inline(cell, this.addresses));
    return { type: 'table', header: read(header), rows: rows.map(read) };
  }

  #paragraph(): Part {
    const text = [this.#line.trimStart()];
    for (this.#at += 1; this.#at < this.lines.length; this.#at += 1) {
      if (UNDERLINE.test(this.#line)) {
        this.#at += 1;
        return { type: 'heading', parts: inline(text.join('\n'), this.addresses) };
      }
      if (!this.#isText || this.#header !== null) break;
      text.push(this.#line.trimStart());
    }
    return { type: 'paragraph', parts: inline(text.join('\n').trimEnd(), this.addresses) };
  }
}

/** Whether a line begins something else though text stands right before it. */
function interrupts(line: string): boolean {
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  const item = ITEM.exec(line);
  // A number that a sentence happens to wrap at is no list.
  return item !== null && item[0].length < line.length && (item[3] === undefined || Number(item[3]) === 1);
}

/** Whether blocks stand apart in it; blank lines in code are part of it. */
function hasGap(lines: readonly string[]): boolean {
  let fenced = false;
  return lines.some((line, index) => {
    if (FENCE.test(line)) fenced = !fenced;
    return (
      !fenced && line === '' && index > 0 && !INDENTED.test(lines[index + 1] ?? '') && !nested(lines, index)
    );
  });
}

/** Whether a line stands in a list within the item: what is apart there is apart there alone. */
const nested = (lines: readonly string[], index: number): boolean =>
  lines.slice(0, index).some((line) => ITEM.test(line)) && /^(?: {2}|[-*+\d])/.test(lines[index + 1] ?? '');

/** The cells of a row of a table. */
function cells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Text with the character references that models write resolved. */
export const resolved = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (whole, code: string, name: string) => {
    if (name) return ENTITIES[name] ?? whole;
    const point = Number(code);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
