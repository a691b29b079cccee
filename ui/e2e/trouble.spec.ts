import { mkdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { Host, alone, expect, go } from './host';

alone(
  'a host that is gone is said, and the page goes on by itself once it is let in again',
  async ({ page, host, context }) => {
    await page.getByRole('dialog').getByRole('button', { name: text.welcome.skip }).click();
    const { port } = new URL(host.endpoint.url);
    await host.stop('SIGKILL');
    await expect(page.getByText(text.app.lost)).toBeVisible();
    await expectAccessible(page);

    // It keeps no cookie of the one before it.
    const link = await host.start(Number(port));
    await expect(page.getByText(text.app.unknownHere)).toBeVisible();
    await expectAccessible(page);
    const other = await context.newPage();
    await other.goto(link);
    await host.add('minilm');
    await expect(page.getByText(text.app.unknownHere)).toBeHidden();
    await expect(page.getByRole('listitem', { name: 'minilm' })).toBeVisible();
  },
);

alone('a link works once, and a stranger is told how to get one', async ({ host, browser }) => {
  const link = await host.link();
  const [one, two] = [await browser.newContext(), await browser.newContext()];
  const [first, second] = [await one.newPage(), await two.newPage()];
  await first.goto(link);
  await expect(first.getByRole('navigation', { name: text.app.navigation })).toBeVisible();
  await second.goto(link);
  await expect(second.getByRole('heading')).toContainText('does not work any more');
  await expect(second.getByText('ebb ui')).toBeVisible();
  await expectAccessible(second);
  await second.goto(host.endpoint.url);
  await expect(second.getByRole('heading')).toContainText('does not know this browser');
  await expectAccessible(second);
  await Promise.all([one.close(), two.close()]);
});

alone('what cannot be kept is said where it was asked for', async ({ page, host }) => {
  await page.getByRole('dialog').getByRole('button', { name: text.welcome.skip }).click();
  // As on a disk that takes nothing more, whoever runs this.
  for (const name of ['keys.json', 'models.json']) {
    rmSync(join(host.home, name), { force: true });
    mkdirSync(join(host.home, name, 'in the way'), { recursive: true });
  }
  await go(page, 'settings');
  const keys = page.getByRole('region', { name: text.settings.keys, exact: true });
  await keys.getByLabel(text.settings.keyName).fill('notes');
  await keys.getByRole('button', { name: text.settings.addKey }).click();
  await expect(keys.getByRole('alert')).toContainText('keys.json');
  await expect(keys.getByLabel(text.settings.keyName)).toHaveValue('notes');

  await go(page, 'models');
  await page.getByRole('main').getByRole('button', { name: text.models.tabs.demo }).click();
  await page.getByRole('button', { name: /all-MiniLM-L6-v2/ }).click();
  const jobs = page.getByRole('region', { name: text.models.jobs });
  await expect(jobs.getByRole('alert')).toContainText('models.json');
  await expectAccessible(page);
  for (const name of ['keys.json', 'models.json']) rmSync(join(host.home, name), { recursive: true });
  await jobs.getByRole('button', { name: text.shared.retry }).click();
  await expect(page.getByRole('listitem', { name: 'minilm' })).toBeVisible();
});

alone('a port that is taken is said, and no host is left', async ({}) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => taken.once('listening', done));
  const { port } = taken.address() as AddressInfo;
  const host = new Host();
  await expect(host.start(port)).rejects.toThrow(new RegExp(`${port}`));
  await expect(host.ebb('server', 'status')).rejects.toMatchObject({ code: 3 });
  host.remove();
  taken.close();
});
