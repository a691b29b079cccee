import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';

import { use } from '../api';
import { FakeHost, fake } from '../api/fake';
import { dropped } from '../live/dropped.svelte';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { route } from '../live/route.svelte';
import { system } from '../live/system.svelte';
import { text } from '../text/en';
import Models from './Models.svelte';
import { adding } from './adding.svelte';

const words = text.models;
const MiB = 1024 * 1024;
let host: FakeHost;

beforeEach(async () => {
  host = new FakeHost();
  use(fake(host));
  notices.list = [];
  adding.jobs = [];
  location.hash = '#/models';
  await vi.waitFor(() => expect(route.rest).toBe(''));
});

async function shown(): Promise<void> {
  await models.refresh();
  await system.refresh();
  render(Models);
}

const row = (alias: string) => within(screen.getByRole('listitem', { name: alias }));
const action = (name: string, alias: string) =>
  row(alias).getByRole('button', { name: words.actionOf(name, alias) });
const said = () => notices.list.map((notice) => notice.text || notice.error?.message);

test('each model says what it is and what it holds', async () => {
  host.load('minilm', {} as never);
  host.run('minilm', 40 * MiB);
  await shown();
  const minilm = row('minilm');
  expect(minilm.getByText(words.states.loaded)).toBeTruthy();
  expect(minilm.getByText('184.0 MiB resident')).toBeTruthy();
  expect(minilm.getByText('88.0 MiB in use of 128.0 MiB reserved')).toBeTruthy();
  expect(minilm.getByText(/Embeddings/).textContent).toMatch(/Embeddings · 88\.0 MiB\s+· cpu/);
  expect(row('moonshine').getByText(words.states.unloaded)).toBeTruthy();
  expect(screen.getByText('3 models · 1 in memory, 184.0 MiB resident')).toBeTruthy();
});

test('a model that failed says why', async () => {
  host.load('minilm', {} as never);
  host.crash('minilm');
  await shown();
  expect(row('minilm').getByText('killed by signal 9')).toBeTruthy();
  expect(action(words.load, 'minilm')).toBeTruthy();
});

test('shrinking says in words what came back', async () => {
  host.load('minilm', {} as never);
  host.run('minilm', 66 * MiB);
  await shown();
  action(words.shrink, 'minilm').click();
  await waitFor(() =>
    expect(said()).toEqual(['minilm: gave back 62.0 MiB of 154.0 MiB in 19 ms; resident 210.0 → 148.0 MiB']),
  );
});

test('unloading says what came back, and the model can be loaded again', async () => {
  host.load('minilm', {} as never);
  await shown();
  action(words.unload, 'minilm').click();
  await waitFor(() => expect(said()).toEqual(['minilm is unloaded: 148.0 MiB came back.']));
  expect(
    await row('minilm').findByRole('button', { name: words.actionOf(words.load, 'minilm') }),
  ).toBeTruthy();
});

test('what is refused is told', async () => {
  host.load('minilm', {} as never);
  await shown();
  host.unload('minilm');
  action(words.shrink, 'minilm').click();
  await waitFor(() => expect(said()).toEqual(["'minilm' is not loaded"]));
});

test('a model is removed only after a question', async () => {
  await shown();
  action(words.remove, 'moonshine').click();
  const dialog = within(await screen.findByRole('dialog'));
  expect(dialog.getByText('/models/moonshine-tiny')).toBeTruthy();
  dialog.getByRole('button', { name: text.shared.cancel }).click();
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(host.models.has('moonshine')).toBe(true);

  action(words.remove, 'moonshine').click();
  (await screen.findByRole('button', { name: words.removeNow })).click();
  await waitFor(() => expect(screen.queryByRole('listitem', { name: 'moonshine' })).toBeNull());
  expect(said()).toEqual([words.removed('moonshine')]);
});

test('of 500 models few are made at once, and the filter finds each', async () => {
  for (let index = 0; index < 500; index++) host.add(`model-${index}`, 'chat', index, `/models/${index}`);
  await shown();
  expect(screen.getAllByRole('listitem')).toHaveLength(40);
  await fireEvent.click(screen.getByRole('button', { name: words.more(463) }));
  expect(screen.getAllByRole('listitem')).toHaveLength(80);
  await fireEvent.input(screen.getByLabelText(words.filter), { target: { value: 'model-499' } });
  expect(screen.getAllByRole('listitem')).toHaveLength(1);
  await fireEvent.input(screen.getByLabelText(words.filter), { target: { value: 'nothing like it' } });
  await fireEvent.click(screen.getByRole('button', { name: words.showAll }));
  expect(screen.getAllByRole('listitem')).toHaveLength(40);
});

test('names are text, whatever is in them', async () => {
  const names = ['n'.repeat(300), 'نموذج', '<img src=x onerror=alert(1)>', 'a/b?c#d'];
  for (const name of names) host.add(name, 'chat', Number.MAX_SAFE_INTEGER, '/');
  await shown();
  for (const name of names) expect(screen.getByRole('heading', { name, level: 2 })).toBeTruthy();
  expect(document.querySelector('li img')).toBeNull();
  action(words.load, 'a/b?c#d').click();
  expect(await screen.findByRole('heading', { name: words.loadTitle('a/b?c#d') })).toBeTruthy();
});

test('without a model the view teaches, and the demo models are one click away', async () => {
  host.models.clear();
  await shown();
  expect(screen.getByRole('heading', { name: words.emptyTitle })).toBeTruthy();
  screen.getByRole('button', { name: words.tabs.demo }).click();
  const dialog = within(await screen.findByRole('dialog'));
  const add = words.demoOf(words.demoAdd, 'all-MiniLM-L6-v2');
  (await dialog.findByRole('button', { name: add })).click();
  expect(await screen.findByRole('listitem', { name: 'minilm' })).toBeTruthy();
  expect(said()).toEqual([words.jobAdded('minilm')]);
});

test('a path is added; one that is refused can be tried again', async () => {
  await shown();
  screen.getByRole('button', { name: words.add }).click();
  const dialog = within(await screen.findByRole('dialog'));
  await fireEvent.input(dialog.getByLabelText(words.path), { target: { value: 'relative/model' } });
  dialog.getByRole('button', { name: words.addNow }).click();
  const jobs = within(await screen.findByRole('region', { name: words.jobs }));
  expect(await jobs.findByText('relative/model is not an absolute path')).toBeTruthy();
  expect(jobs.getByRole('button', { name: text.shared.retry })).toBeTruthy();
  jobs.getByRole('button', { name: text.shared.close }).click();
  await waitFor(() => expect(screen.queryByRole('region', { name: words.jobs })).toBeNull());
});

test('a download shows how far it is and can be cancelled', async () => {
  use(fake(host, undefined, { every_ms: 5 }));
  await shown();
  screen.getByRole('button', { name: words.add }).click();
  await fireEvent.click(await screen.findByRole('tab', { name: words.tabs.hub }));
  const name = screen.getByLabelText(words.hub);
  await fireEvent.input(name, { target: { value: 'hf:somebody/some-model' } });
  screen.getByRole('button', { name: words.pullNow }).click();
  const bar = await screen.findByRole('progressbar', {
    name: /^hf:somebody\/some-model: downloading, .* of 80/,
  });
  const jobs = within(screen.getByRole('region', { name: words.jobs }));
  jobs.getByRole('button', { name: text.shared.cancel }).click();
  await waitFor(() => expect(bar.isConnected).toBe(false));
  expect(host.models.has('some-model')).toBe(false);
  expect(said()).toEqual([]);
});

test('what is dropped on the window is added', async () => {
  await shown();
  dropped.take(['/data/me/one', '/data/me/two.gguf']);
  expect(await screen.findByRole('listitem', { name: 'one' })).toBeTruthy();
  expect(await screen.findByRole('listitem', { name: 'two.gguf' })).toBeTruthy();
  expect(dropped.models).toEqual([]);
});
