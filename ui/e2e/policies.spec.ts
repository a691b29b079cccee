import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { expect, go, test } from './host';

const words = text.plugins;

test('a policy is allowed, attached, and decides in sight', async ({ page, host }) => {
  await host.load('minilm');
  await host
    .call('POST', '/ebb/v1/plugins/slack/revoke', {
      grants: [{ capability: 'memory.control' }],
    })
    .catch(() => undefined);
  await go(page, 'plugins/slack/permissions');
  const allow = page.getByRole('button', { name: words.permissions.change });
  await allow.click();
  const consent = page.getByRole('dialog', { name: words.consent.title('Slack') });
  await expect(consent).toContainText('to give back what a model has reserved and does not use');
  await expect(consent.getByRole('button', { name: words.consent.grant(0), exact: true })).toBeDisabled();
  await expectAccessible(page);
  await consent.getByLabel(words.consent.allow('memory.control')).check();
  await consent.getByRole('button', { name: words.consent.grant(1) }).click();
  await expect(consent.getByText(words.consent.needModels)).toBeVisible();
  await consent.getByRole('checkbox', { name: 'minilm' }).check();
  await consent.getByRole('button', { name: words.consent.grant(1) }).click();
  await expect(consent).toBeHidden();
  await expect(page.getByRole('table', { name: words.permissions.caption })).toContainText('minilm');
  await expectAccessible(page);

  const tab = (name: string) =>
    page
      .getByRole('navigation', { name: words.sections('Slack') })
      .getByRole('link', { name })
      .click();
  await tab(words.tabs.settings);
  const ratio = page.getByLabel('Ratio', { exact: true });
  await ratio.fill('a lot');
  await expect(page.getByText(words.settings.number)).toBeVisible();
  await ratio.fill('1000');
  await expect(page.getByText(words.settings.atMost(100))).toBeVisible();
  await expect(page.getByRole('button', { name: words.settings.save })).toBeDisabled();
  await ratio.fill('1');
  await page.getByLabel('Slack in MiB').fill('0');
  await page.getByLabel('Requests between shrinks').fill('1');
  await page.getByRole('button', { name: words.settings.save }).click();
  await expect(page.getByText(words.settings.saved)).toBeVisible();

  await tab(words.tabs.models);
  await page.getByLabel(words.models.pick, { exact: true }).selectOption('minilm');
  await page.getByRole('button', { name: words.models.attach }).click();
  await expect(page.getByRole('region', { name: words.models.onModel('minilm') })).toContainText(
    words.models.active,
  );
  await expectAccessible(page);

  await go(page, 'memory/minilm');
  await host.burst('minilm');
  const policies = page.getByRole('region', { name: text.memory.policies });
  await expect(policies).toContainText(text.happened.decisions.shrink);
  await expect(policies).toContainText(/saw \d.* in use of \d.* reserved, \d.* resident, \d+ runs/);
  await policies.getByRole('button', { name: text.memory.detach('Slack') }).click();
  await expect(policies).toContainText(text.memory.noPolicies);
});

test('a policy is tried on a recording, with other settings, too', async ({ page, host }) => {
  await host.load('minilm');
  const settings = { ratio: null, slack_mib: null, runs_between: null };
  await host.call('POST', '/ebb/v1/plugins/slack/settings', { settings });
  await go(page, 'plugins/slack/replay');
  await page.getByRole('button', { name: words.replay.start }).click();
  await expect(page.getByText(words.replay.recording('minilm'))).toBeVisible();
  for (let run = 0; run < 3; run += 1) await host.burst('minilm', 32);
  await expect(page.getByRole('status').filter({ hasText: /^\s*3 requests/ })).toBeVisible();
  await page.getByRole('button', { name: words.replay.stop }).click();
  const result = page.getByRole('region', { name: words.replay.title('Slack', 'minilm') });
  await expect(result.getByRole('row', { name: new RegExp(words.replay.rows.mean_bytes) })).toContainText(
    'MiB',
  );
  await expectAccessible(page);

  await page.getByText(words.replay.other).click();
  for (const [label, value] of [
    ['Ratio', '1'],
    ['Slack in MiB', '0'],
    ['Requests between shrinks', '1'],
  ]) {
    await page.getByLabel(label!, { exact: true }).fill(value!);
  }
  await page.getByRole('button', { name: words.settings.try }).click();
  await expect(result).toContainText(/It would have shrunk (once|\d+ times), giving back \d/);

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: words.replay.save }).click();
  const recording = readFileSync(await (await saved).path(), 'utf8');
  expect(recording.split('\n').filter((line) => line.includes('"run":{'))).toHaveLength(3);
  expect(recording).not.toContain('tide');
});

test('files that are no plugin and no recording are refused in words', async ({ page, host }) => {
  const file = join(host.home, 'garbage.wasm');
  writeFileSync(file, Buffer.from('\0asm garbage'.repeat(100)));
  await go(page, 'plugins');
  await page.getByRole('button', { name: words.add }).click();
  const dialog = page.getByRole('dialog', { name: words.install.title });
  for (const path of [file, '/nowhere/at-all.wasm', 'not absolute', host.home]) {
    await dialog.getByLabel(words.install.path).fill(path);
    await dialog.getByRole('button', { name: words.install.button, exact: true }).click();
    await expect(dialog.getByRole('alert')).toBeVisible();
    await expect(dialog.getByLabel(words.install.path)).toHaveValue(path);
  }
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  await go(page, 'plugins/slack/replay');
  await page.getByLabel(words.replay.file).setInputFiles({
    name: 'garbage.jsonl',
    mimeType: 'text/plain',
    buffer: Buffer.from('{"run":{"garbage":true}}\n'.repeat(10)),
  });
  await expect(page.getByRole('main').getByRole('alert')).toContainText(/line 1|recording/);
});
