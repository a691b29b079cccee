import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { type Page, test as base, expect } from '@playwright/test';

/** A variable that `cargo xtask ui` sets. */
function given(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: run this as \`cargo xtask ui\``);
  return value;
}

/** A real `ebb server run --ui` with a home of its own. */
export class Host {
  readonly home = mkdtempSync(join(tmpdir(), 'ebb-ui-'));
  /** Where the real models lie. */
  readonly models = given('EBB_TEST_MODELS');
  readonly #program = join(given('EBB_BIN_DIR'), 'ebb');
  #process: ChildProcess | null = null;

  constructor() {
    // Where the demo models lie once they were set up.
    mkdirSync(join(this.home, 'cache'));
    symlinkSync(this.models, join(this.home, 'cache', 'models'));
  }

  /** Starts it, and returns once it says where it listens: the link that lets a browser in. */
  async start(port = 0): Promise<string> {
    const started = spawn(this.#program, ['server', 'run', '--ui', '--port', String(port)], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = started;
    return new Promise<string>((done, fail) => {
      let [said, log] = ['', ''];
      started.stdout?.on('data', (piece: Buffer) => {
        said += piece.toString();
        const [link] = /http:\/\/\S+/.exec(said) ?? [];
        if (link !== undefined) done(link);
      });
      started.stderr?.on('data', (piece: Buffer) => (log = `${log}${piece.toString()}`.slice(-4000)));
      started.once('exit', (code) => fail(new Error(`the host ended with ${code}: ${log}`)));
    });
  }

  get env(): NodeJS.ProcessEnv {
    const path = [given('EBB_BIN_DIR'), process.env.PATH].join(delimiter);
    return { ...process.env, PATH: path, EBB_HOME: this.home, NO_COLOR: '1' };
  }

  get endpoint(): { url: string; token: string; pid: number } {
    return JSON.parse(readFileSync(join(this.home, 'run', 'host.json'), 'utf8'));
  }

  /** Runs the command line against it. */
  async ebb(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(this.#program, args, { env: this.env });
    return stdout;
  }

  /** Calls a route. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { url, token } = this.endpoint;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** A link that logs a browser in, once. */
  async link(): Promise<string> {
    return (await this.call<{ url: string }>('POST', '/ebb/v1/login-link', {})).url;
  }

  /** A real model in the list, under this alias. */
  async add(model: string, alias = model, folder = join(this.home, 'cache', 'models', model)): Promise<void> {
    const { models } = await this.call<{ models: { alias: string }[] }>('GET', '/ebb/v1/models');
    if (models.some((known) => known.alias === alias)) return;
    await this.call('POST', '/ebb/v1/models', { path: folder, alias });
  }

  /** The same in memory, with these options and no others. */
  async load(model: string, options: object = {}, alias = model): Promise<void> {
    await this.add(model, alias);
    await this.call('POST', `/ebb/v1/models/${alias}/load?force=true`, options);
  }

  /** Makes a model work as a program would: its arena grows. */
  async burst(alias: string, texts = 64): Promise<void> {
    const text = 'The tide goes out, and the shore is there again. '.repeat(20);
    await this.call('POST', `/ebb/v1/models/${alias}/embed`, { texts: Array(texts).fill(text) });
  }

  /** Processes of its workers, by the system's own account. */
  get workers(): number[] {
    const parent = String(this.#process?.pid);
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
      .map(Number);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const running = this.#process;
    this.#process = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((done) => running.once('exit', done));
    running.kill(signal);
    await ended;
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** A process that ended meanwhile has none. */
function parentOf(pid: string): string | undefined {
  try {
    // The name, in parentheses, may hold anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1];
  } catch {
    return undefined;
  }
}

/** Shows the page of a host. What the browser complains of fails the test. */
async function visit(page: Page, host: Host, use: (page: Page) => Promise<void>): Promise<void> {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // A refused request is shown to the user by the page itself.
    const refused = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !refused) complaints.push(message.text());
  });
  await page.goto(await host.link());
  await use(page);
  expect(complaints).toEqual([]);
}

/** Of a host that all tests have together: each brings what it needs itself, and nobody is greeted. */
export const test = base.extend<{ page: Page }, { host: Host }>({
  host: [
    async ({}, use) => {
      const host = new Host();
      await host.start();
      await use(host);
      await host.stop();
      host.remove();
    },
    { scope: 'worker' },
  ],
  page: async ({ page, host }, use) => {
    await page.addInitScript(() => localStorage.setItem('ebb.welcomed', 'yes'));
    await visit(page, host, use);
  },
});

/** Of a host of the test's own, with nothing in it. */
export const alone = base.extend<{ page: Page; host: Host }>({
  host: async ({}, use) => {
    const host = new Host();
    await host.start();
    await use(host);
    await host.stop();
    host.remove();
  },
  page: async ({ page, host }, use) => visit(page, host, use),
});

/** Goes to a view of the page. */
export async function go(page: Page, place: string): Promise<void> {
  await page.evaluate((to) => (location.hash = to), `/${place}`);
}

/** Stands for any figure in a text of the catalogue. */
export const ANY = '§';

/** A text of the catalogue with figures that only the host knows. */
export const like = (text: string): RegExp =>
  new RegExp(
    text
      .split(ANY)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+?'),
  );

export { expect };
