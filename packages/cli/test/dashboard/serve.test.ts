import { existsSync, readFileSync } from 'node:fs';
import { eventually } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { type Bench, bench, jsonLines, type ProcessOptions } from '../run-cli.ts';
import { cloneIn, openerIn } from './clone.ts';

const patience = { patienceMs: 100_000 };

interface Served {
  readonly url: string;
  readonly page: string | undefined;
  stderr(): string;
  status(path: string): Promise<number>;
  text(path: string): Promise<string>;
  stop(): Promise<void>;
}

async function served(
  place: Bench,
  args: readonly string[],
  options: ProcessOptions,
): Promise<Served> {
  const { child, finished } = place.start(['serve', '--port', '0', ...args], options);
  const said = { stdout: '', stderr: '' };
  child.stdout?.on('data', (text: string) => (said.stdout += text));
  child.stderr?.on('data', (text: string) => (said.stderr += text));
  await eventually(() => said.stdout.includes('Ctrl-C') || /^\{.*\n/.test(said.stdout), patience);
  const [line] = said.stdout.startsWith('{') ? jsonLines(said.stdout) : [];
  const url = (line?.['url'] ?? /http:\/\/\S+?:\d+/.exec(said.stdout)?.[0]) as string;
  const page = line === undefined ? / page +(\S+)/.exec(said.stdout)?.[1] : line['page'];
  const get = (path: string): Promise<Response> => fetch(`${url}${path}`);
  return {
    url,
    page: page as string | undefined,
    stderr: () => said.stderr,
    status: async (path) => {
      const response = await get(path);
      await response.text();
      return response.status;
    },
    text: async (path) => (await get(path)).text(),
    stop: async () => {
      child.kill('SIGTERM');
      expect((await finished).code).toBe(0);
    },
  };
}

describe('adjutant serve in a clone', () => {
  test('builds the dashboard once, says so, and answers meanwhile', async () => {
    const place = bench();
    const { program, letBuild, write } = cloneIn(place.folder);
    const first = await served(place, [], { program });
    expect(first.page).toBe(`${first.url}/`);
    await eventually(() => first.stderr().includes('Building the dashboard'), patience);
    expect(first.stderr()).toContain('Installing the packages of the dashboard (once)');
    expect(await first.status('/v1/sessions')).toBe(200);
    expect(await first.status('/sessions/one')).toBe(503);
    letBuild();
    await eventually(() => first.stderr().includes('The dashboard is built'), patience);
    expect(await first.text('/sessions/one')).toContain('<head><base href="/"></head>One');
    await first.stop();

    const second = await served(place, ['--json'], { program });
    expect(second.page).toBe(`${second.url}/`);
    expect(await second.status('/')).toBe(200);
    await second.stop();
    expect(second.stderr()).not.toContain('dashboard');

    write('<html><head></head>Two</html>', 60);
    const third = await served(place, [], { program });
    await eventually(() => third.stderr().includes('The dashboard is built'), patience);
    expect(await third.text('/')).toContain('Two');
    await third.stop();
  });

  test('says why the dashboard could not be built, and goes on', async () => {
    const place = bench();
    const { program, letBuild, write } = cloneIn(place.folder);
    write('broken');
    letBuild();
    const { stderr, status, stop } = await served(place, [], { program });
    await eventually(() => stderr().includes('The dashboard could not be built'), patience);
    await eventually(() => stderr().includes('no such module: broken'), patience);
    expect(await status('/v1/sessions')).toBe(200);
    expect(await status('/')).toBe(503);
    await stop();
  });

  test('builds nothing and serves no page with --no-dashboard', async () => {
    const place = bench();
    const { program } = cloneIn(place.folder);
    const { page, status, stderr, stop } = await served(place, ['--no-dashboard'], { program });
    expect(page).toBeUndefined();
    expect(await status('/')).toBe(404);
    await stop();
    expect(stderr()).not.toContain('dashboard');
  });

  test('ends the build with the server', async () => {
    const place = bench();
    const { program } = cloneIn(place.folder);
    const { stderr, stop } = await served(place, [], { program });
    await eventually(() => stderr().includes('Building the dashboard'), patience);
    await stop();
    expect(stderr()).not.toContain('could not be built');
  });
});

describe('adjutant serve --open', () => {
  test.runIf(process.platform === 'linux')('opens the page in the browser', async () => {
    const place = bench();
    const { program, letBuild } = cloneIn(place.folder);
    letBuild();
    const { path, told } = openerIn(place.folder);
    const env = { PATH: `${path}:${process.env['PATH']}` };
    const { page, stop } = await served(place, ['--open'], { program, env });
    await eventually(() => existsSync(told), patience);
    expect(readFileSync(told, 'utf8')).toBe(page);
    await stop();
  });

  test.runIf(process.platform === 'linux')('says so when it cannot', async () => {
    const place = bench();
    const { program, letBuild } = cloneIn(place.folder);
    letBuild();
    const { path } = openerIn(place.folder, 3);
    const env = { PATH: `${path}:${process.env['PATH']}` };
    const { page, stderr, stop } = await served(place, ['--open'], { program, env });
    await eventually(() => stderr().includes('could not be opened'), patience);
    expect(stderr()).toContain(`(xdg-open: it ended with 3). Open ${page} yourself.`);
    await stop();
  });

  test('says that there is no page where none is served', async () => {
    const place = bench();
    const { program } = cloneIn(place.folder);
    const asked = ['--open', '--no-dashboard'];
    const { stderr, stop } = await served(place, asked, { program });
    await stop();
    expect(stderr()).toContain('There is no page to open');
  });
});
