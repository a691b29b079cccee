import type { Locator, Page } from '@playwright/test';

import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { type Host, expect, go, test } from './host';

const words = text.chat.conversation;
const options = text.chat.options;

interface Chat {
  composer: Locator;
  stop: Locator;
  log: Locator;
}

/** The chat with a model in memory. */
async function opened(page: Page, host: Host): Promise<Chat> {
  await host.add('smollm2');
  await go(page, 'chat');
  const load = page.getByRole('button', { name: text.chat.model.load, exact: true });
  const composer = page.getByRole('textbox', { name: words.message });
  const stop = page.getByRole('button', { name: words.stop, exact: true });
  await expect(page.getByRole('combobox', { name: text.chat.model.label })).toHaveValue('smollm2');
  if (await load.isVisible()) await load.click();
  await expect(page.getByRole('button', { name: words.prompts[0]! })).toBeEnabled();
  return { composer, stop, log: page.getByRole('log') };
}

test('an answer is streamed with its figures, and kept over a reload', async ({ page, host }) => {
  const { composer, log } = await opened(page, host);
  await page.getByLabel(options.fields.max_tokens[0]!, { exact: true }).fill('24');
  await page.getByLabel(options.fields.temperature[0]!, { exact: true }).fill('0');
  await composer.fill('What is the capital of France?');
  await composer.press('Enter');
  await expect(log.getByText('What is the capital of France?')).toBeVisible();
  const figures = log.getByRole('group', { name: words.figures.label });
  await expect(figures).toContainText(/\d+ tokens? · \d+\.\d tokens\/s/);
  await expect(figures).toContainText('KV cache');
  await expect(page.getByRole('region', { name: text.chat.memory.title('smollm2') })).toContainText('MiB');
  const answer = await log.locator('.markdown').innerText();
  expect(answer).toMatch(/\w+ \w+/);
  await expectAccessible(page);

  await page.reload();
  const list = page.getByRole('region', { name: words.list });
  await list.getByRole('button', { name: 'What is the capital of France?', exact: true }).click();
  await expect(log).toContainText(answer);
  await expect(figures).toContainText('KV cache');
});

test('an answer can be stopped, and what was written stays', async ({ page, host }) => {
  const { composer, stop, log } = await opened(page, host);
  await composer.fill('Tell me a very long story about the sea.');
  await composer.press('Enter');
  await expect(log.locator('.markdown')).toContainText(/\w+ \w+ \w+/);
  await stop.click();
  await expect(log.getByText(words.stopped, { exact: true })).toBeVisible();
  await expect(log.locator('.markdown')).toContainText(/\w+ \w+ \w+/);
  await expect(composer).toBeEnabled();
});

test('Markdown is shown as such, and nothing in it is loaded or run', async ({ page, host }) => {
  const { composer, log } = await opened(page, host);
  await page.getByLabel(options.format).selectOption('regex');
  await page
    .getByLabel(options.regexLabel)
    .fill('\\*\\*sea\\*\\* `tide` <b>ebb</b> !\\[flood\\]\\(http://127\\.0\\.0\\.1/x\\.png\\)');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await composer.fill('Write.');
  await composer.press('Enter');
  await expect(log.locator('strong', { hasText: 'sea' })).toBeVisible();
  await expect(log.locator('code', { hasText: 'tide' })).toBeVisible();
  await expect(log.getByRole('group', { name: words.figures.label })).toBeVisible();
  await expect(log.locator('b, img')).toHaveCount(0);
  expect(asked.filter((url) => url.includes('x.png'))).toEqual([]);
});

test('wrong values are told before anything is sent', async ({ page, host }) => {
  const { composer } = await opened(page, host);
  await page.getByLabel(options.fields.temperature[0]!, { exact: true }).fill('hot');
  await expect(page.getByText(options.number)).toBeVisible();
  await page.getByLabel(options.format).selectOption('json_schema');
  await page.getByLabel(options.schemaLabel).fill('{"type":');
  await expect(page.getByText(options.schema)).toBeVisible();
  await composer.fill('Hello');
  await expect(page.getByRole('button', { name: words.send })).toBeDisabled();
  await expectAccessible(page);
});
