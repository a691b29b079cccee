import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, expect, test, vi } from 'vitest';

import { notices } from '../live/notices.svelte';
import { text } from '../text/en';
import Copy from './Copy.svelte';

afterEach(() => vi.unstubAllGlobals());

test('a browser that does not let the page copy is told of', async () => {
  const writeText = () => Promise.reject(new Error('Write permission denied'));
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  render(Copy, { value: 'ebb model load minilm' });
  await fireEvent.click(screen.getByRole('button', { name: text.shared.copy }));
  await waitFor(() =>
    expect(notices.list.map(({ text }) => text)).toEqual([text.shared.notCopied('Write permission denied')]),
  );
  expect(screen.queryByText(text.shared.copied)).toBeNull();
});
