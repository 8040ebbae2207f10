import { eventually } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { type Project, project } from './program.ts';
import { address } from './server.ts';

const config = `
import { runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';

const writer = step({ name: 'writer', execute: (ctx) => ctx.complete('Written') });
const store = sqlite('office.db');
export const app = runtime({ app: process.env.OFFICE, store, runnables: [writer] });
export const temporal = JSON.parse(process.env.OFFICE_TEMPORAL ?? '{}');
`;

/** A project with an app of its own. */
function office(temporal: unknown = { address, sweepMs: 1_000, connectTimeoutMs: 1_000 }): Project {
  const name = `office-${process.pid}-${Date.now()}`;
  return project(config, { OFFICE: name, OFFICE_TEMPORAL: JSON.stringify(temporal) });
}

const patienceMs = 40_000;

test('a worker and a server work through Temporal, with options of the configuration', async () => {
  const { run } = office();
  const worker = run('worker', '--engine', 'temporal', '--json');
  await eventually(() => worker.text().includes('"working"'), { what: 'The worker', patienceMs });
  expect(worker.lines()).toMatchObject([{ type: 'working', engine: 'temporal' }]);
  const submitted = await run('tasks', 'submit', 'writer', 'Write', '--json').finished();
  expect(submitted).toMatchObject({ code: 0, stderr: '' });
  await eventually(() => worker.text().includes('completed'), { what: 'The task', patienceMs });
  worker.child.kill('SIGTERM');
  expect((await worker.finished()).stderr).toBe('');

  const server = run('serve', '--engine', 'temporal', '--port', '0', '--json', '--no-dashboard');
  await eventually(() => server.text().includes('"serving"'), { what: 'The server', patienceMs });
  const [{ url }] = server.lines() as [{ url: string }];
  const posted = await fetch(`${url}/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'writer', input: 'Write' }),
  });
  const { id } = (await posted.json()) as { id: string };
  const task = await fetch(`${url}/v1/tasks/${id}?wait=30000`);
  expect(await task.json()).toMatchObject({ state: 'completed' });
  server.child.kill('SIGTERM');
  await server.finished();
});

test.each<[string, string[], string]>([
  ['a server that is away', ['--temporal-address', '127.0.0.1:9'], 'No Temporal server answers at'],
  ['a wrong namespace', ['--temporal-namespace', 'nowhere'], 'has no namespace "nowhere"'],
])('%s is an error at the start', async (_, args, words) => {
  const { run } = office();
  const { code, stderr } = await run('worker', '--engine', 'temporal', ...args).finished();
  expect(code).toBe(1);
  expect(stderr).toContain(words);
});

test.each<[string, unknown, string]>([
  ['a list', [], 'exports a `temporal` that is not an object'],
  ['a wrong name', { adress: 'a:1' }, 'there is no option `adress`'],
])('options in the configuration are checked: %s', async (_, temporal, words) => {
  const { run } = office(temporal);
  const { code, stderr } = await run('worker', '--engine', 'temporal').finished();
  expect(code).not.toBe(0);
  expect(stderr).toContain(words);
});
