import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  readonly models = given('EBB_TEST_MODELS');
  readonly #program = join(given('EBB_BIN_DIR'), 'ebb');
  #process: ChildProcess | null = null;

  /** Starts it, and returns once it says where it listens. */
  async start(): Promise<void> {
    const started = spawn(this.#program, ['server', 'run', '--ui', '--port', '0'], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process = started;
    await new Promise<void>((done, fail) => {
      let said = '';
      started.stdout?.on('data', (piece: Buffer) => {
        said += piece.toString();
        if (/http:\/\/\S+/.test(said)) done();
      });
      started.on('exit', (code) => fail(new Error(`the host ended with ${code}: ${said}`)));
    });
  }

  get env(): NodeJS.ProcessEnv {
    return { ...process.env, EBB_HOME: this.home, NO_COLOR: '1' };
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

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = null;
    if (running === null || running.exitCode !== null) return;
    const ended = new Promise((done) => running.once('exit', done));
    running.kill('SIGTERM');
    await ended;
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** A page that is logged in to a host of its own file. What the browser complains of fails the test. */
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
  },
});

export { expect };
