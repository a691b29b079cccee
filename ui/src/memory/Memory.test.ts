import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { use } from '../api';
import { FakeHost, FakePlugins, fake } from '../api/fake';
import { events } from '../live/events.svelte';
import { models } from '../live/models.svelte';
import { notices } from '../live/notices.svelte';
import { route } from '../live/route.svelte';
import { system } from '../live/system.svelte';
import { text } from '../text/en';
import Memory from './Memory.svelte';

// jsdom has no canvas: what is drawn is looked at in a browser.
vi.mock('./picture', () => ({
  Picture: {
    of: () =>
      Promise.resolve({
        pixels: 500,
        pixel_ms: 100,
        limit_above: null,
        draw: () => undefined,
        resize: () => undefined,
        recolour: () => undefined,
        point: () => undefined,
        leftOf: () => 0,
        momentAt: () => Date.now(),
        destroy: () => undefined,
      }),
  },
}));

const MiB = 1024 * 1024;
const { memory } = text;

let host: FakeHost;
let plugins: FakePlugins;
let name: string;
let end: () => void;
let made = 0;

beforeEach(async () => {
  host = new FakeHost();
  plugins = new FakePlugins(host);
  use(fake(host, plugins));
  [events.list, models.list, system.now] = [[], [], null];
  notices.list = [];
  // What was seen of a model stays as long as the page: each test has its own.
  name = `model ${made++}`;
  host.add(name, 'embeddings', 88 * MiB, '/models/x');
  end = events.follow();
  await waitFor(() => expect(events.open).toBe(true));
});
afterEach(() => end());

async function shown(options: object = {}) {
  host.load(name, options as never);
  route.go('memory', name);
  await waitFor(() => expect(models.of(name)?.state).toBe('loaded'));
  await waitFor(() => expect(route.rest).toBe(name));
  return render(Memory);
}

const card = async (label: string) => {
  const term = await screen.findByText(label, { selector: 'dt' });
  return term.parentElement?.textContent ?? '';
};

test('the figures of a model, and what a shrink gave back', async () => {
  await shown();
  host.run(name, 66 * MiB);
  await waitFor(async () => expect(await card(memory.slack)).toContain('66.0 MiB'));
  expect(await card(memory.inUse)).toContain('88.0 MiB');
  expect(await card(memory.peak)).toContain('154.0 MiB');
  expect(await card(memory.limit)).toContain(memory.noLimit);
  screen.getByRole('button', { name: memory.shrink }).click();
  await screen.findByText('gave back 62.0 MiB of 154.0 MiB in 19 ms; resident 210.0 → 148.0 MiB');
  await waitFor(async () => expect(await card(memory.slack)).toContain('4.0 MiB'));
  expect(await card(memory.shrinks)).toMatch(/1.*Gave back 62\.0 MiB in \d+ region/);
});

test('a shrink after the next run says which one, and what it did', async () => {
  await shown();
  host.run(name, 20 * MiB);
  const button = await screen.findByRole('button', { name: memory.after });
  await waitFor(() => expect((button as HTMLButtonElement).disabled).toBe(false));
  button.click();
  await screen.findByText(memory.armed(2));
  expect((screen.getByRole('button', { name: memory.armedButton(2) }) as HTMLButtonElement).disabled).toBe(
    true,
  );
  host.run(name, 34 * MiB);
  await screen.findByText(/^gave back 30\.0 MiB of 122\.0 MiB/);
  expect(screen.getByText(/Shrink after a run/)).toBeTruthy();
  expect(screen.queryByText(memory.armed(2))).toBeNull();
});

test('a model without an arena is served; what helps instead is said, and a shrink says so too', async () => {
  await shown({ session_options: { enable_cpu_mem_arena: '0' } });
  await screen.findByText(memory.arenaOff);
  expect(await card(memory.inUse)).toContain(memory.none);
  screen.getByRole('button', { name: memory.shrink }).click();
  await screen.findByText(memory.noArena);
  expect(notices.list).toEqual([]);
});

test('close to its cap, crashed and back again are seen at once; the chart stays', async () => {
  await shown({ arena_options: { working_mem: '32MiB' } });
  await screen.findByText(memory.headroomNow('32.0 MiB', '124.0 MiB'));
  host.run(name, 200 * MiB);
  await screen.findByText(memory.nearCap('0 B', '124.0 MiB'));
  host.crash(name);
  await screen.findByText(/Its worker ended by itself at .*: killed by signal 9\./);
  expect(screen.getByRole('figure', { name: memory.chartOf(name) })).toBeTruthy();
  expect((screen.getByRole('button', { name: memory.shrink }) as HTMLButtonElement).disabled).toBe(true);
  screen.getByRole('button', { name: memory.load }).click();
  await waitFor(() => expect(screen.queryByText(/Its worker ended/)).toBeNull());
  await waitFor(async () => expect(await card(memory.slack)).toContain('4.0 MiB'));
});

test('run options are set, judged and removed; a wrong value is refused with its reason', async () => {
  await shown();
  const panel = within(await screen.findByRole('region', { name: memory.runOptions }));
  await panel.findByText(memory.noRunOptions);
  const set = async (key: string, value: string) => {
    await fireEvent.input(panel.getByLabelText(memory.key), { target: { value: key } });
    await fireEvent.input(panel.getByLabelText(memory.value), { target: { value } });
    panel.getByRole('button', { name: memory.set }).click();
  };
  await set('memory.enable_memory_arena_shrinkag', 'cpu:0');
  await panel.findByText(/nearest known key: memory\.enable_memory_arena_shrinkage/);
  await set('memory.enable_memory_arena_shrinkage', 'banana');
  await panel.findByText("'banana' is no shrink target");
  await set('memory.enable_memory_arena_shrinkage', 'cpu:0');
  await panel.findByText('memory.enable_memory_arena_shrinkage = cpu:0');
  panel.getByRole('button', { name: memory.removeOption('memory.enable_memory_arena_shrinkag') }).click();
  await waitFor(() => expect(panel.queryByText(/shrinkag = /)).toBeNull());
});

test('a cap that is refused says so and stays as typed, though the model was away meanwhile', async () => {
  await shown();
  const panel = () => within(screen.getByRole('region', { name: memory.headroom }));
  const error = { code: 'invalid_value', message: 'too small a cap', hint: null, param: null };
  const way = fake(host, plugins);
  use({
    ...way,
    fetch: async (request) => {
      if (!request.url.includes('/load')) return way.fetch(request);
      host.unload(name);
      await waitFor(() => expect(screen.queryByText(memory.runOptions)).toBeNull());
      host.load(name, {} as never);
      return new Response(JSON.stringify({ error }), { status: 422 });
    },
  });
  await screen.findByRole('region', { name: memory.headroom });
  await fireEvent.input(panel().getByLabelText(memory.headroomOf), { target: { value: '1KiB' } });
  await fireEvent.click(panel().getByText(memory.apply));
  expect(await screen.findByText('too small a cap')).toBeTruthy();
  expect((panel().getByLabelText(memory.headroomOf) as HTMLInputElement).value).toBe('1KiB');
});

test('another cap loads the model again and says before and after; a wrong one is not sent', async () => {
  await shown();
  const panel = within(await screen.findByRole('region', { name: memory.headroom }));
  const field = panel.getByLabelText(memory.headroomOf);
  await fireEvent.input(field, { target: { value: 'twelve apples' } });
  expect(panel.getByText(memory.headroomWrong)).toBeTruthy();
  expect((panel.getByRole('button') as HTMLButtonElement).disabled).toBe(true);
  await fireEvent.input(field, { target: { value: '64MiB' } });
  panel.getByRole('button').click();
  await waitFor(() => expect(notices.list.map((notice) => notice.text).join()).toContain('loaded again in'));
  expect(host.models.get(name)?.entry.options.arena_options).toEqual({ working_mem: '64MiB' });
  await panel.findByText(memory.headroomNow('64.0 MiB', '156.0 MiB'));
});

test('a model may be called all, as everything else', async () => {
  host.add('all', 'embeddings', 88 * MiB, '/models/all');
  host.load('all', {} as never);
  route.go('memory', 'all');
  await waitFor(() => expect(models.of('all')?.state).toBe('loaded'));
  render(Memory);
  expect(await screen.findByRole('figure', { name: memory.chartOf('all') })).toBeTruthy();
});

test('policies stand in their order, can be moved and detached, and say what they decided on what', async () => {
  const policies = [...plugins.entries.values()].filter(({ manifest }) => manifest.world === 'shrink-policy');
  const [one, other] = policies.map(({ manifest }) => manifest);
  if (one === undefined || other === undefined) throw new Error('the recorded host has two policies');
  for (const { id } of [one, other]) plugins.attach(id, name, null, true);
  await shown();
  const panel = within(await screen.findByRole('region', { name: memory.policies }));
  const order = () => panel.getAllByRole('link', { name: /^Settings of/ }).map((link) => link.textContent);
  await waitFor(() => expect(order()).toEqual([one.name, other.name]));
  panel.getByRole('button', { name: memory.up(other.name) }).click();
  await waitFor(() => expect(order()).toEqual([other.name, one.name]));
  const saw = {
    hook: 'run' as const,
    in_use_bytes: 88 * MiB,
    reserved_bytes: 154 * MiB,
    resident_bytes: 210 * MiB,
  };
  await card(memory.inUse);
  host.tell(name, {
    event: 'policy',
    policy: one.id,
    decision: 'Shrink([])',
    saw: { ...saw, runs: 3 },
    took_us: 200,
  });
  await panel.findByText('shrink now');
  await panel.findByText('saw 88.0 MiB in use of 154.0 MiB reserved, 210.0 MiB resident, 3 runs');
  panel.getByRole('button', { name: memory.detach(other.name) }).click();
  await waitFor(() => expect(order()).toEqual([one.name]));
});

test('the figures are there as a table', async () => {
  await shown();
  await card(memory.inUse);
  host.run(name, 40 * MiB);
  const details = screen.getByText(memory.figuresTable).closest('details') as HTMLDetailsElement;
  details.open = true;
  await fireEvent(details, new Event('toggle'));
  const table = await screen.findByRole('table', { name: memory.chartOf(name) });
  await waitFor(() => expect(table.textContent).toContain('88.0 MiB'), { timeout: 4000 });
});

test('the chart can be read and moved by keyboard', async () => {
  await shown();
  await card(memory.inUse);
  const chart = screen.getByRole('slider', { name: new RegExp(`^${memory.chartOf(name)}`) });
  await waitFor(() => expect(chart.getAttribute('aria-valuetext')).toBe(memory.howTo));
  await fireEvent.keyDown(chart, { key: 'End' });
  expect(chart.getAttribute('aria-valuetext')).toContain('In use 88.0 MiB');
  expect((screen.getByRole('button', { name: memory.reset }) as HTMLButtonElement).disabled).toBe(true);
  await fireEvent.keyDown(chart, { key: '+' });
  expect((screen.getByRole('button', { name: memory.reset }) as HTMLButtonElement).disabled).toBe(false);
  await fireEvent.keyDown(chart, { key: '0' });
  expect((screen.getByRole('button', { name: memory.reset }) as HTMLButtonElement).disabled).toBe(true);
});

test('the machine: who holds how much, and all give back', async () => {
  host.load('smollm2', {} as never);
  host.run('smollm2', 50 * MiB);
  host.load(name, {} as never);
  host.run(name, 20 * MiB);
  route.go('memory', '*');
  await waitFor(() => expect(models.loaded().length).toBe(2));
  await waitFor(() => expect(route.rest).toBe('*'));
  render(Memory);
  const row = (await screen.findByRole('row', { name: /^smollm2/ })).textContent;
  expect(row).toContain('262.0 MiB');
  screen.getByRole('button', { name: memory.shrinkAll }).click();
  await screen.findByText(memory.allGaveBack(2, 62 * MiB));
  await screen.findByText(/gave back 46\.0 MiB of 262\.0 MiB/);
});

test('no model, and one that is not there, say what to do', async () => {
  route.go('memory');
  await waitFor(() => expect(models.known).toBe(true));
  await waitFor(() => expect(route.rest).toBe(''));
  render(Memory);
  await screen.findByText(memory.emptyTitle);
  route.go('memory', 'nobody');
  await screen.findByText(memory.gone('nobody'));
});

test('many models, with hostile names, are in a list', async () => {
  const hostile = `${'x'.repeat(290)} \u202e<b>"&/../%`;
  host.add(hostile, 'chat', MiB, '/m');
  host.load(hostile, {} as never);
  for (let each = 0; each < 499; each++) {
    host.add(`m${each}`, 'chat', MiB, '/m');
    host.load(`m${each}`, {} as never);
  }
  route.go('memory', hostile);
  await waitFor(() => expect(models.loaded().length).toBe(500));
  await waitFor(() => expect(route.rest).toBe(hostile));
  render(Memory);
  const list = screen.getByLabelText(memory.choose) as HTMLSelectElement;
  expect(list.value).toBe(hostile);
  expect(list.options.length).toBe(501);
  expect(await card(memory.inUse)).toContain('1.0 MiB');
}, 20_000);
