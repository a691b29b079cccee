import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  // Relative, so that the same files work from the server, the desktop window and a folder.
  base: './',
  build: {
    target: 'es2022',
    // The first that know light-dark(): it is not written out for others.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { port: 5170, strictPort: true },
  // Under Vitest the browser's build of Svelte, not the server's.
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'], setupFiles: ['src/shared/testing.ts'] },
}));
