import { expect, test } from 'vitest';

import { rendered } from './markdown';

function page(markdown: string): HTMLElement {
  const box = document.createElement('div');
  box.innerHTML = rendered(markdown);
  return box;
}

test('Markdown', () => {
  const box = page('# Title\n\nA **bold** word.\n\n1. one\n2. two\n\n| a | b |\n| - | - |\n| 1 | 2 |');
  expect(box.querySelector('.heading')?.textContent).toBe('Title');
  expect(box.querySelector('strong')?.textContent).toBe('bold');
  expect(box.querySelectorAll('ol li')).toHaveLength(2);
  expect([...box.querySelectorAll('td')].map((cell) => cell.textContent)).toEqual(['1', '2']);
});

test('code can be copied as it is', () => {
  const box = page('```html\n<script>alert(1)</script>\n```');
  expect(box.querySelector('pre')?.textContent).toBe('<script>alert(1)</script>');
  expect(box.querySelector('.bar span')?.textContent).toBe('html');
  expect(box.querySelector('button.code')).not.toBeNull();
});

test('an address leads nowhere; it is text that can be copied', () => {
  const box = page('See [the page](https://example.org/?a=1&b="2") or https://example.org/x');
  expect(box.querySelectorAll('a')).toHaveLength(0);
  const copied = [...box.querySelectorAll<HTMLElement>('button[data-copy]')].map((one) => one.dataset.copy);
  expect(copied).toEqual(['https://example.org/?a=1&b="2"', 'https://example.org/x']);
  expect(box.textContent).toContain('the page');
});

test.each([
  '![x](https://example.org/x.png)',
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '<iframe src="https://example.org"></iframe>',
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
