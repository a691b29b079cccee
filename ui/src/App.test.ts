import { render, screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';

import { use } from './api';
import { FakeHost, fake } from './api/fake';
import App from './App.svelte';
import { route } from './live/route.svelte';
import { text } from './text/en';

let broken = true;
vi.mock('./activity/Activity.svelte', async () => {
  const { default: About } = await import('./settings/About.svelte');
  const view = (...given: Parameters<typeof About>) => {
    if (broken) throw new TypeError('x is undefined');
    return About(...given);
  };
  return { default: view };
});

test('a view that breaks says so and can be tried again; the others go on', async () => {
  use(fake(new FakeHost()));
  route.view = 'activity';
  render(App);
  const said = await screen.findByText(text.app.broken('x is undefined'));
  expect(said).toBeTruthy();
  expect(screen.getByText(text.app.brokenHint)).toBeTruthy();
  broken = false;
  screen.getByRole('button', { name: text.shared.retry }).click();
  await waitFor(() => expect(screen.queryByText(text.app.broken('x is undefined'))).toBeNull());
  route.view = 'settings';
  expect(await screen.findByRole('heading', { name: text.settings.title })).toBeTruthy();
});
