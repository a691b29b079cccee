import { defineConfig } from '@playwright/test';

/**
 * The whole page in a real browser against a real host. `cargo xtask ui` builds both and sets what `e2e/host.ts` needs.
 */
export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  // One machine's memory is what is looked at: one host at a time.
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  reporter: [['list']],
  use: {
    viewport: { width: 1280, height: 820 },
    locale: 'en-GB',
    trace: 'off',
    launchOptions: {
      executablePath: process.env.EBB_CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
