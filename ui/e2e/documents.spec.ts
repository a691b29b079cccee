import { join } from 'node:path';

import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { ANY, expect, go, like, test } from './host';

const words = text.plugins;
const NAME = 'Ask your documents';
const DOCS = join(import.meta.dirname, '../../plugins/rag/eval/docs');

test('documents are granted, indexed and asked, and an answer opens its passage', async ({ page, host }) => {
  await host.load('minilm');
  await host.load('smollm2');
  await go(page, 'plugins/rag');
  await expect(page.getByRole('region', { name: words.rag.setup })).toContainText(words.rag.todo);
  await expectAccessible(page);
  await page.getByRole('button', { name: words.rag.grantButton }).click();
  const consent = page.getByRole('dialog', { name: words.consent.title(NAME) });
  const allow = async (capability: string) => {
    const part = consent.locator('section', {
      has: page.getByLabel(words.consent.allow(capability), { exact: true }),
    });
    await part.getByLabel(words.consent.allow(capability), { exact: true }).check();
    return part;
  };
  await allow('store');
  await (await allow('inference.embed')).getByRole('checkbox', { name: 'minilm' }).check();
  await (await allow('inference.generate')).getByRole('checkbox', { name: 'smollm2' }).check();
  const documents = await allow('documents');
  await documents.getByLabel(words.consent.paths).fill(join(DOCS, 'mill'));
  await documents.getByRole('button', { name: words.consent.addPath, exact: true }).click();
  await consent.getByRole('button', { name: words.consent.grant(4) }).click();
  await expect(consent).toBeHidden();

  const tab = (name: string) =>
    page
      .getByRole('navigation', { name: words.sections(NAME) })
      .getByRole('link', { name })
      .click();
  await tab(words.tabs.documents);
  await page.getByRole('button', { name: words.rag.ingest }).click();
  await expect(
    page.getByRole('status').filter({ hasText: /^Read 6 documents into \d+ passages/ }),
  ).toBeVisible();
  await expectAccessible(page);

  await tab(words.tabs.ask);
  const question = page.getByRole('textbox', { name: words.rag.question });
  await question.fill('How fast may the water wheel turn at most?');
  await question.press('Enter');
  // A small model that reads five passages.
  await expect(page.getByText(like(words.rag.took(0).replace(/0.*/, ANY)))).toBeVisible({ timeout: 60_000 });
  const source = page.locator('button.source', { hasText: 'machinery.md' });
  await source.first().click();
  const passage = page.getByRole('dialog', { name: /machinery\.md/ });
  await expect(passage).toContainText('Never let it run above twelve turns a minute');
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  // What was asked is still there after a reload.
  await page.reload();
  await expect(page.getByText('How fast may the water wheel turn at most?')).toBeVisible();

  await tab(words.tabs.permissions);
  await page.getByRole('button', { name: words.permissions.revokeAll('documents'), exact: true }).click();
  await expect(page.getByText(words.permissions.revoked('documents'))).toBeVisible();
});

test('a folder that is not there is refused, and stays to be corrected', async ({ page }) => {
  await go(page, 'plugins/rag/documents');
  await page.getByLabel(words.rag.addLabel).fill('/nowhere/at all');
  await page.getByRole('button', { name: words.rag.add, exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('/nowhere/at all');
  await expect(page.getByLabel(words.rag.addLabel)).toHaveValue('/nowhere/at all');
});
