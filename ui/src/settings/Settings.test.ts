import { render, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, test } from 'vitest';

import { use } from '../api';
import { FakeHost, fake } from '../api/fake';
import { text } from '../text/en';
import Settings from './Settings.svelte';

beforeEach(() => {
  localStorage.clear();
  delete document.documentElement.dataset.theme;
  use(fake(new FakeHost()));
});

const section = (name: string) => within(screen.getByRole('region', { name }));

test('a theme is put on the page and kept', async () => {
  render(Settings);
  section(text.settings.look).getByLabelText(text.settings.themes.dark).click();
  expect(document.documentElement.dataset.theme).toBe('dark');
  expect(localStorage.getItem('ebb.theme')).toBe('dark');
  section(text.settings.look).getByLabelText(text.settings.themes.system).click();
  expect(document.documentElement.dataset.theme).toBeUndefined();
});

test('a key is made, shown once, refused twice and removed', async () => {
  render(Settings);
  const keys = section(text.settings.keys);
  const add = async (name: string) => {
    const field = keys.getByLabelText(text.settings.keyName) as HTMLInputElement;
    field.value = name;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    keys.getByRole('button', { name: text.settings.addKey }).click();
  };
  await add('notebook');
  expect(await keys.findByText('ebb-0123456789abcdef')).toBeTruthy();
  expect(await keys.findByRole('button', { name: text.settings.removeKey('notebook') })).toBeTruthy();
  await add('notebook');
  expect(await keys.findByText("there is a key 'notebook'")).toBeTruthy();
  keys.getByRole('button', { name: text.settings.removeKey('notebook') }).click();
  await waitFor(() => expect(keys.queryByText('ebb-0123456789abcdef')).toBeNull());
  expect(await keys.findByText(text.settings.noKeys)).toBeTruthy();
});

test('checks say what was found and what helps', async () => {
  render(Settings);
  const checks = section(text.settings.checks);
  expect(await checks.findByText('ONNX Runtime 1.31.1')).toBeTruthy();
  expect(checks.getByText('models run on the CPU')).toBeTruthy();
});

test('nothing of the desktop is offered in a browser', () => {
  render(Settings);
  expect(screen.queryByRole('region', { name: text.settings.desktop })).toBeNull();
});
