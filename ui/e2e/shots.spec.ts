import { join } from 'node:path';

import type { Page } from '@playwright/test';

import { text } from '../src/text/en';
import { type Host, expect, go, test } from './host';

/** Where pictures go; without it none is taken. */
const folder = process.env.EBB_SHOTS;

/** Something of everything: what a person sees who has used Ebb for a while. */
async function lived(host: Host): Promise<void> {
  await host.load('minilm', { arena_options: { working_mem: '256MiB' } });
  await host.load('smollm2');
  await host.load('moonshine');
  const grants = [{ capability: 'memory.control', models: ['minilm'] }];
  await host.call('POST', '/ebb/v1/plugins/slack/grant', { grants });
  await host.call('POST', '/ebb/v1/plugins/slack/attach', { model: 'minilm' });
  for (let run = 0; run < 3; run += 1) await host.burst('minilm', 8 * (run + 1));
}

/** What is done in a view before it is seen. */
const VIEWS: [name: string, place: string, act?: (page: Page, host: Host) => Promise<void>][] = [
  ['models', 'models'],
  ['load', 'models/smollm2', async (page) => expect(page.getByText(text.models.basis)).toBeVisible()],
  [
    'add',
    'models',
    async (page) => {
      await page.getByRole('button', { name: text.models.add }).click();
      await page.getByRole('tab', { name: text.models.tabs.demo }).click();
      await expect(page.getByText('Moonshine tiny')).toBeVisible();
    },
  ],
  [
    'memory',
    'memory/minilm',
    async (page, host) => {
      // Without a rule or a policy, so that there is something to give back.
      const options = { shrink_every: 0 };
      await host.call('POST', '/ebb/v1/plugins/slack/detach', { model: 'minilm' });
      await host.call('POST', '/ebb/v1/models/minilm/load?force=true', options);
      for (let run = 0; run < 8; run += 1) {
        await host.burst('minilm', 6 * (run + 1));
        await page.waitForTimeout(1500);
      }
      await page.getByRole('button', { name: text.memory.shrink, exact: true }).click();
      await page.waitForTimeout(2500);
      await host.call('POST', '/ebb/v1/plugins/slack/attach', { model: 'minilm' });
    },
  ],
  ['machine', 'memory/*', async (page) => page.waitForTimeout(4000)],
  [
    'chat',
    'chat',
    async (page) => {
      await page.getByRole('button', { name: text.chat.conversation.prompts[2]! }).click();
      await expect(page.getByRole('group', { name: text.chat.conversation.figures.label })).toBeVisible({
        timeout: 60_000,
      });
    },
  ],
  [
    'embed',
    'chat/embed',
    async (page) => {
      await page.getByRole('button', { name: text.chat.embed.useExample }).click();
      await page.getByRole('button', { name: text.chat.embed.run }).click();
      await expect(page.getByText(text.chat.embed.nearest)).toBeVisible();
    },
  ],
  [
    'transcribe',
    'chat/transcribe',
    async (page, host) => {
      const file = join(host.models, 'moonshine', 'two_cities.wav');
      await page.getByLabel(text.chat.transcribe.file).setInputFiles(file);
      await expect(page.getByText(/times as fast/)).toBeVisible({ timeout: 60_000 });
    },
  ],
  ['plugins', 'plugins'],
  ['policy', 'plugins/slack/models'],
  ['permissions', 'plugins/rag/permissions'],
  [
    'consent',
    'plugins/rag/permissions',
    async (page) => {
      await page.getByRole('button', { name: text.plugins.permissions.change }).click();
      await page.getByRole('checkbox').nth(2).check();
    },
  ],
  ['documents', 'plugins/rag/documents'],
  ['plugin-settings', 'plugins/slack/settings'],
  ['plugin-about', 'plugins/slack/about'],
  ['activity', 'activity/events'],
  ['requests', 'activity/requests'],
  ['settings', 'settings'],
];

for (const scheme of folder === undefined ? [] : (['light', 'dark'] as const)) {
  test(`each view with something in it is seen in ${scheme}`, async ({ page, host }) => {
    test.setTimeout(300_000);
    await lived(host);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const [name, place, act] of VIEWS) {
      await go(page, place);
      await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
      await act?.(page, host);
      // For notices to be read and the chart to have moved on.
      await page.waitForTimeout(700);
      await page.screenshot({ path: join(folder ?? '', `${name}-${scheme}.png`) });
      await page.keyboard.press('Escape');
    }
  });
}
