import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, test } from 'vitest';

import { use } from '../api';
import type { GenerateRequest } from '../api';
import { FakeHost, FakePlugins, fake } from '../api/fake';
import { models } from '../live/models.svelte';
import { route } from '../live/route.svelte';
import Chat from './Chat.svelte';
import { forgetTheChat } from './chat.svelte';

let host: FakeHost;
let asked: GenerateRequest[];
const pace = { every_ms: 0 };

beforeEach(async () => {
  localStorage.clear();
  forgetTheChat();
  pace.every_ms = 0;
  host = new FakeHost();
  for (const alias of ['minilm', 'smollm2', 'moonshine']) host.load(alias, {} as never);
  asked = [];
  const way = fake(host, new FakePlugins(host), pace);
  use({
    ...way,
    fetch: async (request) => {
      if (request.url.endsWith('/generate')) asked.push((await request.clone().json()) as GenerateRequest);
      return way.fetch(request);
    },
  });
  await models.refresh();
});

function at(rest: string): void {
  [route.view, route.rest] = ['chat', rest];
  render(Chat);
}
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole('button', { name }));
const write = (label: string, value: string) =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } });

test('an answer streams in as Markdown, with its figures; the conversation is kept and can be forgotten', async () => {
  at('chat');
  await write('Message', 'What is slack?');
  await fireEvent.keyDown(screen.getByLabelText('Message'), { key: 'Enter' });
  expect(await screen.findByText('arena')).toBeTruthy();
  const figures = await screen.findByRole('group', { name: 'Figures of this answer' });
  expect(figures.textContent).toMatch(/\d+ tokens · 40\.2 tokens\/s · first token after 84 ms/);
  expect(localStorage.getItem('ebb.conversations')).toContain('What is slack?');

  await write('Message', 'And then?');
  await press('Send');
  await waitFor(() => expect(screen.getAllByRole('button', { name: 'Copy answer' })).toHaveLength(2));
  const roles = asked[1]?.generation.messages.map(({ role }) => role);
  expect(roles).toEqual(['user', 'assistant', 'user']);

  await press('Delete “What is slack?”');
  expect(screen.queryByText('And then?')).toBeNull();
  expect(localStorage.getItem('ebb.conversations')).toBe('[]');
});

test('an answer can be stopped, and asked for again', async () => {
  pace.every_ms = 100;
  at('chat');
  await write('Message', 'Tell me more');
  await press('Send');
  await screen.findByText(/You asked/);
  // Whoever closes the page now finds it again.
  expect(localStorage.getItem('ebb.conversations')).toContain('Tell me more');
  await press('Stop');
  await screen.findByText('stopped');
  pace.every_ms = 0;
  await press('Answer again');
  await screen.findByRole('group', { name: 'Figures of this answer' });
  expect(asked[1]?.generation.messages).toHaveLength(1);
});

test('system prompt, sampling and format are asked for; what is wrong keeps it from being sent', async () => {
  at('chat');
  await write('System prompt', 'Be brief.');
  await write('Temperature', '9');
  expect(screen.getByRole('alert').textContent).toBe('From 0 to 2.');
  await write('Message', 'Hello');
  expect((screen.getByRole('button', { name: 'Send' }) as HTMLButtonElement).disabled).toBe(true);
  await write('Temperature', '0.2');
  await fireEvent.change(screen.getByLabelText('Answer must be'), { target: { value: 'json_object' } });
  await press('Send');
  await screen.findByText(/"answer": 42/);
  expect(asked[0]?.generation).toMatchObject({ temperature: 0.2, response_format: 'json_object' });
  expect(asked[0]?.generation.messages[0]).toMatchObject({ role: 'system', content: 'Be brief.' });
});

test('the model’s memory is beside it, and is given back there', async () => {
  host.run('smollm2', 80 * 1024 * 1024);
  at('chat');
  const memory = within(await screen.findByRole('region', { name: 'Memory of smollm2' }));
  expect(await memory.findByText('80.0 MiB')).toBeTruthy();
  await fireEvent.click(memory.getByRole('button', { name: 'Shrink now' }));
  expect(await memory.findByText(/gave back 76\.0 MiB/i)).toBeTruthy();
  expect(await memory.findByText('4.0 MiB')).toBeTruthy();
});

test('a model that is not loaded is loaded from here; one that fails says why', async () => {
  host.unload('smollm2');
  await models.refresh();
  at('chat');
  expect(screen.getByText('Load the model first.')).toBeTruthy();
  await press('Load');
  await waitFor(() => expect(screen.queryByText('Load the model first.')).toBeNull());
  host.crash('smollm2');
  await write('Message', 'Hello');
  await press('Send');
  expect((await screen.findByRole('alert')).textContent).toContain('is not loaded');
  expect(screen.getByText('It could not answer')).toBeTruthy();
});

test('texts are compared in a table of numbers; what was cut is said', async () => {
  at('embed');
  const long = 'word '.repeat(300).trim();
  await write('Texts, one a line', `a cat sleeps\n\ncats sleep\n${long}`);
  await press('Compare');
  const table = within(await screen.findByRole('table'));
  expect(table.getAllByRole('row')).toHaveLength(4);
  expect(table.getAllByRole('cell', { name: '1.00' }).length).toBeGreaterThanOrEqual(3);
  expect(screen.getByText('Text 3: the first 256 of 300 tokens were used.')).toBeTruthy();
  expect(screen.getByText(/3 texts, \d+ tokens, vectors of 64 numbers/)).toBeTruthy();
});

test('a sound file is written down, segment by segment', async () => {
  at('transcribe');
  const file = new File(['RIFF'], 'talk.wav', { type: 'audio/wav' });
  await fireEvent.change(await screen.findByLabelText('Sound file'), { target: { files: [file] } });
  await screen.findByText(/3 segments of 12\.6 s of sound/);
  expect(screen.getByText('Good morning.')).toBeTruthy();
  expect(screen.getByText('00:00:04.320')).toBeTruthy();
  const save = screen.getByRole<HTMLButtonElement>('button', { name: 'Save SRT' });
  await waitFor(() => expect(save.disabled).toBe(false));
});

test('without a model of the kind, it is told how to get one', () => {
  models.list = [];
  at('transcribe');
  expect(screen.getByText('No speech model yet')).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Go to models' })).toBeTruthy();
});
