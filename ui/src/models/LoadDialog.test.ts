import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';

import { use } from '../api';
import { FakeHost, fake } from '../api/fake';
import type { FakeModel } from '../api/fake/host';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { system } from '../live/system.svelte';
import { text } from '../text/en';
import LoadDialog from './LoadDialog.svelte';
import { catalogue } from './catalogue.svelte';

const words = text.models;
const MiB = 1024 * 1024;
let host: FakeHost;
let bodies: [string, unknown][];
/** Each test has a model of its own: what is chosen for one is kept. */
let made = 0;

beforeEach(() => {
  host = new FakeHost();
  bodies = [];
  const way = fake(host);
  use({
    ...way,
    fetch: async (request) => {
      const content = await request.clone().text();
      bodies.push([new URL(request.url).pathname.split('/').at(-1) ?? '', content && JSON.parse(content)]);
      return way.fetch(request);
    },
  });
  notices.list = [];
});

const sent = (route: string) => bodies.filter(([name]) => name === route).map(([, body]) => body);

async function opened(prepare: (model: FakeModel) => void = () => undefined) {
  const alias = `model-${made++}`;
  const model = host.add(alias, 'embeddings', 88 * MiB, '/models/one');
  prepare(model);
  await models.refresh();
  await system.refresh();
  const onclose = vi.fn();
  const { unmount } = render(LoadDialog, { model: model.entry, onclose });
  await vi.waitFor(() => expect(catalogue.fields.length).toBeGreaterThan(0));
  await screen.findByLabelText('session.enable_mem_pattern');
  return { alias, onclose, unmount };
}

const type = (label: string, value: string) =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } });
const choose = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
const field = (path: string) => {
  const element = [...document.querySelectorAll<HTMLElement>('[data-path]')].find(
    ({ dataset }) => dataset.path === path,
  );
  if (element === undefined) throw new Error(`no field ${path}`);
  return within(element);
};

test('what is chosen is sent, and nothing else', async () => {
  const { alias, onclose } = await opened();
  await choose(words.profile, 'low-memory');
  await type(words.own.threads.label, '2');
  await choose('session.enable_mem_pattern', '1');
  await type('max_mem', '400MB');
  await press(words.loadNow);
  await waitFor(() => expect(onclose).toHaveBeenCalled());
  expect(sent('load')).toEqual([
    {
      profile: 'low-memory',
      threads: 2,
      session_options: { 'session.enable_mem_pattern': '1' },
      arena_options: { max_mem: '400MB' },
    },
  ]);
  expect(notices.list.map((notice) => notice.text)).toEqual([
    `${alias} is in memory: 148.0 MiB resident, loaded in 180 ms`,
  ]);
});

test('a field says what would hold, what was changed, and is reset', async () => {
  await opened();
  await choose(words.profile, 'low-memory');
  const pattern = field('session_options.session.enable_mem_pattern');
  expect(pattern.getByText(words.fromProfile('low-memory', words.off))).toBeTruthy();
  await choose('session.enable_mem_pattern', '0');
  expect(pattern.queryByText(words.changed)).toBeNull();
  await choose('session.enable_mem_pattern', '1');
  expect(pattern.getByText(words.changed)).toBeTruthy();
  expect(screen.getByLabelText(words.changedOnly(1 + 1))).toBeTruthy();
  await press(words.resetOf('session.enable_mem_pattern'));
  expect(pattern.queryByText(words.changed)).toBeNull();
  await press(words.resetAll);
  expect((screen.getByLabelText(words.profile) as HTMLSelectElement).value).toBe('');
});

test('problems stand at their fields, without a press on load', async () => {
  await opened();
  await type('max_mem', '10MiB');
  expect(await field('arena_options.max_mem').findByText('the cap lies below the weights')).toBeTruthy();
  expect(screen.getByLabelText('max_mem').getAttribute('aria-invalid')).toBe('true');
  await type('max_mem', '1GiB');
  await waitFor(() => expect(screen.getByLabelText('max_mem').getAttribute('aria-invalid')).toBe('false'));
  await type('working_mem', '50MiB');
  expect(await field('arena_options.working_mem').findByText(/exclude each other/)).toBeTruthy();
});

test('key strokes are checked once, 250 ms after the last', async () => {
  await opened();
  await waitFor(() => expect(sent('check')).toHaveLength(1));
  vi.useFakeTimers();
  try {
    for (const value of ['4', '40', '400', '400M', '400MB']) {
      await vi.advanceTimersByTimeAsync(200);
      await type('max_mem', value);
    }
    await vi.advanceTimersByTimeAsync(249);
    expect(sent('check')).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent('check')).toEqual([{}, { arena_options: { max_mem: '400MB' } }]);
  } finally {
    vi.useRealTimers();
  }
});

test('a number that is none is not sent, and load goes to it', async () => {
  await opened();
  await type(words.own.threads.label, '99999999999999999999');
  await press(words.loadNow);
  expect(field('threads').getByText(words.wrong.count)).toBeTruthy();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText(words.own.threads.label)));
  expect(sent('load')).toEqual([]);
});

test('any key can be given in a row, and the nearest known one is offered', async () => {
  await opened();
  await press(words.rowAdd);
  await type(words.rowKey, 'session.enable_mem_patern');
  await type(words.rowValue, '0');
  await fireEvent.click(
    await screen.findByRole('button', { name: words.useNearest('session.enable_mem_pattern') }),
  );
  expect((screen.getByLabelText(words.rowKey) as HTMLInputElement).value).toBe('session.enable_mem_pattern');
  await fireEvent.change(screen.getByLabelText(words.rowScope), { target: { value: 'provider' } });
  await type(words.rowProvider, 'my_ep');
  await press(words.loadNow);
  await waitFor(() =>
    expect(sent('load')).toEqual([{ provider_options: { my_ep: { 'session.enable_mem_pattern': '0' } } }]),
  );
});

test('options that have nothing to do with memory are a click or a search away', async () => {
  await opened();
  expect(screen.queryByLabelText('session.log_severity_level')).toBeNull();
  await fireEvent.click(screen.getByRole('button', { name: /^Show \d+ other options$/ }));
  expect(screen.getByLabelText('session.log_severity_level')).toBeTruthy();
  await type(words.searchOptions, 'gpu_mem');
  expect(screen.getByLabelText('gpu_mem_limit')).toBeTruthy();
  expect(screen.queryByLabelText('session.log_severity_level')).toBeNull();
  await type(words.searchOptions, 'nothing like that');
  expect(screen.getByText(words.noneFound)).toBeTruthy();
});

test('the estimate is set against what is free, and never blocks', async () => {
  const { onclose } = await opened((model) => (model.weights = 80 * 1024 * MiB));
  expect(await screen.findByText('About 80.06 GiB of 14.40 GiB free')).toBeTruthy();
  expect(screen.getByText(words.estimateOver)).toBeTruthy();
  await press(words.loadNow);
  await waitFor(() => expect(onclose).toHaveBeenCalled());
});

test('a load that is refused says so, and nothing that was typed is lost', async () => {
  const { onclose } = await opened();
  await type('max_mem', '10MiB');
  await type(words.own.threads.label, '3');
  await press(words.loadNow);
  const refusal = within(await screen.findByRole('alert'));
  expect(refusal.getByText('the cap lies below the weights')).toBeTruthy();
  expect(refusal.getByText('give at least 88MiB, or working_mem')).toBeTruthy();
  expect((screen.getByLabelText('max_mem') as HTMLInputElement).value).toBe('10MiB');
  expect((screen.getByLabelText(words.own.threads.label) as HTMLInputElement).value).toBe('3');
  expect(onclose).not.toHaveBeenCalled();
});

test('a load that is refused for one field says so there too, until it is another one', async () => {
  await opened();
  const way = fake(host);
  use({
    ...way,
    fetch: (request) =>
      request.url.endsWith('/check') ? Promise.reject(new TypeError('Failed to fetch')) : way.fetch(request),
  });
  await type('max_mem', '10MiB');
  expect(await screen.findByText('the host does not answer')).toBeTruthy();
  await press(words.loadNow);
  const place = field('arena_options.max_mem');
  expect(await place.findByText('the cap lies below the weights')).toBeTruthy();
  await type('max_mem', '200MiB');
  expect(place.queryByText('the cap lies below the weights')).toBeNull();
});

test('applying loads again and shows before and after', async () => {
  const { alias } = await opened((model) => {
    host.load(model.entry.alias, {} as never);
    host.run(model.entry.alias, 62 * MiB);
  });
  await waitFor(() => expect(sent('check')).toHaveLength(1));
  await type(words.own.batch_tokens.label, '512');
  expect(await field('batch_tokens').findByText(words.reload)).toBeTruthy();
  await press(words.apply);
  expect(await screen.findByRole('heading', { name: words.reloadedTitle(alias) })).toBeTruthy();
  const cells = within(screen.getByRole('row', { name: /^Resident/ })).getAllByRole('cell');
  expect(cells.map(({ textContent }) => textContent)).toEqual(['206.0 MiB', '148.0 MiB', '58.0 MiB less']);
  const reserved = within(screen.getByRole('row', { name: /^Reserved/ })).getAllByRole('cell');
  expect(reserved.map(({ textContent }) => textContent)).toEqual(['150.0 MiB', '92.0 MiB', '58.0 MiB less']);
  expect(host.models.get(alias)?.entry.options).toEqual({ batch_tokens: 512 });
});

test('what was chosen is still there when the dialog is opened again', async () => {
  const { alias, unmount } = await opened();
  await type(words.own.threads.label, '7');
  unmount();
  render(LoadDialog, { model: models.of(alias)!, onclose: () => undefined });
  expect((screen.getByLabelText(words.own.threads.label) as HTMLInputElement).value).toBe('7');
  await press(words.startOver);
  expect((screen.getByLabelText(words.own.threads.label) as HTMLInputElement).value).toBe('');
});

test('a model is shown with the options that it last had, known ones in their fields', async () => {
  await opened((model) => {
    model.entry.options = {
      threads: 2,
      arena_options: { max_mem: '300MB' },
      session_options: { 'session.execution_mode': 'banana', 'no.such.key': '1' },
    } as never;
  });
  expect((screen.getByLabelText('max_mem') as HTMLInputElement).value).toBe('300MB');
  expect((screen.getByLabelText('session.execution_mode') as HTMLSelectElement).value).toBe('banana');
  expect((screen.getByLabelText(words.rowKey) as HTMLInputElement).value).toBe('no.such.key');
});

test('a profile holds what was chosen and what its own profile says', async () => {
  await opened();
  await choose(words.profile, 'low-memory');
  await type(words.own.threads.label, '2');
  await press(words.saveProfile);
  await type(words.profileName, 'mine');
  await press(words.profileSave);
  await waitFor(() =>
    expect(sent('mine')).toEqual([
      {
        name: 'mine',
        description: '',
        built_in: false,
        reasons: {},
        options: { shrink_every: 1, threads: 2, session_options: { 'session.enable_mem_pattern': '0' } },
      },
    ]),
  );
  expect(await screen.findByRole('option', { name: 'mine' })).toBeTruthy();
});

test('the command line and the Python of it can be taken along', async () => {
  const { alias } = await opened();
  const written: string[] = [];
  vi.stubGlobal('navigator', { clipboard: { writeText: async (it: string) => void written.push(it) } });
  await type(words.own.threads.label, '2');
  await waitFor(() => expect(sent('check').at(-1)).toEqual({ threads: 2 }));
  await waitFor(async () => {
    await press(words.copyCli);
    expect(written.at(-1)).toBe(`ebb model load ${alias} --threads=2`);
  });
  await press(words.copyPython);
  expect(written.at(-1)).toBe(`client.load("${alias}", "threads=2")`);
  vi.unstubAllGlobals();
});
