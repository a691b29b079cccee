import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';

import Markdown from './Markdown.svelte';
import { resolved } from './markdown';

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
