import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Locator, Page } from '@playwright/test';

import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { ANY, type Host, expect, go, like, test } from './host';

const words = text.models;

/** The load dialog of a model, from the list. */
async function dialogOf(page: Page, alias: string): Promise<Locator> {
  await go(page, `models/${alias}`);
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('heading', { name: words.groups.arena })).toBeVisible();
  return dialog;
}

const field = (dialog: Locator, path: string) => dialog.locator(`[data-path="${path}"]`);

const press = (dialog: Locator, name: string) => dialog.getByRole('button', { name, exact: true }).click();

/** A folder of its own with the files of a real model, to be spoiled. */
function copied(host: Host, model: string, name: string): string {
  const folder = join(host.home, name);
  mkdirSync(folder);
  for (const file of readdirSync(join(host.models, model))) {
    const from = join(host.models, model, file);
    if (statSync(from).isFile()) copyFileSync(from, join(folder, file));
  }
  return folder;
}

test('a cap below the weights is refused with what it would take, and nothing is lost', async ({
  page,
  host,
}) => {
  await host.add('minilm', 'capped');
  const dialog = await dialogOf(page, 'capped');
  const cap = field(dialog, 'arena_options.max_mem');
  await cap.getByRole('textbox').fill('1MiB');
  await expect(cap).toContainText('the cap of 1.0 MiB is below the weights');
  await press(dialog, words.loadNow);
  const alert = dialog.getByRole('alert');
  await expect(alert).toContainText(/MiB/);
  await expect(cap.getByRole('textbox')).toHaveValue('1MiB');
  await expect(cap.getByRole('textbox')).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(page);
});

test('what was chosen can be taken to a terminal', async ({ page, host, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await host.add('minilm', 'taken');
  const dialog = await dialogOf(page, 'taken');
  await field(dialog, 'threads').getByRole('textbox').fill('1');
  await field(dialog, 'arena_options.working_mem').getByRole('textbox').fill('200MiB');
  await press(dialog, words.rowAdd);
  await dialog.getByRole('textbox', { name: words.rowKey }).fill('session.disable_prepacking');
  await dialog.getByRole('textbox', { name: words.rowValue, exact: true }).fill('1');
  const copy = async (name: string) => {
    const checked = page.getByText(words.checking);
    await expect(checked).toBeHidden();
    await press(dialog, name);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const line = await copy(words.copyCli);
  await promisify(execFile)('bash', ['-c', line], { env: host.env });
  const { models } = await host.call<{ models: { alias: string; state: string; options: object }[] }>(
    'GET',
    '/ebb/v1/models',
  );
  expect(models.find(({ alias }) => alias === 'taken')).toMatchObject({
    state: 'loaded',
    options: {
      threads: 1,
      arena_options: { working_mem: '200MiB' },
      session_options: { 'session.disable_prepacking': '1' },
    },
  });
  const script = await copy(words.copyPython);
  expect(script).toContain('200MiB');
  await promisify(execFile)('python3', ['-c', 'import ast, sys; ast.parse(sys.argv[1])', script]);
});

test('what was chosen is kept as a profile for other models', async ({ page, host }) => {
  await host.add('minilm', 'thrifty');
  const dialog = await dialogOf(page, 'thrifty');
  await field(dialog, 'batch_tokens').getByRole('textbox').fill('1024');
  await press(dialog, words.saveProfile);
  await dialog.getByLabel(words.profileName).fill('thrifty-batches');
  await press(dialog, words.profileSave);
  await expect(page.getByText(words.profileSaved('thrifty-batches'))).toBeVisible();
  await expect(dialog.getByLabel(words.profile, { exact: true })).toContainText('thrifty-batches');
  const { profiles } = await host.call<{ profiles: { name: string; options: object }[] }>(
    'GET',
    '/ebb/v1/profiles',
  );
  expect(profiles.find(({ name }) => name === 'thrifty-batches')?.options).toMatchObject({
    batch_tokens: 1024,
  });
});

test('other options are applied by a reload that shows before and after', async ({ page, host }) => {
  await host.load('minilm', {}, 'again');
  await host.burst('again');
  const dialog = await dialogOf(page, 'again');
  await expect(dialog.getByText(words.noReload)).toBeVisible();
  await field(dialog, 'arena_options.working_mem').getByRole('textbox').fill('150MiB');
  await expect(field(dialog, 'arena_options.working_mem')).toContainText(words.reload);
  await expect(dialog.getByText(words.needsReload(1))).toBeVisible();
  await press(dialog, words.apply);
  const outcome = page.getByRole('dialog', { name: words.reloadedTitle('again') });
  const reserved = outcome.getByRole('row', { name: new RegExp(`^${words.reserved}`) });
  await expect(reserved).toContainText(like(words.less(ANY)));
  await expectAccessible(page);
  await press(outcome, words.toMemory);
  await expect(page.getByRole('figure', { name: text.memory.chartOf('again') })).toBeVisible();
  await host.ebb('model', 'unload', 'again');
});

test('a model that is none is refused as it is added', async ({ page, host }) => {
  const folder = copied(host, 'minilm', 'garbage');
  truncateSync(join(folder, 'model.onnx'), 0);
  await go(page, 'models');
  await page.getByRole('button', { name: words.add }).first().click();
  const dialog = page.getByRole('dialog', { name: words.addTitle });
  await dialog.getByLabel(words.path).fill(folder);
  await dialog.getByLabel(words.alias).fill('garbage');
  await press(dialog, words.addNow);
  const jobs = page.getByRole('region', { name: words.jobs });
  await expect(jobs.getByRole('alert')).toContainText(/model\.onnx/);
  await press(jobs, text.shared.close);
  await expect(jobs).toBeHidden();
});

test('a model that breaks after it was added says why at the next load', async ({ page, host }) => {
  const folder = copied(host, 'minilm', 'broken');
  await host.add('broken', 'broken', folder);
  truncateSync(join(folder, 'model.onnx'), 1024 * 1024);
  const dialog = await dialogOf(page, 'broken');
  await field(dialog, 'threads').getByRole('textbox').fill('2');
  await press(dialog, words.loadNow);
  await expect(dialog.getByRole('alert')).toBeVisible();
  await expect(field(dialog, 'threads').getByRole('textbox')).toHaveValue('2');
  await dialog.getByRole('button', { name: text.shared.cancel }).click();
  const row = page.getByRole('listitem', { name: 'broken' });
  await expect(row).toContainText(words.states.failed);
  await expectAccessible(page);
});

test('a worker that ends while it loads is told of, and can be loaded again', async ({ page, host }) => {
  await host.add('smollm2', 'crashing');
  const before = new Set(host.workers);
  const dialog = await dialogOf(page, 'crashing');
  await press(dialog, words.loadNow);
  await expect
    .poll(() => host.workers.filter((pid) => !before.has(pid)).length, { intervals: [5] })
    .toBeGreaterThan(0);
  for (const pid of host.workers.filter((pid) => !before.has(pid))) process.kill(pid, 'SIGKILL');
  await expect(dialog.getByRole('alert')).toContainText(/ended|killed|signal/);
  await press(dialog, words.loadNow);
  await expect(page.getByRole('listitem', { name: 'crashing' })).toContainText(words.states.loaded);
  await host.ebb('model', 'unload', 'crashing');
});
