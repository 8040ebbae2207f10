import { apiKeys, type ListeningServer, type ServeOptions, serve } from '@adjutant/server';
import { agent, memoryStore, type Runtime, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bench, jsonLines } from '../run-cli.ts';

const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: z.object({ cents: z.number() }),
  approval: true,
  execute: ({ args }) => `paid ${args.cents}`,
});

/** A server with a clerk that pays, and then says so. */
async function serving(
  options: ServeOptions = {},
): Promise<{ app: Runtime; url: string; listening: ListeningServer }> {
  const model = scriptedModel((prompt) => {
    const last = prompt.at(-1);
    if (last?.role === 'tool') return { text: 'It is done.' };
    return JSON.stringify(last).includes('Pay')
      ? { toolCalls: [{ name: 'pay', args: { cents: 5 } }] }
      : { text: 'Hello.' };
  });
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const app = runtime({ app: 'shop', runnables: [clerk], store: memoryStore() });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 }, ...options });
  onTestFinished(() => listening.close({ closeApp: true }));
  return { app, url: listening.url, listening };
}

test('a chat on a server keeps to one session, line by line', async () => {
  const { app, url } = await serving();
  const { run } = bench();
  const { code, stdout, stderr } = await run(['chat', '--server', url], {
    input: 'Good day\n\nPay it\n/approve\nGood day\n/reject\n/exit\nnever said\n',
  });
  expect(stderr).toContain(`agent clerk at ${url}`);
  expect(stderr).toContain('Nothing waits for that.');
  expect(code).toBe(0);
  expect(stdout.match(/Hello\./g)).toHaveLength(2);
  expect(stdout).toContain('It is done.');
  const { sessions } = await app.sessions.list();
  expect(sessions).toHaveLength(1);
  const { events } = await app.sessions.get(sessions[0]?.id ?? '');
  expect(events.flatMap((event) => (event.type === 'user' ? [event.text] : []))).toEqual([
    'Good day',
    'Pay it',
    'Good day',
  ]);
});

test('a chat on a server that waits at its end has the exit code of that', async () => {
  const { app, url } = await serving();
  const place = bench();
  const waiting = await place.run(['chat', '--server', url, '--session', 'till'], {
    input: 'Pay it\n',
  });
  expect(waiting.code).toBe(3);
  expect(waiting.stdout).toContain(`--server ${url}`);
  const answered = await place.run(['chat', '--server', url, '--session', 'till'], {
    input: '/reject too much\n',
  });
  expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('It is done.') });
  const { events } = await app.sessions.get('till');
  expect(events.find(({ type }) => type === 'tool_input')).toMatchObject({
    decision: 'reject',
    reason: 'too much',
  });
});

test('a chat on a server is refused in a sentence', async () => {
  const { url, listening } = await serving();
  const { run } = bench();
  const refused = async (args: string[], env: Record<string, string> = {}) => {
    const { code, stderr, stdout } = await run(['chat', ...args], { input: 'Hello\n', env });
    return { code, stdout, text: stderr.trim(), lines: stderr.trim().split('\n').length };
  };
  expect(await refused(['--server', 'shop.example'])).toMatchObject({
    code: 2,
    text: expect.stringContaining('`url` must be an address such as https://agents.example.com'),
    lines: 1,
  });
  expect(await refused(['--server', url, '--agent', 'clark'])).toMatchObject({
    code: 2,
    text: expect.stringContaining('clark'),
    lines: 1,
  });
  expect(await refused(['--server', url, '--model', 'rehearsal'])).toMatchObject({
    code: 2,
    text: expect.stringContaining("'--server <url>' cannot be used with option '--model"),
  });
  await listening.close();
  expect(await refused(['--server', url])).toMatchObject({
    code: 1,
    text: expect.stringContaining('could not be reached'),
    lines: 1,
  });
});

test('a chat on a server needs a key that may start runs', async () => {
  const { app, url } = await serving({ auth: {} });
  const { credential } = await apiKeys(app).create({ name: 'look', roles: ['viewer'] });
  const { run } = bench();
  const chat = (env: Record<string, string>) =>
    run(['chat', '--server', url], { input: 'Hello\n', env });
  expect(await chat({ ADJUTANT_KEY: 'adj_wrong' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Give a key with --key, or in ADJUTANT_KEY.'),
  });
  const refused = await chat({ ADJUTANT_KEY: credential });
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('This needs the permission "operate"'),
  });
  expect(refused.stdout + refused.stderr).not.toContain(credential);
});

test('--json gives a line for each event of the runs of a chat', async () => {
  const { url } = await serving();
  const { run } = bench();
  const { code, stdout } = await run(['chat', '--server', url, '--json'], {
    input: 'Good day\nGood day\n',
  });
  const lines = jsonLines(stdout);
  expect(code).toBe(0);
  expect(lines.filter(({ type }) => type === 'result')).toHaveLength(2);
  expect(lines.filter(({ type }) => type === 'user')).toHaveLength(2);
});
