import { Lexer } from 'marked';
import type { Tokens } from 'marked';

/** A part of a Markdown text, whatever its kind. */
export type Part = Tokens.Generic;

/**
 * The parts of a Markdown text. They are drawn as elements, never as HTML that is inserted: what a model writes can neither
 * load nor run anything.
 */
export const parts = (markdown: string): Part[] =>
  new Lexer({ gfm: true, breaks: true }).lex(markdown) as Part[];

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Text with the character references that models write resolved. */
export const resolved = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (whole, code: string, name: string) => {
    if (name) return ENTITIES[name] ?? whole;
    const point = Number(code);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });

/** What a block of code is written in: the first word after its fence. */
export const languageOf = (part: Part): string => String(part.lang ?? '').split(/\s/)[0] ?? '';
