import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { text } from '../src/text/en';
import { expectAccessible, expectFits } from './access';
import { alone, expect, go } from './host';

const words = text.models;
const MODELS = 500;

alone('five hundred models are listed, found and chosen from', async ({ page, host }) => {
  const aliases = Array.from({ length: MODELS }, (_, index) => `model-${String(index).padStart(3, '0')}`);
  // Who has models is not greeted: before there are any.
  await page.getByRole('dialog').getByRole('button', { name: text.welcome.skip }).click();
  const began = Date.now();
  for (let at = 0; at < MODELS; at += 4) {
    await Promise.all(
      aliases
        .slice(at, at + 4)
        .map((alias) => host.call('POST', '/ebb/v1/models', { path: join(host.models, 'minilm'), alias })),
    );
  }
  console.log(`${MODELS} models added in ${Date.now() - began} ms`);
  await page.reload();
  await expect(page.getByText(words.total(MODELS))).toBeVisible();
  const list = page.getByRole('list', { name: words.list });
  // Not all of them are made at once, and the end is reached by scrolling.
  expect(await list.getByRole('listitem').count()).toBeLessThan(200);
  await expectAccessible(page);
  await expect(async () => {
    await list.getByRole('listitem').last().scrollIntoViewIfNeeded();
    await expect(list.getByRole('listitem', { name: 'model-499' })).toBeVisible({ timeout: 100 });
  }).toPass();
  await page.getByLabel(words.filter).fill('model-31');
  await expect(list.getByRole('listitem')).toHaveCount(10);
  await list.getByRole('button', { name: words.actionOf(words.load, 'model-314') }).click();
  await expect(page.getByRole('dialog', { name: words.loadTitle('model-314') })).toBeVisible();
  await page.keyboard.press('Escape');

  for (const view of ['memory', 'chat/embed', 'plugins/slack/models', 'activity']) {
    await go(page, view);
    await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
    await expectFits(page, view);
  }
  await expect(page.getByLabel(text.activity.model)).toContainText('model-499');
});

alone('long names and right-to-left ones stay in their place', async ({ page, host }) => {
  const long = 'x'.repeat(64);
  const folder = join(host.home, 'ي'.repeat(60), `${'y'.repeat(120)} تسبيح ‮evil`, 'z'.repeat(200));
  mkdirSync(folder, { recursive: true });
  cpSync(join(host.models, 'minilm'), folder, { recursive: true });
  await host.add('minilm', long, folder);
  await host.call('POST', `/ebb/v1/models/${long}/load`, {});
  await host.call('PUT', `/ebb/v1/profiles/${'p'.repeat(64)}`, {
    name: 'p'.repeat(64),
    description: `${'من اليمين '.repeat(40)}<b>bold</b>`,
    built_in: false,
    reasons: {},
    options: { threads: 1 },
  });
  await page.getByRole('dialog').getByRole('button', { name: text.welcome.skip }).click();
  await page.reload();
  await expect(page.getByRole('heading', { name: long })).toBeVisible();
  for (const width of [1280, 640]) {
    await page.setViewportSize({ width, height: 820 });
    for (const view of [
      'models',
      `models/${long}`,
      `memory/${long}`,
      'memory/*',
      'chat/embed',
      'plugins/slack/models',
      'activity',
      'settings',
    ]) {
      await go(page, view);
      await expect(page.getByRole('main')).toContainText(
        view === 'settings' ? 'p'.repeat(64) : 'x'.repeat(64),
      );
      await expectFits(page, `${view} at ${width}`);
      await expectAccessible(page);
      await page.keyboard.press('Escape');
    }
  }
});
