import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { expect, go, test } from './host';

const words = text.models;

const LONG = 'x'.repeat(300);
const HOSTILE = `"><img src=x onerror=alert(1)> '; rm -rf ~ \u202Eتسبيح`;

/** What is typed into a field, and what is said there. */
const WRONG: [path: string, typed: string, said: string | RegExp][] = [
  ['shrink_every', '-1', words.wrong.count],
  ['shrink_every', '1e3', words.wrong.count],
  ['shrink_every', '4294967296', words.wrong.count],
  ['keep_alive', 'soon', words.wrong.duration],
  ['keep_alive', HOSTILE, words.wrong.duration],
  ['threads', '٣', words.wrong.count],
  ['threads', LONG, words.wrong.count],
  ['batch_tokens', '0', 'a batch of 0 tokens holds no text'],
  ['batch_tokens', '0.5', words.wrong.count],
  ['device', 'first', words.wrong.count],
  ['arena_options.max_mem', 'a lot', words.severities.error],
  ['arena_options.max_mem', '-1', words.severities.error],
  ['arena_options.max_mem', '99999999999999999999TiB', words.severities.error],
  ['arena_options.max_mem', '1', 'below the weights'],
  ['arena_options.max_mem', HOSTILE, words.severities.error],
  ['arena_options.working_mem', LONG, words.severities.error],
  ['arena_options.initial_chunk_size_bytes', 'NaN', words.severities.error],
];

test('each wrong value is told at its field, and none is lost', async ({ page, host }) => {
  await host.add('minilm', 'mistyped');
  await go(page, 'models/mistyped');
  const dialog = page.getByRole('dialog');
  const place = (path: string) => dialog.locator(`[data-path="${path}"]`);
  for (const [path, typed, said] of WRONG) {
    const input = place(path).locator('input');
    await input.fill(typed);
    await expect(place(path), `${path} = ${typed.slice(0, 20)}`).toContainText(said);
    await expect(input).toHaveValue(typed);
  }
  await expectAccessible(page);

  // What is wrong is gone to, and a closed dialog forgets nothing.
  await dialog.getByRole('button', { name: words.loadNow, exact: true }).click();
  await expect(dialog.locator('input:focus')).toHaveAttribute('aria-invalid', 'true');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await page.getByRole('button', { name: words.actionOf(words.load, 'mistyped') }).click();
  await expect(dialog.getByText(words.keptDraft)).toBeVisible();
  const last = new Map(WRONG.map(([path, typed]) => [path, typed]));
  for (const [path, typed] of last) await expect(place(path).locator('input')).toHaveValue(typed);
  await dialog.getByRole('button', { name: words.startOver }).click();
  await expect(place('threads').locator('input')).toHaveValue('');
});

test('keys of one’s own are checked, and the nearest known one is offered', async ({ page, host }) => {
  await host.add('minilm', 'own-keys');
  await go(page, 'models/own-keys');
  const dialog = page.getByRole('dialog');
  const rows = dialog.locator('li[data-path^="row "]');
  const add = async (key: string, value: string) => {
    await dialog.getByRole('button', { name: words.rowAdd }).click();
    await rows.last().getByLabel(words.rowKey, { exact: true }).fill(key);
    await rows.last().getByLabel(words.rowValue).fill(value);
    return rows.last();
  };
  const misspelt = await add('session.disable_prepackin', '1');
  await misspelt.getByRole('button', { name: words.useNearest('session.disable_prepacking') }).click();
  await expect(misspelt.getByLabel(words.rowKey, { exact: true })).toHaveValue('session.disable_prepacking');
  await expect(misspelt.getByRole('button', { name: words.useNearest('') })).toBeHidden();

  await expect(await add('', 'a value')).toContainText(words.wrong.key);
  await expect(await add('session.disable_prepacking', '0')).toContainText(words.wrong.twice);
  const nobodys = await add('key', 'value');
  await nobodys.getByLabel(words.rowScope).selectOption('provider');
  await expect(nobodys).toContainText(words.wrong.provider);
  for (const key of ['__proto__', 'constructor', HOSTILE, LONG]) {
    await expect(await add(key, key)).toContainText(words.severities.warning);
  }
  await expect(await add(LONG.repeat(10), '1')).toContainText('3000 bytes');
  await expect(dialog.locator('img')).toHaveCount(0);
  await expectAccessible(page);
});
