import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    runes: true,
    // Classes of scoped styles stand at most elements: short ones are a part of the page's weight.
    cssHash: ({ hash, css }) => `s${hash(css).slice(0, 5)}`,
  },
};
