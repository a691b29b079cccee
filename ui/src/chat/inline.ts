/** What stands within a line of Markdown. */
export type Inline =
  | { type: 'text' | 'codespan' | 'image'; text: string }
  | { type: 'br' }
  | { type: 'strong' | 'em' | 'del'; parts: Inline[] }
  | { type: 'link'; href: string; text: string; parts: Inline[] };

/** Addresses that a text names at its end or anywhere: `[name]: address`. */
export type Addresses = ReadonlyMap<string, string>;

/** How names of addresses are compared. */
export const addressName = (label: string): string => label.trim().replace(/\s+/g, ' ').toLowerCase();

/** Signs that may begin or end a stress: `**`, `_`, `~~`. */
interface Run {
  type: 'run';
  sign: string;
  left: number;
  length: number;
  opens: boolean;
  closes: boolean;
}

const ESCAPED = /\\([!-/:-@[-`{-~])/g;
const LABEL = String.raw`\[((?:\[[^[\]]*\]|\\.|[^[\]\\])*)\]`;
const PLACE = String.raw`\(\s*(<[^<>\n]*>|(?:\\.|\([^()\s]*\)|[^\s()\\])*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`;

/** What begins at a place of a text, the first that fits. Each pattern looks at that place alone. */
const escape = /\\(?:(\n)|([!-/:-@[-`{-~]))/y;
const code = /(`+)(?!`)([^]*?[^`])\1(?!`)/y;
const ticks = /`+/y;
const link = new RegExp(`(!?)${LABEL}(?:${PLACE}|\\[([^[\\]]*)\\])?`, 'sy');
const pointed = /<((?:https?|mailto|ftp):[^\s<>]*)>/y;
const bare = /(?:https?:\/\/|www\.)[^\s<]*/y;
const run = /\*+|_+|~{1,2}(?!~)/y;
const end_of_line = / *\n */y;
const plain = /[^\\`![<*_~\nhw]+|[^]/y;

/** The parts of a text within one block. */
export function inline(text: string, addresses: Addresses): Inline[] {
  const found: (Inline | Run)[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  const put = (piece: string) => {
    const last = found.at(-1);
    if (last?.type === 'text') last.text += piece;
    else found.push({ type: 'text', text: piece });
  };

  while (at < text.length) {
    const begin = at;
    let match: RegExpExecArray | null;
    if ((match = take(escape))) {
      if (match[1] === undefined) put(match[2] ?? '');
      else found.push({ type: 'br' });
    } else if ((match = take(code))) {
      const inner = (match[2] ?? '').replaceAll('\n', ' ');
      found.push({ type: 'codespan', text: /^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner });
    } else if ((match = take(ticks))) {
      put(match[0]);
    } else if ((match = take(link))) {
      const [whole, picture, label = '', place, name] = match;
      const href = place ?? addresses.get(addressName(name || label));
      if (href === undefined) {
        // Brackets that lead nowhere are text, and so is what is in them.
        at = begin + (picture?.length ?? 0) + 1;
        put(whole.slice(0, at - begin));
      } else if (picture) {
        found.push({ type: 'image', text: label.replace(ESCAPED, '$1') });
      } else {
        const to = href.replace(/^<(.*)>$/s, '$1').replace(ESCAPED, '$1');
        found.push({ type: 'link', href: to, text: label, parts: inline(label, addresses) });
      }
    } else if ((match = take(pointed))) {
      found.push(linkTo(match[1] ?? ''));
    } else if (!/\w/.test(text[at - 1] ?? '') && (match = take(bare))) {
      const address = withoutEnd(match[0]);
      at = begin + address.length;
      if (/[/.]\w/.test(address)) found.push(linkTo(address));
      else put(address);
    } else if ((match = take(run))) {
      found.push(runOf(match[0], text[begin - 1] ?? ' ', text[at] ?? ' '));
    } else if (take(end_of_line)) {
      if (at < text.length) found.push({ type: 'br' });
    } else if ((match = take(plain))) {
      put(match[0]);
    }
  }
  return stressed(found);
}

function linkTo(address: string): Inline {
  const href = address.startsWith('www.') ? `http://${address}` : address;
  return { type: 'link', href, text: address, parts: [{ type: 'text', text: address }] };
}

/** An address in running text without the signs of the sentence around it. */
function withoutEnd(address: string): string {
  for (;;) {
    const shorter = address.replace(/(?:[?!.,:;*_~'"]+|&\w+;)$/, '');
    const closes = shorter.endsWith(')') && shorter.split(')').length > shorter.split('(').length;
    const next = closes ? shorter.slice(0, -1) : shorter;
    if (next === address) return address;
    address = next;
  }
}

/** What a run of signs may do, by what stands before and after it. */
function runOf(signs: string, before: string, after: string): Run {
  const [space, mark] = [/\s/, /[\p{P}\p{S}]/u];
  const left = !space.test(after) && (!mark.test(after) || space.test(before) || mark.test(before));
  const right = !space.test(before) && (!mark.test(before) || space.test(after) || mark.test(after));
  const sign = signs[0] ?? '';
  // Within a word, `_` is a letter.
  const opens = left && (sign !== '_' || !right || mark.test(before));
  const closes = right && (sign !== '_' || !left || mark.test(after));
  return { type: 'run', sign, left: signs.length, length: signs.length, opens, closes };
}

/** Makes a stress of each pair of runs; runs without a partner are text. */
function stressed(found: (Inline | Run)[]): Inline[] {
  const made: (Inline | Run)[] = [];
  /** Where in `made` runs stand that a later one may close. */
  let open: number[] = [];
  for (const part of found) {
    if (part.type !== 'run') {
      made.push(part);
      continue;
    }
    while (part.closes && part.left > 0) {
      const partner = open.findLast((place) => fits(made[place] as Run, part));
      if (partner === undefined) break;
      const begin = made[partner] as Run;
      const size = part.sign === '~' ? part.left : Math.min(begin.left, part.left, 2);
      const type = part.sign === '~' ? 'del' : size === 2 ? 'strong' : 'em';
      made.push({ type, parts: asText(made.splice(partner + 1)) });
      begin.left -= size;
      part.left -= size;
      open = open.filter((place) => place < partner || (place === partner && begin.left > 0));
    }
    if (part.left > 0) {
      if (part.opens) open.push(made.length);
      made.push(part);
    }
  }
  return asText(made);
}

function fits(begin: Run, end: Run): boolean {
  if (begin.sign !== end.sign || begin.left === 0) return false;
  if (end.sign === '~') return begin.left === end.left;
  // `*a**b*` is one stress with two signs in it.
  const either = begin.closes || end.opens;
  return !either || (begin.length + end.length) % 3 !== 0 || (begin.length % 3 === 0 && end.length % 3 === 0);
}

/** With runs that are left over as the signs that they are; pieces of text that meet are one. */
function asText(parts: (Inline | Run)[]): Inline[] {
  const said: Inline[] = [];
  for (const part of parts) {
    const now: Inline = part.type === 'run' ? { type: 'text', text: part.sign.repeat(part.left) } : part;
    const last = said.at(-1);
    if (now.type !== 'text' || last?.type !== 'text') said.push(now.type === 'text' ? { ...now } : now);
    else last.text += now.text;
  }
  return said.filter((part) => part.type !== 'text' || part.text !== '');
}
