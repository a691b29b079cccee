import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { expect, go, test } from './host';

const words = text.activity;

test('what happened is listed, filtered and opened', async ({ page, host }) => {
  await host.load('minilm');
  await host.burst('minilm', 4);
  await host.load('minilm', {}, 'other');
  await go(page, 'activity');
  const list = page.getByRole('listbox', { name: words.lists.events });
  await expect(list.getByRole('option').filter({ hasText: 'other' }).first()).toBeVisible();
  await page.getByLabel(words.model).selectOption('minilm');
  await expect(list.getByRole('option').filter({ hasText: 'other' })).toHaveCount(0);
  await page.getByLabel(words.kind).selectOption({ label: text.happened.kinds.run });
  await expect(list.getByRole('option').first()).toContainText('run');
  await list.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toContainText('minilm');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByLabel(words.search).fill('no such thing');
  await page.getByRole('button', { name: words.clearFilter }).click();
  await expect(list.getByRole('option').filter({ hasText: 'other' }).first()).toBeVisible();

  await page.getByRole('link', { name: words.pages.requests }).click();
  await expect(
    page.getByRole('listbox', { name: words.lists.requests }).getByRole('option').first(),
  ).toBeVisible();
  await page.getByRole('link', { name: words.pages.log }).click();
  await expect(
    page.getByRole('listbox', { name: words.lists.log }).getByRole('option').first(),
  ).toBeVisible();
  await expectAccessible(page);
  await host.ebb('model', 'unload', 'other');
});

test('what comes in while it is paused is counted, not shown', async ({ page, host }) => {
  await host.load('minilm');
  await host.burst('minilm', 1);
  await go(page, 'activity/requests');
  await page.getByRole('button', { name: words.pause, exact: true }).click();
  const before = await page.getByRole('option').count();
  await host.burst('minilm', 1);
  await expect(page.getByText(/Paused; \d+ new/)).toBeVisible();
  expect(await page.getByRole('option').count()).toBe(before);
  await page.getByRole('button', { name: words.go, exact: true }).click();
  await expect(page.getByRole('option')).toHaveCount(before + 1);
});

test('a report has figures, and no text, path, address or name of a model', async ({ page, host }) => {
  await host.load('minilm', {}, 'secret-project');
  await host.call('POST', '/ebb/v1/models/secret-project/embed', { texts: ['the launch is in May'] });
  await go(page, 'activity');
  await page.getByRole('button', { name: words.report }).click();
  const report = page.getByRole('textbox', { name: words.reportText });
  await expect(report).toHaveValue(/"event":"run"/);
  const value = await report.inputValue();
  for (const left of ['secret-project', 'launch', host.home, host.models, host.endpoint.token, '127.0.0.1']) {
    expect(value, left).not.toContain(left);
  }
  expect(value).toMatch(/"reserved_bytes":\d+/);
  await expectAccessible(page);
  await host.ebb('model', 'unload', 'secret-project');
});
