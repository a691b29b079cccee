import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { expect, go, test } from './host';

const words = text.settings;

test('a key is made, opens what its scope says, and no more once it is removed', async ({ page, host }) => {
  await host.load('minilm');
  await go(page, 'settings');
  const keys = page.getByRole('region', { name: words.keys, exact: true });
  await keys.getByLabel(words.keyName).fill('notes');
  await keys.getByRole('button', { name: words.addKey }).click();
  await expect(keys.getByText(words.newKey('notes'))).toBeVisible();
  const key = await keys.getByRole('status').locator('code').first().innerText();
  await expectAccessible(page);
  const status = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    return (await fetch(`${host.endpoint.url}${path}`, { method, headers, body: JSON.stringify(body) }))
      .status;
  };
  expect(await status('/v1/embeddings', { model: 'minilm', input: 'a' })).toBe(200);
  expect(await status('/ebb/v1/models/minilm/shrink', { targets: null })).toBe(403);

  // A second one of that name is refused at its place.
  await keys.getByLabel(words.keyName).fill('notes');
  await keys.getByRole('button', { name: words.addKey }).click();
  await expect(keys.getByRole('alert')).toContainText('notes');

  await keys.getByRole('button', { name: words.removeKey('notes') }).click();
  await expect(keys.getByText(words.noKeys)).toBeVisible();
  expect(await status('/v1/embeddings', { model: 'minilm', input: 'a' })).toBe(401);
});

test('where it is, what it runs on, and what it keeps are told', async ({ page, host }) => {
  await go(page, 'settings');
  const main = page.getByRole('main');
  await expect(main).toContainText(host.endpoint.url);
  await expect(main).toContainText(String(host.endpoint.pid));
  await expect(page.getByRole('region', { name: words.folders })).toContainText(host.home);
  await expect(main).toContainText(words.ways.http);
  await expectAccessible(page);
});

test('a theme that was chosen holds over a reload', async ({ page }) => {
  await go(page, 'settings');
  await page.getByRole('radio', { name: words.themes.dark }).check();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});
