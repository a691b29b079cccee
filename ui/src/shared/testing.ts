/** What jsdom lacks, for every test of a component. */
import { cleanup, configure } from '@testing-library/svelte';
import { afterEach } from 'vitest';

// A busy machine is slow, not wrong.
configure({ asyncUtilTimeout: 5000 });

afterEach(() => cleanup());

HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false;
};
window.matchMedia ??= (query: string) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
  }) as unknown as MediaQueryList;
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};
