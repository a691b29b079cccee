import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { use } from '../api';
import { FakeHost, fake } from '../api/fake';
import { events } from '../live/events.svelte';
import { models } from '../live/models.svelte';
import { route } from '../live/route.svelte';
import { system } from '../live/system.svelte';
import { text } from '../text/en';
import Activity from './Activity.svelte';
import { durations, runsThatFit } from './filter';
import { slice } from './window';

const MiB = 1024 * 1024;
const { activity } = text;

let host: FakeHost;
let end: () => void;

beforeEach(async () => {
  host = new FakeHost();
  use(fake(host));
  [events.list, models.list] = [[], []];
  route.go('activity', 'events');
  await waitFor(() => expect(route.rest).toBe('events'));
  end = events.follow();
  await waitFor(() => expect(events.open).toBe(true));
});
afterEach(() => end());

const options = () =>
  screen.queryAllByRole('option', { hidden: false }).filter((each) => each.hasAttribute('aria-posinset'));
/** Rows as they are read, without the time. */
const rows = () =>
  options().map((each) =>
    [...each.children]
      .slice(1)
      .map((part) => part.textContent?.replaceAll(/\s+/g, ' ').trim())
      .filter((part) => part !== '')
      .join(' | '),
  );

async function choose(label: string, value: string): Promise<void> {
  await fireEvent.change(screen.getByLabelText(label), { target: { value } });
}

test('what happened stands there, the newest first, and can be filtered', async () => {
  host.load('minilm', {} as never);
  host.load('smollm2', {} as never);
  host.run('minilm', 64 * MiB);
  host.shrink('minilm', 'shrink-when-idle');
  host.crash('smollm2');
  render(Activity);
  await waitFor(() => expect(rows().length).toBe(7));
  expect(rows()[0]).toBe('smollm2 | Crashed | worker ended: killed by signal 9; it stays down');
  expect(rows()[1]).toMatch(
    /^minilm \| Shrink \| Policy shrink-when-idle: gave back 60\.0 MiB of 152\.0 MiB/,
  );
  await choose(activity.model, 'minilm');
  await waitFor(() => expect(rows().length).toBe(4));
  await choose(activity.kind, 'run');
  await waitFor(() => expect(rows()).toEqual(['minilm | Request | run 1 in 18 ms, 8 items']));
  await choose(activity.kind, '');
  await choose(activity.plugin, 'shrink-when-idle');
  await waitFor(() => expect(rows().length).toBe(1));
  await choose(activity.plugin, '');
  await fireEvent.input(screen.getByLabelText(activity.search), { target: { value: 'nothing like it' } });
  await screen.findByText(activity.nothingFits);
  screen.getByRole('button', { name: activity.clearFilter }).click();
  await waitFor(() => expect(rows().length).toBe(7));
});

test('two thousand events are a list of which only some rows are made', async () => {
  host.load('minilm', {} as never);
  for (let each = 0; each < 2500; each++) host.run('minilm', MiB);
  render(Activity);
  await screen.findByText(activity.shown(2000, 2000));
  expect(options().length).toBeLessThan(60);
  expect(options()[0]?.getAttribute('aria-setsize')).toBe('2000');
  const list = screen.getByRole('listbox', { name: activity.lists.events });
  await fireEvent.keyDown(list, { key: 'ArrowDown' });
  await fireEvent.keyDown(list, { key: 'ArrowDown' });
  expect(list.querySelector('[aria-selected=true]')?.getAttribute('aria-posinset')).toBe('2');
  await fireEvent.keyDown(list, { key: 'Enter' });
  const dialog = within(await screen.findByRole('dialog'));
  expect(dialog.getByText(/"run": 2499/)).toBeTruthy();
});

test('while it is paused nothing moves, and what came is counted', async () => {
  host.load('minilm', {} as never);
  render(Activity);
  await waitFor(() => expect(rows().length).toBe(2));
  screen.getByRole('button', { name: activity.pause }).click();
  await screen.findByText(new RegExp(activity.paused(0)));
  host.run('minilm', MiB);
  host.run('minilm', MiB);
  await screen.findByText(new RegExp(activity.paused(2)));
  expect(rows().length).toBe(2);
  screen.getByRole('button', { name: activity.go }).click();
  await waitFor(() => expect(rows().length).toBe(4));
});

test('requests stand with how long they took', async () => {
  host.load('minilm', {} as never);
  for (let each = 1; each <= 20; each++) host.run('minilm', MiB, each * 1000);
  route.go('activity', 'requests');
  render(Activity);
  await screen.findByText(activity.summary(20, 10, 19, 20));
  expect(rows()[0]).toBe('minilm | Run 20 | 20 ms | 8 items | 92.0 MiB reserved');
});

test('the host’s log is followed, and filtered by its least level', async () => {
  host.write('info', 'ebb_api::load', 'loaded', { model: 'minilm', fields: { load_ms: 180 } });
  route.go('activity', 'log');
  render(Activity);
  await waitFor(() => expect(rows()).toEqual(['Info | ebb_api::load | minilm | loaded load_ms=180']));
  host.write('warn', 'ebb_server', 'the port is taken', { fields: { port: 4770 } });
  await waitFor(() => expect(rows()[0]).toBe('Warning | ebb_server | the port is taken port=4770'));
  await choose(activity.level, 'error');
  await screen.findByText(activity.nothingFits);
});

test('a report for a bug has what happened and no name of a model', async () => {
  host.add('grace-letters', 'chat', MiB, '/srv/ada/models/grace');
  host.load('grace-letters', {} as never);
  host.write('warn', 'ebb_api::load', "cannot read '/srv/ada/My Letters/x.onnx'", {
    model: 'grace-letters',
  });
  await system.refresh();
  render(Activity);
  await waitFor(() => expect(rows().length).toBe(2));
  screen.getByRole('button', { name: activity.report }).click();
  const field = (await screen.findByLabelText(activity.reportText)) as HTMLTextAreaElement;
  expect(field.value).toContain('"event":"loaded"');
  expect(field.value).toContain('"model":"model-');
  for (const secret of ['grace', 'ada', 'Letters']) expect(field.value).not.toContain(secret);
});

test('only what is seen is made, whatever the sizes', () => {
  expect(slice(2000, 0, 400, 34)).toEqual({ from: 0, to: 21, first: 0 });
  expect(slice(2000, 34 * 1000, 400, 34)).toEqual({ from: 992, to: 1021, first: 1000 });
  expect(slice(10, 1e9, 400, 34)).toEqual({ from: 1, to: 10, first: 9 });
  expect(slice(0, 0, 0, 0)).toEqual({ from: 0, to: 0, first: 0 });
});

test('durations are those of the requests, by nearest rank', () => {
  expect(durations([])).toBeNull();
  host.load('minilm', {} as never);
  for (const took of [5000, 1000, 3000]) host.run('minilm', MiB, took);
  const runs = runsThatFit(host.past, { model: '', plugin: '', kind: 'ok', search: '' });
  expect(durations(runs)).toEqual({ median: 3, p95: 5, longest: 5 });
  expect(runsThatFit(host.past, { model: '', plugin: '', kind: 'failed', search: '' })).toEqual([]);
});
