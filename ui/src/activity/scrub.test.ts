import { expect, test } from 'vitest';

import type { Event, ModelEntry } from '../api';
import { report } from './report';
import { Scrub } from './scrub';

test.each([
  [
    'cannot read /srv/ada/My Models/secret plan.onnx: permission denied',
    'cannot read [path]: permission denied',
  ],
  ['C:\\Users\\Ada Lovelace\\models\\x.onnx is missing', '[path]'],
  ['open \\\\server\\share\\diary.docx; try again', 'open [path]; try again'],
  ['see ~/notes/today', 'see [path]'],
  ['file:///srv/ada/a%20b', '[path]'],
  ['notes/private/plan was skipped', '[path] was skipped'],
  ['diary.pdf has no text', '[file] has no text'],
  ["no model is named 'Letters to Grace'", 'no model is named [text]'],
  [
    "unknown key 'enable_cpu_mem_aren'; nearest: 'session.enable_cpu_mem_arena'",
    "unknown key 'enable_cpu_mem_aren'; nearest: 'session.enable_cpu_mem_arena'",
  ],
  ['the prompt "what ails me?" is too long', 'the prompt [text] is too long'],
  ['fetched https://example.org/ada/model?x=1', 'fetched [address]'],
  ['listening on http://127.0.0.1:4770', 'listening on http://127.0.0.1:4770'],
  ['key ebb-0123456789abcdef was refused', 'key [key] was refused'],
  ['token 82508a7606ad79252864a94a1ceda7c3546df9e3f600f33c', 'token [key]'],
  ['ask ada@example.org', 'ask [address]'],
  ['killed by signal 9', 'killed by signal 9'],
  [
    'Available memory of 1024 is smaller than requested bytes of 2048',
    'Available memory of 1024 is smaller than requested bytes of 2048',
  ],
])('%s', (said, left) => expect(new Scrub().sentence(said)).toBe(left));

test('models are numbered, also within a sentence', () => {
  const scrub = new Scrub(['grace-letters', 'ab']);
  expect(scrub.value({ model: 'grace-letters' })).toEqual({ model: 'model-1' });
  expect(scrub.sentence("'grace-letters' is not loaded")).toBe("'model-1' is not loaded");
  expect(scrub.sentence('grace-letters-2 is above')).toBe('grace-letters-2 is above');
  expect(scrub.sentence('above about')).toBe('above about');
});

test('figures stay as they are', () => {
  const value = {
    seq: 3,
    took_us: 18_000,
    warning: true,
    limit_bytes: null,
    arenas: [{ device: 'cpu:0', regions: 2 }],
  };
  expect(new Scrub().value(value)).toEqual(value);
});

test('a report has the figures and nothing that is private', () => {
  const model = {
    alias: 'grace-letters',
    path: '/srv/ada/models/grace',
    kind: 'chat',
    weights_bytes: 5,
    state: 'failed',
    reason: 'cannot read /srv/ada/models/grace/model.onnx: gone',
    info: null,
    options: { session_options: { 'session.log': 'Dear Grace, hello' }, runtime_options: {} },
  } as unknown as ModelEntry;
  const of = { time_ms: 1, model: 'grace-letters' };
  const events = [
    { ...of, seq: 1, event: 'crashed', reason: 'killed by signal 9', restart_in_ms: null },
    { ...of, seq: 2, event: 'runtime_option', key: 'qnn.lora_config', value: '/srv/ada/lora.json' },
    { ...of, seq: 3, event: 'runtime_option', key: 'a.b', value: 'Dear Grace, hello' },
  ] as Event[];
  const line = {
    seq: 1,
    time_ms: 2,
    level: 'warn' as const,
    target: 'ebb_api::load',
    model: 'grace-letters',
  };
  const log = [
    {
      ...line,
      message: 'could not read',
      fields: { path: '/srv/ada/x', size: 12, why: 'Dear Grace, hello', code: 'storage' },
    },
    { ...line, message: "no file 'Dear Grace, hello' in /srv/ada", fields: { prompt: 'Dear Grace' } },
  ];
  const system = {
    memory: { total_bytes: 100, available_bytes: 50 },
    host: { pid: 7, resident_bytes: 1, private_bytes: 1, version: '0.1.0', uptime_ms: 9 },
    devices: [{ name: 'NVIDIA H200', provider: 'cuda', kind: 'gpu', available: true, hint: null }],
    runtimes: [{ version: '1.31.1', path: '/srv/ada/libonnxruntime.so', providers: ['cpu'], used: true }],
    models: [],
    folders: [],
  };
  const text = report({
    made_ms: 0,
    way: 'http',
    browser: 'a browser',
    system: system as never,
    models: [model],
    events,
    log,
  });
  for (const secret of ['ada', 'Ada', 'Grace', 'grace', '/srv', 'hello', 'onnx:'])
    expect(text).not.toContain(secret);
  for (const kept of [
    'killed by signal 9',
    'qnn.lora_config',
    'model-1',
    '1.31.1',
    'NVIDIA H200',
    '"code":"storage"',
    '"size":12',
  ]) {
    expect(text).toContain(kept);
  }
});
