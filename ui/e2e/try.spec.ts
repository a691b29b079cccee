import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { expect, go, test } from './host';

const { embed, transcribe } = text.chat;

test('texts that mean alike are near to each other', async ({ page, host }) => {
  await host.load('minilm');
  await go(page, 'chat/embed');
  await page.getByRole('button', { name: embed.useExample }).click();
  await page.getByRole('button', { name: embed.run }).click();
  const matrix = page.getByRole('table', { name: embed.matrix });
  await expect(matrix.getByRole('row')).toHaveCount(6);
  const row = async (index: number) => {
    const cells = matrix
      .getByRole('row')
      .nth(index + 1)
      .getByRole('cell');
    return (await cells.allTextContents()).map((said) => Number(said.replace('−', '-')));
  };
  const [cat, kitten] = [await row(0), await row(1)];
  expect(cat[1]).toBeGreaterThan(0.5);
  expect(cat[1]).toBe(kitten[0]);
  expect(cat[1]).toBeGreaterThan(Math.max(...cat.slice(2)));
  await expect(page.getByText(embed.nearest)).toBeVisible();
  await expectAccessible(page);
});

test('a reading is written down, word by word, and can be saved', async ({ page, host }) => {
  await host.load('moonshine');
  // The first ten seconds, in a file of their own.
  const whole = readFileSync(join(host.models, 'moonshine', 'two_cities.wav'));
  const bytes = 10 * 96_000;
  const wav = Buffer.from(whole.subarray(0, 44 + bytes));
  wav.writeUInt32LE(36 + bytes, 4);
  wav.writeUInt32LE(bytes, 40);
  await go(page, 'chat/transcribe');
  await page.getByLabel(transcribe.file).setInputFiles({
    name: 'two cities ١٢.wav',
    mimeType: 'audio/wav',
    buffer: wav,
  });
  const table = page.getByRole('table');
  await expect(table).toContainText(/it was the best of times/i);
  await expect(page.getByRole('status').filter({ hasText: 'times as fast' })).toBeVisible();
  await expectAccessible(page);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: transcribe.save.srt }).click();
  const srt = readFileSync(await (await saved).path(), 'utf8');
  expect(srt).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:\d\d,\d{3}\nIt was the best of times/i);
  await host.ebb('model', 'unload', 'moonshine');
});

test('a file that is no sound is refused in words', async ({ page, host }) => {
  await host.load('moonshine');
  await go(page, 'chat/transcribe');
  await page.getByLabel(transcribe.file).setInputFiles({
    name: 'garbage.wav',
    mimeType: 'audio/wav',
    buffer: Buffer.from('RIFF'.repeat(1000)),
  });
  await expect(page.getByRole('main').getByRole('alert')).toContainText(/WAV|sound|audio/);
  await host.ebb('model', 'unload', 'moonshine');
});
