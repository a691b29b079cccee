import { createRequire } from 'node:module';

import { type Page, expect } from '@playwright/test';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Fails with every violation that axe finds on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) {
    // As an evaluated text, not as a script element: the page's own policy allows none.
    const { readFileSync } = await import('node:fs');
    await page.evaluate(readFileSync(axe, 'utf8'));
  }
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    interface Violation {
      id: string;
      help: string;
      nodes: { html: string; failureSummary: string }[];
    }
    const { violations } = await axe.run();
    return violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.slice(0, 3).map((node) => `${node.html} — ${node.failureSummary}`),
    }));
  });
  expect(violations).toEqual([]);
}

/** Fails where something is wider than its place, so that a part of it is out of sight; `where` is for whoever reads that. */
export async function expectFits(page: Page, where: string): Promise<void> {
  const wide = await page.evaluate(() => {
    const places = [document.documentElement, ...document.querySelectorAll('main, dialog[open] .body')];
    return places
      .filter((place) => place.scrollWidth > place.clientWidth)
      .flatMap((place) => {
        const { right } = place.getBoundingClientRect();
        const beyond = [...place.querySelectorAll('*')].filter(
          (element) => element.getBoundingClientRect().right > right,
        );
        return beyond.slice(-3).map((element) => element.outerHTML.slice(0, 200));
      });
  });
  expect(wide, where).toEqual([]);
}
