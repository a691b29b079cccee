import DOMPurify from 'dompurify';
import { Marked } from 'marked';

import { text } from '../text/en';

const said = text.chat.markdown;

const escaped = (plain: string): string =>
  plain.replace(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0) ?? 63};`);

/** A button that copies; what it copies is in `data-copy`, or is the code beside it. */
const copying = (kind: 'link' | 'code', label: string, shown: string, value = '') =>
  `<button type="button" class="${kind}" aria-label="${escaped(label)}" title="${escaped(value)}" data-copy="${escaped(value)}">${shown}</button>`;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // What a model writes is text: its HTML is shown, not made.
    html: ({ text }) => escaped(text),
    // Nothing is loaded that a model names.
    image: ({ text }) => escaped(said.picture(text)),
    link({ href, tokens }) {
      const label = this.parser.parseInline(tokens);
      return `<span class="address">${label}${copying('link', said.copyLink(href), `<code>${escaped(href)}</code>`, href)}</span>`;
    },
    // A heading within an answer is none of the page's.
    heading({ tokens, depth }) {
      return `<p class="heading h${depth}">${this.parser.parseInline(tokens)}</p>`;
    },
    code({ text, lang }) {
      const language = (lang ?? '').split(/\s/)[0] ?? '';
      const head = `<div class="bar"><span>${escaped(language)}</span>${copying('code', said.copy, said.copy)}</div>`;
      return `<div class="code">${head}<pre tabindex="0" role="group" aria-label="${escaped(said.code)}"><code>${escaped(text)}</code></pre></div>`;
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    table({ header, rows }) {
      const cell = (tag: string) => (cell: (typeof header)[number]) =>
        `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
      const row = (cells: string[]) => `<tr>${cells.join('')}</tr>`;
      const body = rows.map((cells) => row(cells.map(cell('td')))).join('');
      return `<div class="table" tabindex="0" role="group"><table><thead>${row(header.map(cell('th')))}</thead><tbody>${body}</tbody></table></div>`;
    },
  },
});

/** Tags that are left; everything that could load something is not among them. */
const TAGS =
  'p br strong em del code pre ul ol li blockquote hr div span button table thead tbody tr th td'.split(' ');
const ATTRIBUTES = ['class', 'type', 'title', 'tabindex', 'role', 'start', 'aria-label', 'data-copy'];

/** Markdown as HTML that loads nothing and leads nowhere. */
export function rendered(markdown: string): string {
  return DOMPurify.sanitize(marked.parse(markdown, { async: false }), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
  });
}
