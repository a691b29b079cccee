import { text } from '../src/text/en';
import { expectAccessible, expectFits } from './access';
import { expect, test } from './host';

const VIEWS = Object.entries(text.app.views);

for (const scheme of ['light', 'dark'] as const) {
  test(`each view is there and accessible in ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    // Keys are heard once the page is there.
    await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
    for (const [index, [view, name]] of VIEWS.entries()) {
      await page.keyboard.press(`Control+${index + 1}`);
      await expect(page.getByRole('link', { name, exact: true })).toHaveAttribute('aria-current', 'page');
      await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page).toHaveURL(new RegExp(`#/${view}`));
      await expectAccessible(page);
    }
  });
}

test('at twice the size nothing is cut off', async ({ page }) => {
  // 200 % of 1280 pixels leaves 640.
  await page.setViewportSize({ width: 640, height: 410 });
  for (const [view] of VIEWS) {
    await page.evaluate((to) => (location.hash = `/${to}`), view);
    await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
    await expectFits(page, view);
  }
});
