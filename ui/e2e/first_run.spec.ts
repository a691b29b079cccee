import { text } from '../src/text/en';
import { expectAccessible } from './access';
import { ANY, alone, expect, like } from './host';

const words = text.welcome;

alone('whoever comes first sees memory taken and given back in three presses', async ({ page }) => {
  const tour = page.getByRole('dialog', { name: words.title });
  const press = (name: string) => tour.getByRole('button', { name }).click();
  await expect(tour.getByText(like(words.free(ANY, ANY)))).toBeVisible();
  await expect(tour.getByText(like(words.modelBody('all-MiniLM-L6-v2', ANY)))).toBeVisible();
  await expectAccessible(page);

  await press(words.modelNow);
  await expect(tour.getByText(like(words.modelDone('minilm', ANY)))).toBeVisible();
  await press(words.burstNow);
  await expect(tour.getByText(like(words.burstDone(ANY, ANY, ANY)))).toBeVisible();

  const answer = page.waitForResponse(/\/minilm\/shrink$/);
  await press(words.shrinkNow);
  const report = await (await answer).json();
  expect(report.freed_bytes).toBeGreaterThan(1024 * 1024);
  await expect(tour.getByText(words.shrinkDone(report))).toBeVisible();
  await expectAccessible(page);

  await press(words.toMemory);
  await expect(tour).toBeHidden();
  await expect(page.getByRole('figure', { name: text.memory.chartOf('minilm') })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: text.memory.title, exact: true })).toBeVisible();
  await expect(tour).toBeHidden();
});

alone('an empty list teaches how to fill it', async ({ page }) => {
  await page.getByRole('dialog').getByRole('button', { name: words.skip }).click();
  await expect(page.getByRole('heading', { name: text.models.emptyTitle })).toBeVisible();
  await expectAccessible(page);
  const main = page.getByRole('main');
  await main.getByRole('button', { name: text.models.tabs.demo }).click();
  const demo = page.getByRole('dialog', { name: text.models.addTitle });
  await expectAccessible(page);
  await demo
    .getByRole('button', { name: text.models.demoOf(text.models.demoAdd, 'all-MiniLM-L6-v2') })
    .click();
  await expect(main.getByRole('listitem', { name: 'minilm' })).toContainText(text.models.states.unloaded);
});
