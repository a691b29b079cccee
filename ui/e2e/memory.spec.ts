import { readFileSync } from 'node:fs';

import type { Page } from '@playwright/test';

import { bytes } from '../src/shared/format';
import { shrinkWords } from '../src/shared/happened';
import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { ANY, type Host, expect, go, like, test } from './host';

const words = text.memory;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The memory view of an embedding model that has worked. */
async function watched(page: Page, host: Host, options: object = {}): Promise<void> {
  await host.load('minilm', options);
  await host.burst('minilm');
  await go(page, 'memory/minilm');
  await expect(page.getByRole('figure', { name: words.chartOf('minilm') })).toBeVisible();
}

/** Pixels of the chart that something was drawn on. */
const drawn = (page: Page) =>
  page.locator('figure canvas').evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length;
  });

test('the chart is drawn, and can be held, zoomed and read as a table', async ({ page, host }) => {
  await watched(page, host);
  await expect.poll(() => drawn(page)).toBeGreaterThan(1000);
  await button(page, words.pause).click();
  await expect(page.getByText(like(words.paused(ANY)))).toBeVisible();
  await button(page, words.zoomIn).click();
  await expect(button(page, words.reset)).toBeEnabled();
  await page.getByRole('slider').focus();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('slider')).toHaveAttribute('aria-valuetext', /\d\d:\d\d:\d\d/);
  await button(page, words.reset).click();
  await button(page, words.go).click();
  await page.getByText(words.figuresTable).click();
  await expect(page.getByRole('table', { name: words.chartOf('minilm') }).getByRole('row')).not.toHaveCount(
    1,
  );
  await expectAccessible(page);
});

test('a shrink is on screen at once, with what came back', async ({ page, host }) => {
  await watched(page, host);
  const status = page.getByRole('status').filter({ hasText: words.causes.request });
  const answer = page.waitForResponse(/\/minilm\/shrink$/);
  // In the page itself: what driving it from outside takes is not the page's.
  const shown_ms = page.evaluate((told) => {
    const place = document.querySelector('.actions [role=status]')!;
    const [press] = [...document.querySelectorAll('button')].filter(
      (one) => one.textContent?.trim() === told,
    );
    return new Promise<number>((done) => {
      const began = performance.now();
      new MutationObserver((_, observer) => {
        if (!/gave back/.test(place.textContent ?? '')) return;
        observer.disconnect();
        requestAnimationFrame(() => done(performance.now() - began));
      }).observe(place, { childList: true, subtree: true, characterData: true });
      press?.click();
    });
  }, words.shrink);
  const report = await (await answer).json();
  expect(report.freed_bytes).toBeGreaterThan(1024 * 1024);
  await expect(status).toContainText(shrinkWords(report)[0]!);
  const took_ms = (report.took_us + report.trim_us) / 1000;
  console.log(
    `shrink on screen after ${(await shown_ms).toFixed(0)} ms, of which the shrink took ${took_ms.toFixed(0)} ms`,
  );
});

test('a shrink can wait for the end of the next run', async ({ page, host }) => {
  await watched(page, host);
  await button(page, words.after).click();
  await expect(page.getByText(like(words.armed(0).replace('0', ANY)))).toBeVisible();
  await host.burst('minilm', 8);
  const status = page.getByRole('status').filter({ hasText: words.causes.after_run });
  await expect(status).toContainText('gave back');
  await expect(button(page, words.after)).toBeEnabled();
});

test('run options are set, told, refused and taken away', async ({ page, host }) => {
  await watched(page, host);
  const options = page.getByRole('region', { name: words.runOptions });
  const set = async (key: string, value: string) => {
    await options.getByLabel(words.key).fill(key);
    await options.getByLabel(words.value, { exact: true }).fill(value);
    await options.getByRole('button', { name: words.set, exact: true }).click();
  };
  const key = 'memory.enable_memory_arena_shrinkage';
  await expect(options.getByText(words.noRunOptions)).toBeVisible();
  await set(key, 'cpu:0');
  await expect(options.getByText(`${key} = cpu:0`)).toBeVisible();
  await host.burst('minilm', 8);
  await expect(page.getByRole('status').filter({ hasText: words.causes.runtime_option })).toBeVisible();

  await set(key, 'the attic');
  await expect(options.getByRole('alert')).toContainText('the attic');
  await expect(options.getByLabel(words.value, { exact: true })).toHaveValue('the attic');
  await expect(options.getByText(`${key} = cpu:0`)).toBeVisible();
  await expectAccessible(page);

  await options.getByRole('button', { name: words.removeOption(key) }).click();
  await expect(options.getByText(words.noRunOptions)).toBeVisible();
});

test('what the chart shows is saved as a table', async ({ page, host }) => {
  await watched(page, host);
  const answer = page.waitForResponse(/\/minilm\/shrink$/);
  await button(page, words.shrink).click();
  const report = await (await answer).json();
  await expect(page.getByRole('status').filter({ hasText: 'gave back' })).toBeVisible();
  const { now } = await host.call<{ now: { arenas: { in_use_bytes: number; reserved_bytes: number }[] } }>(
    'GET',
    '/ebb/v1/models/minilm/stats',
  );
  const slack = now.arenas.reduce((sum, arena) => sum + arena.reserved_bytes - arena.in_use_bytes, 0);
  await expect(page.getByText(words.slackHelp).locator('..')).toContainText(bytes(slack));
  await button(page, words.pause).click();
  const saved = page.waitForEvent('download');
  await button(page, words.csv).click();
  const lines = readFileSync(await (await saved).path(), 'utf8')
    .trim()
    .split('\n');
  expect(lines[0]).toBe('time,in_use_bytes,reserved_bytes,limit_bytes,resident_bytes,event,detail');
  const rows = lines.slice(1).map((line) => line.split(','));
  const times = rows.map(([time]) => Date.parse(time!));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(
    lines.filter((line) => line.includes(',shrink,') && line.includes(shrinkWords(report)[0]!)),
  ).toHaveLength(1);
  const last = rows.filter(([, in_use]) => in_use !== '').at(-1)!;
  const [arena] = now.arenas;
  expect(last.slice(1, 3).map(Number)).toEqual([arena?.in_use_bytes, arena?.reserved_bytes]);

  const picture = page.waitForEvent('download');
  await button(page, words.png).click();
  const png = readFileSync(await (await picture).path());
  expect(png.subarray(1, 4).toString()).toBe('PNG');
});

test('a worker that is killed is seen, and loaded again', async ({ page, host }) => {
  await host.ebb('model', 'unload', 'minilm').catch(() => undefined);
  const others = host.workers;
  await watched(page, host);
  const [pid] = host.workers.filter((pid) => !others.includes(pid));
  const began = Date.now();
  process.kill(pid!, 'SIGKILL');
  await expect(page.getByText(like(words.crashed(ANY, ANY)))).toBeVisible();
  console.log(`a killed worker was seen after ${Date.now() - began} ms`);
  await expect(page.getByText(words.staysDown)).toBeVisible();
  await expectAccessible(page);
  await button(page, words.load).click();
  await expect(page.getByRole('region', { name: words.cards })).toBeVisible();
  await expect(page.getByText(words.staysDown)).toBeHidden();
});

test('another cap loads the model again, a wrong one is refused', async ({ page, host }) => {
  await watched(page, host);
  const cap = page.getByRole('region', { name: words.headroom, exact: true });
  await cap.getByLabel(words.headroomOf).fill('a bit');
  await expect(cap.getByText(words.headroomWrong)).toBeVisible();
  await cap.getByLabel(words.headroomOf).fill('200MiB');
  await cap.getByRole('button', { name: words.apply }).click();
  await expect(page.getByText(like(words.reloaded(0, 0, 0).replace(/0.*/, ANY)))).toBeVisible();
  await expect(cap.getByText(like(words.headroomNow(ANY, ANY)))).toBeVisible();
});

test('without an arena it is said that there is nothing to shrink, and what helps', async ({
  page,
  host,
}) => {
  await host.load('minilm', { session_options: { enable_cpu_mem_arena: '0' } });
  await go(page, 'memory/minilm');
  await expect(page.getByText(words.arenaOff)).toBeVisible();
  await button(page, words.shrink).click();
  await expect(page.getByRole('status').filter({ hasText: /\d/ }).getByText(/./).first()).toBeVisible();
  await expect(page.getByRole('main')).toContainText(words.noArena);
  await expectAccessible(page);
});

test('the machine is told, and all models shrink at once', async ({ page, host }) => {
  await host.load('minilm');
  await host.load('minilm', {}, 'second');
  await host.burst('minilm');
  await host.burst('second');
  await go(page, 'memory/*');
  const holders = page.getByRole('region', { name: words.holders });
  await expect(holders.getByRole('row', { name: /^second/ })).toContainText('MiB');
  const answer = page.waitForResponse(/\/shrink-all$/);
  await button(page, words.shrinkAll).click();
  const report = await (await answer).json();
  expect(report.freed_bytes).toBeGreaterThan(1024 * 1024);
  await expect(page.getByText(words.allGaveBack(report.reports.length, report.freed_bytes))).toBeVisible();
  await expectAccessible(page);
  await host.ebb('model', 'unload', 'second');
});
