import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';

import Markdown from './Markdown.svelte';
import { type Part, parts, resolved } from './markdown';

const page = (source: string): HTMLElement => render(Markdown, { source }).container;
const cells = (box: HTMLElement) => [...box.querySelectorAll('td')].map((cell) => cell.textContent);

test('Markdown', () => {
  const box = page(
    '# Title\n\nA **bold** word, `x < y`.\n\n3. one\n4. two\n   - [x] done\n\n| a | b |\n| - | - |\n| 1 | 2 |',
  );
  expect(box.querySelector('.heading')?.textContent).toBe('Title');
  expect(box.querySelector('strong')?.textContent).toBe('bold');
  expect(box.querySelector('p code')?.textContent).toBe('x < y');
  expect([box.querySelector('ol')?.start, box.querySelectorAll('ol > li').length]).toEqual([3, 2]);
  expect(box.querySelector('ul li')?.textContent).toContain('☑');
  expect(cells(box)).toEqual(['1', '2']);
});

test('code is copied as it is', async () => {
  const writeText = vi.fn(async () => undefined);
  Object.defineProperty(navigator, 'clipboard', { value: { writeText }, configurable: true });
  const box = page('```html\n<script>alert(1)</script>\n```');
  expect(box.querySelector('pre')?.textContent).toBe('<script>alert(1)</script>');
  expect(box.querySelector('.bar span')?.textContent).toBe('html');
  await fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
  expect(writeText).toHaveBeenCalledWith('<script>alert(1)</script>');
});

test('an address leads nowhere; it is text that can be copied', async () => {
  const writeText = vi.fn(async () => undefined);
  Object.defineProperty(navigator, 'clipboard', { value: { writeText }, configurable: true });
  const box = page('See [the page](https://example.org/?a=1) or https://example.org/x');
  expect(box.querySelectorAll('a')).toHaveLength(0);
  expect(box.textContent).toContain('the page');
  expect(box.textContent).toContain('https://example.org/?a=1');
  for (const button of screen.getAllByRole('button', { name: 'Copy' })) await fireEvent.click(button);
  expect(writeText.mock.calls).toEqual([['https://example.org/?a=1'], ['https://example.org/x']]);
});

test.each([
  '![x](https://example.org/x.png)',
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  'inline <iframe src="https://example.org"></iframe>',
  '<svg><image href="https://example.org/x.png"/></svg>',
  '<p style="background:url(https://example.org/x.png)">x</p>',
  '[x](javascript:alert(1))',
  '<a href="https://example.org" onclick="alert(1)">x</a>',
  '```js"onmouseover="alert(1)\nx\n```',
  '<form action="https://example.org"><input name=x></form>',
  '<link rel=stylesheet href=https://example.org/x.css>',
])('nothing is loaded or run by %s', (hostile) => {
  const box = page(hostile);
  expect(box.querySelectorAll('img, script, iframe, svg, image, a, form, input, link, style')).toHaveLength(
    0,
  );
  for (const element of box.querySelectorAll('*')) {
    for (const { name } of element.attributes) expect(name).not.toMatch(/^(on|style$|src$|href$|action$)/);
  }
});

test('half of an answer, as it streams, is shown', () => {
  expect(page('```py\nprint(').querySelector('pre')?.textContent).toBe('print(');
  expect(page('**bo').textContent).toContain('**bo');
});

test('what is on the page stays the same element while more comes', async () => {
  const { container, rerender } = render(Markdown, { source: 'One.\n\nTwo' });
  const first = container.querySelector('p');
  await rerender({ source: 'One.\n\nTwo, and **more**' });
  expect(container.querySelector('p')).toBe(first);
  expect(container.textContent).toContain('Two, and more');
});

test.each([
  ['a &amp; b &lt;c&gt; &#39;d&#39;', "a & b <c> 'd'"],
  ['&#0; &#999999999; &unknown;', '&#0; &#999999999; &unknown;'],
])('%s', (written, shown) => expect(resolved(written)).toBe(shown));

/** A text as its parts in short: `[p one [em two]]`. */
const short = (source: string) => parts(source).map(told).join(' ');
function told(part: Part): string {
  const within = (all: readonly Part[]) => all.map(told).join(' ');
  switch (part.type) {
    case 'text':
      return part.text;
    case 'br':
    case 'hr':
      return `[${part.type}]`;
    case 'codespan':
    case 'image':
      return `[${part.type} ${part.text}]`;
    case 'code':
      return `[code ${part.language}: ${part.text}]`;
    case 'link':
      return `[${part.href} ${within(part.parts)}]`;
    case 'list':
      return `[list ${part.start ?? '•'} ${part.items.map(({ parts }) => `(${within(parts)})`).join(' ')}]`;
    case 'table':
      return `[table ${[part.header, ...part.rows].map((row) => row.map(within).join('|')).join(' / ')}]`;
    default:
      return `[${part.type === 'paragraph' ? 'p' : part.type} ${within(part.parts)}]`;
  }
}

test.each([
  // Stress.
  ['a **b *c* d**', '[p a  [strong b  [em c]  d]]'],
  ['***both*** ~~gone~~', '[p [em [strong both]]   [del gone]]'],
  ['snake_case_name, 2 * 3 * 4, 5*6', '[p snake_case_name, 2 * 3 * 4, 5*6]'],
  ['*a **b', '[p *a **b]'],
  ['\\*a\\* \\[b\\]', '[p *a* [b]]'],
  // Code.
  ['`a * b` and `` c`d ``', '[p [codespan a * b]  and  [codespan c`d]]'],
  ['**`x`**', '[p [strong [codespan x]]]'],
  ['```go\n\tif x {\n\n\t}\n```\nafter', '[code go: \tif x {\n\n\t}] [p after]'],
  ['~~~\n```\n~~~', '[code : ```]'],
  ['    four', '[code : four]'],
  // Lists.
  ['- a\n- b\n  - c\n- d', '[list • (a) (b [list • (c)]) (d)]'],
  ['2. a\n3. b', '[list 2 (a) (b)]'],
  ['1. a\n\n2. b', '[list 1 ([p a]) ([p b])]'],
  ['1. a\n   ```\n   x\n   ```\n2. b', '[list 1 (a [code : x]) (b)]'],
  ['- a\n\n\nb', '[list • (a)] [p b]'],
  ['* a\n* b\n\n+ c', '[list • (a) (b)] [list • (c)]'],
  ['born in\n1986. And', '[p born in [br] 1986. And]'],
  // Other blocks.
  ['See:\n| a | b |\n|---|:-:|\n| `x\\|y` |\n\nend', '[p See:] [table a|b / [codespan x|y]|] [p end]'],
  ['> a\nb\n\nc', '[blockquote [p a [br] b]] [p c]'],
  ['One\n---\n\n---', '[heading One] [hr]'],
  ['text\n-', '[p text [br] -]'],
  ['#tag\n## Two ##', '[p #tag] [heading Two]'],
  // Addresses.
  ['[a (b)](x_(y) "t") ![c](d)', '[p [x_(y) a (b)]   [image c]]'],
  ['[a][One] [b]\n\n[one]: u\n[B]: <v> "t"', '[p [u a]   [v b]]'],
  [
    '(https://e.org/a_(b)), www.e.org.',
    '[p ( [https://e.org/a_(b) https://e.org/a_(b)] ),  [http://www.e.org www.e.org] .]',
  ],
  ['[half](', '[p [half](]'],
])('%j is %s', (source, said) => expect(short(source)).toBe(said));

test('what nobody means is read, too, and ends', () => {
  expect(short(`${'> '.repeat(5000)}x`)).toContain('x');
  expect(short(`${'- '.repeat(5000)}x`)).toContain('x');
  for (const piece of ['`a', '*a ', 'a* ', 'a*b_', '[', '[a](', '<http:', '~~a ', '\\'])
    expect(parts(piece.repeat(3000))).toHaveLength(1);
});
