import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';

import { use } from '../api';
import { FakeHost, FakePlugins, fake } from '../api/fake';
import { dropped } from '../live/dropped.svelte';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { route } from '../live/route.svelte';
import Plugins from './Plugins.svelte';
import { plugins } from './plugins.svelte';

let host: FakeHost;
let shipped: FakePlugins;

beforeEach(async () => {
  localStorage.clear();
  host = new FakeHost();
  host.load('minilm', {} as never);
  host.load('smollm2', {} as never);
  shipped = new FakePlugins(host);
  use(fake(host, shipped));
  [plugins.list, plugins.known, notices.list] = [[], false, []];
  await models.refresh();
});

async function at(rest: string): Promise<void> {
  [route.view, route.rest] = ['plugins', rest];
  render(Plugins);
  await screen.findByRole('navigation', { name: 'All plugins' });
}

const press = (name: string | RegExp) => fireEvent.click(screen.getByRole('button', { name }));
const tick = (label: string | RegExp) => fireEvent.click(screen.getByLabelText(label));
const granted = (id: string) =>
  shipped.of(id).capabilities.flatMap(({ granted }) => (granted ? [granted] : []));

test('what ships is listed; one that cannot be used says why and has no pages that need it', async () => {
  shipped.change('idle', { broken: 'built for ebb:plugin 9.0' });
  await at('idle');
  expect(screen.getByRole('link', { name: /Slack/ })).toBeTruthy();
  expect(screen.getByRole('alert').textContent).toContain('built for ebb:plugin 9.0');
  expect(screen.queryByRole('link', { name: 'Settings' })).toBeNull();
});

test('consent: each capability with the author’s reason and the host’s words, and nothing unless it is ticked', async () => {
  await at('rag');
  await press('Choose what it may do…');
  const dialog = within(screen.getByRole('dialog'));
  expect(dialog.getByText('have models turn texts into vectors')).toBeTruthy();
  expect(dialog.getByText('to find passages by what they mean')).toBeTruthy();
  expect(dialog.getAllByRole('checkbox').some((box) => (box as HTMLInputElement).checked)).toBe(false);
  expect((dialog.getByRole('button', { name: 'Allow' }) as HTMLButtonElement).disabled).toBe(true);

  await tick('Allow inference.embed');
  // Models that write are of no use for that.
  expect(dialog.queryByLabelText('smollm2')).toBeNull();
  await press('Allow 1 permission');
  expect(dialog.getByText('Choose at least one model, or every model.')).toBeTruthy();
  expect(granted('rag')).toEqual([]);

  await tick('minilm');
  await press('Allow 1 permission');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(granted('rag')).toEqual([{ capability: 'inference.embed', models: ['minilm'], paths: [] }]);
});

test('closing the consent dialog grants nothing', async () => {
  await at('idle/permissions');
  await press('Allow…');
  await tick('Allow memory.control');
  await press('Cancel');
  expect(granted('idle')).toEqual([]);
});

test('asked, granted and used stand side by side, and a grant can be taken back', async () => {
  shipped.grant('idle', [{ capability: 'memory.control', models: ['minilm', 'smollm2'], paths: [] }]);
  shipped.used('idle', 'memory.control');
  await at('idle/permissions');
  const row = within((await screen.findByText('memory.control')).closest('tr') as HTMLElement);
  expect(row.getByText('to shrink a model that nobody asks, and to unload it later')).toBeTruthy();
  expect(row.getByText(/1 call/)).toBeTruthy();
  await press('Revoke memory.control on minilm');
  await waitFor(() => expect(granted('idle')[0]?.models).toEqual(['smollm2']));
  await press('Revoke memory.control');
  await waitFor(() => expect(granted('idle')).toEqual([]));
  await screen.findByText('Not granted');
});

test('a policy decides for a model only once that was allowed', async () => {
  await at('slack/models');
  await screen.findByText('It decides for no model yet.');
  const attach = () => screen.getByRole('button', { name: 'Let it decide' }) as HTMLButtonElement;
  expect(attach().disabled).toBe(true);
  await tick('Allow this on minilm alone');
  await fireEvent.click(attach());
  await screen.findByRole('region', { name: 'Policies of minilm' });
  expect(shipped.order.get('minilm')).toEqual(['slack']);
  expect(granted('slack')).toEqual([{ capability: 'memory.control', models: ['minilm'], paths: [] }]);
});

test('policies are put in order by buttons, which keep the focus; the host’s reason to detach is shown', async () => {
  for (const id of ['idle', 'slack']) shipped.attach(id, 'minilm', null, true);
  const [attachment] = shipped.of('idle').attachments;
  if (attachment === undefined) throw new Error('it is attached');
  const detached_because = 'it failed 5 times in a row: trap';
  shipped.change('idle', { attachments: [{ ...attachment, active: false, detached_because }] });
  await at('slack/models');
  await screen.findByText(detached_because);
  screen.getByRole('button', { name: 'Ask Slack earlier for minilm' }).focus();
  await press('Ask Slack earlier for minilm');
  await waitFor(() => expect(shipped.order.get('minilm')).toEqual(['slack', 'idle']));
  // At the top it cannot go further up: its counterpart has the focus.
  await waitFor(() =>
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Ask Slack later for minilm'),
  );
  await screen.findByText('Slack is number 1 of 2 on minilm now.');
  await press('Detach Slack from minilm');
  await waitFor(() => expect(shipped.order.get('minilm')).toEqual(['idle']));
});

test('settings: what is wrong is said at the field, what is changed is saved, and defaults come back', async () => {
  await at('idle/settings');
  const field = await screen.findByLabelText<HTMLInputElement>('Shrink after, in seconds');
  const save = () => screen.getByRole('button', { name: 'Save settings' }) as HTMLButtonElement;
  await fireEvent.input(field, { target: { value: '0' } });
  expect(screen.getByRole('alert').textContent).toBe('At least 1.');
  expect([field.getAttribute('aria-invalid'), save().disabled]).toEqual(['true', true]);
  await fireEvent.input(field, { target: { value: '45' } });
  await fireEvent.click(save());
  await waitFor(() => expect(shipped.of('idle').settings.shrink_after_s).toBe(45));
  await press('Set all to their defaults');
  await waitFor(() => expect(shipped.of('idle').settings.shrink_after_s).toBe(30));
  await waitFor(() => expect(field.value).toBe('30'));
});

test('the log follows, and is filtered', async () => {
  await at('slack/log');
  await screen.findByText('installed');
  shipped.say('slack', 'warn', 'the arena is close to its cap');
  await screen.findByText('the arena is close to its cap');
  await fireEvent.change(screen.getByLabelText('From level'), { target: { value: 'warn' } });
  expect(screen.queryByText('installed')).toBeNull();
});

test('a dropped plugin is installed, granted nothing, and asks at once', async () => {
  await at('');
  dropped.plugins = ['/data/me/mine.wasm'];
  const dialog = within(await screen.findByRole('dialog', { name: 'Add a plugin' }));
  await fireEvent.click(dialog.getByRole('button', { name: 'Add' }));
  await screen.findByRole('dialog', { name: 'What may mine do?' });
  expect(granted('mine')).toEqual([]);
  expect(shipped.of('mine').origin).toBe('installed');
});

test('one of the same id is replaced only when that is asked for; removing asks first', async () => {
  shipped.add({ ...shipped.of('slack').manifest, id: 'mine', name: 'Mine' }, 'installed', '/a/mine.wasm');
  await at('mine/about');
  await press('Add a plugin…');
  await fireEvent.input(screen.getByLabelText(/File \(.wasm\)/), { target: { value: '/b/mine.wasm' } });
  await press('Add');
  await fireEvent.click(await screen.findByRole('button', { name: 'Replace it' }));
  await waitFor(() => expect(shipped.of('mine').path).toBe('/b/mine.wasm'));
  await fireEvent.click(await screen.findByRole('button', { name: 'Allow nothing now' }));
  await press('Remove…');
  expect(shipped.entries.has('mine')).toBe(true);
  await press('Remove');
  await waitFor(() => expect(shipped.entries.has('mine')).toBe(false));
});

test('a recording of a loaded model is tried: figures in words, and again with other settings', async () => {
  await at('slack/replay');
  await press('Start recording');
  await screen.findByText('Recording minilm');
  for (const working of [10, 90, 200]) host.run('minilm', working * 1024 * 1024);
  await screen.findByText(/^3 requests in/);
  await press('Stop and try it');
  await screen.findByText(/On average the model would have held .* less with it/);
  expect(screen.getByText('Its promise is kept on this recording')).toBeTruthy();
  expect(screen.getByRole('row', { name: /^Shrinks 0 \d+ \+\d+$/ })).toBeTruthy();

  await fireEvent.input(screen.getByLabelText('Ratio'), { target: { value: '50' } });
  await press('Try these');
  await screen.findByText('It would have left the memory alone.');
  expect(shipped.of('slack').settings.ratio).toBe(1.5);
});

test('documents are picked and indexed; answers name passages that open', async () => {
  shipped.grant('rag', [
    { capability: 'inference.embed', models: ['minilm'], paths: [] },
    { capability: 'inference.generate', models: ['smollm2'], paths: [] },
    { capability: 'store', models: [], paths: [] },
  ]);
  await at('rag/documents');
  await fireEvent.input(await screen.findByLabelText('Folder or file to add'), {
    target: { value: '/data/me/handbook' },
  });
  await press('Add');
  await screen.findByRole('button', { name: 'Take back /data/me/handbook' });
  await press('Index now');
  await screen.findByText(/Read 2 documents into 31 passages/);
  expect(screen.getByText(/it has no text: it is scanned/)).toBeTruthy();

  route.rest = 'rag/ask';
  await fireEvent.input(await screen.findByLabelText('Question'), { target: { value: 'What is kept?' } });
  await press('Ask');
  await screen.findByText('answered in 2.3 s');
  const [cited] = screen.getAllByRole('button', { name: 'Source 2: handbook/policies/idle.md' });
  await fireEvent.click(cited as HTMLElement);
  const source = within(await screen.findByRole('dialog'));
  expect(source.getByText(/gives the slack back after thirty seconds/)).toBeTruthy();
  expect(source.getByText(/bytes 96 to 215 of its text/)).toBeTruthy();
  await fireEvent.click(source.getByRole('button', { name: 'Previous source' }));
  expect(screen.getByRole('dialog', { name: 'Source 1: handbook/memory.md' })).toBeTruthy();
  expect(JSON.parse(localStorage.getItem('ebb.questions.rag') ?? '[]')).toHaveLength(1);
});

test('500 models can still be chosen from', async () => {
  for (let index = 0; index < 500; index += 1) host.add(`model-${index}`, 'embeddings', 1, '/m');
  await models.refresh();
  await at('idle/permissions');
  await press('Allow…');
  await tick('Allow memory.control');
  expect(screen.getByText('100 of 503 shown')).toBeTruthy();
  await fireEvent.input(screen.getByLabelText('Filter models'), { target: { value: 'model-499' } });
  await tick('model-499');
  await press('Allow 1 permission');
  await vi.waitFor(() => expect(granted('idle')[0]?.models).toEqual(['model-499']));
});
