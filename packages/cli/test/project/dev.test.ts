/** `adjutant dev`: a server that loads the project anew, and tells of requests and runs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bench, type RunningCli, repositoryRoot } from '../run-cli.ts';

const config = `import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { coder } from './src/agent.ts';
export const app = runtime({ app: 'shop', store: sqlite('FOLDER/shop.db'), runnables: [coder] });
`;

function agentCode(tool: string): string {
  return `import { agent, tool } from 'adjutant';
const write = tool({
  name: '${tool}',
  description: 'Writes',
  schema: { type: 'object' },
  approval: true,
  idempotent: true,
  execute: () => 'written by ${tool}',
});
export const coder = agent({ name: 'coder', model: 'rehearsal', tools: [write] });
`;
}

/** A project below the repository, where it finds the packages. */
function projectFolder(): string {
  const parent = join(repositoryRoot, 'dist');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'adjutant.config.ts'), config.replace('FOLDER', folder));
  writeFileSync(join(folder, 'src/agent.ts'), agentCode('write'));
  return folder;
}

/** Text that a program writes, and waits for parts of it. */
class Output {
  text = '';
  readonly #running: RunningCli;

  constructor(running: RunningCli) {
    this.#running = running;
    for (const stream of [running.child.stdout, running.child.stderr])
      stream?.on('data', (text: string) => {
        this.text += text;
      });
  }

  /** Waits for a match. @throws Error with the whole output when the program ends without it */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    const { child, finished } = this.#running;
    const ended = finished.then(() => 'ended' as const);
    for (;;) {
      const found = pattern.exec(this.text);
      if (found !== null) return found;
      const more = new Promise<'more'>((resolve) => {
        for (const stream of [child.stdout, child.stderr])
          stream?.once('data', () => resolve('more'));
      });
      if ((await Promise.race([more, ended])) === 'ended')
        throw new Error(`${String(pattern)} was not written:\n${this.text}`);
    }
  }
}

function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function ask(url: string, input: string): Promise<Response> {
  await post(`${url}/v1/sessions`, { id: 'first' });
  return post(`${url}/v1/runs`, { agent: 'coder', session: 'first', input });
}

test('requests and runs are told; a change is served, and a broken one is not', async () => {
  const { start } = bench();
  const folder = projectFolder();
  const running = start(['dev', '--port', '0'], { cwd: folder });
  const output = new Output(running);
  const [, url = ''] = await output.shows(/^shop at (http:\S+) · watching 2 files$/m);

  expect((await ask(url, 'Use write {"text":"hi"}')).status).toBe(202);
  await output.shows(/^\d\d:\d\d:\d\d POST \/v1\/runs 202 \d+/m);
  await output.shows(/ first coder "Use write \{"text":"hi"\}"$/m);
  const [, command = ''] = await output.shows(
    / first \? write waits: .* → node .*main\.js (approve .*)$/m,
  );

  writeFileSync(join(folder, 'src/agent.ts'), 'export const coder = ;\n');
  await output.shows(/ ✗ src\/agent\.ts:1 .* The former code serves on\.$/m);
  expect((await fetch(`${url}/v1/agents`)).status).toBe(200);

  writeFileSync(join(folder, 'src/agent.ts'), agentCode('write').replace('Writes', 'Writes it'));
  await output.shows(/ reload src\/agent\.ts \d.* · 1 waiting run fits · 0 mismatches$/m);
  expect(await (await fetch(`${url}/v1/agents`)).text()).toContain('Writes it');

  const { start: startOther } = bench();
  const approved = await startOther(command.split(' '), { cwd: folder }).finished;
  expect(approved).toMatchObject({ code: 0 });
  await output.shows(/ first ✓ coder completed · .*$/m);

  running.child.kill('SIGTERM');
  expect((await running.finished).code).toBe(0);
});

test('a run that waits for a tool that is gone is named', async () => {
  const { start } = bench();
  const folder = projectFolder();
  const running = start(['dev', '--port', '0'], { cwd: folder });
  const output = new Output(running);
  const [, url = ''] = await output.shows(/^shop at (http:\S+)/m);
  await ask(url, 'Use write {"text":"hi"}');
  await output.shows(/ first \? write waits/m);
  writeFileSync(join(folder, 'src/agent.ts'), agentCode('save'));
  await output.shows(/ reload src\/agent\.ts .* · 0 waiting runs fit · 1 mismatch$/m);
  await output.shows(/ ! first cannot go on: /m);
  running.child.kill('SIGTERM');
  await running.finished;
});

test('without a configuration there is nothing to serve', async () => {
  const { run, folder } = bench();
  expect(await run(['dev'], { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('adjutant dev serves the app of adjutant.config.ts'),
  });
});
