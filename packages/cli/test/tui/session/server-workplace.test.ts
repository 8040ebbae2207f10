import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { agent, memoryStore, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { RemoteContext } from '../../../src/access/server-run.ts';
import { processHost } from '../../../src/host/host.ts';
import { Interruption } from '../../../src/host/interruption.ts';
import { openServerWorkplace } from '../../../src/tui/session/server-workplace.ts';

const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: z.object({}),
  approval: true,
  execute: () => 'paid',
});
const clerk = agent({
  name: 'clerk',
  description: 'Keeps the till',
  model: scriptedModel(() => ({ toolCalls: [{ name: 'pay', args: {} }] })),
  tools: [pay],
});
const greeter = agent({ name: 'greeter', model: scriptedModel(() => ({ text: 'Hello.' })) });

async function placed() {
  const app = runtime({ app: 'shop', runnables: [clerk, greeter], store: memoryStore() });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-workplace-'));
  onTestFinished(async () => {
    await listening.close({ closeApp: true });
    rmSync(folder, { recursive: true, force: true });
  });
  const host = { ...processHost(), cwd: folder, env: { ADJUTANT_HOME: join(folder, 'data') } };
  const open = (options: Partial<RemoteContext['options']> = {}, session?: string) =>
    openServerWorkplace(
      {
        host,
        interruption: new Interruption(host.signals),
        options: { server: listening.url, ...options },
      },
      session,
    );
  return { app, url: listening.url, folder, open };
}

test('a server has agents, sessions, requests and files of its own', async () => {
  const { app, url, folder, open } = await placed();
  await app.run(greeter, { session: 'greeting', input: 'Good day' });
  await app.run(clerk, { session: 'till', input: 'Pay' });
  const { workplace, session } = await open({ agent: 'clerk' }, 'till');
  expect(session).toBe('till');
  expect(workplace.title).toBe(`agent clerk at ${url}`);
  expect(workplace.facts).toEqual(['1 tool']);
  expect(workplace.agents).toEqual([
    { kind: 'agent', name: 'clerk', description: 'Keeps the till' },
    { kind: 'agent', name: 'greeter' },
  ]);
  workplace.agent = { kind: 'agent', name: 'greeter' };
  expect(workplace.agent.name).toBe('greeter');
  workplace.agent = { kind: 'agent', name: 'nobody' };
  expect(workplace.agent.name).toBe('greeter');
  expect((await workplace.listSessions('')).map(({ id }) => id)).toEqual(['till', 'greeting']);
  expect(await workplace.listSessions('good')).toMatchObject([
    { id: 'greeting', runnable: 'greeter' },
  ]);
  expect(await workplace.listRequests()).toMatchObject([{ session: 'till', kind: 'approval' }]);
  const file = await workplace.exportSession('greeting');
  expect(file).toBe(join(folder, 'greeting.json'));
  expect(readFileSync(file, 'utf8')).toContain('Good day');
  expect(workplace.texts.history).toContain(join(folder, 'data', 'history'));
  expect(workplace.texts.draft('till')).not.toBe(workplace.texts.draft('greeting'));
  expect(workplace.commandFor('till')).toContain(`chat --session till --server ${url}`);
  expect(await workplace.findSession('eeting')).toBe('greeting');
  await expect(workplace.findSession('nothing')).rejects.toMatchObject({
    code: 'session_not_found',
  });
  await workplace.deleteSession('greeting');
  expect((await workplace.listSessions('')).map(({ id }) => id)).toEqual(['till']);
});

test('the agent of the last run goes on; of several one has to be named', async () => {
  const { app, url, open } = await placed();
  await app.run(greeter, { session: 'greeting', input: 'Good day' });
  expect((await open({}, 'greeting')).workplace.agent.name).toBe('greeter');
  await expect(open()).rejects.toThrow(
    `${url} has several agents: clerk, greeter. Name one with --agent.`,
  );
  await expect(open({ agent: 'clark' })).rejects.toMatchObject({ code: 'agent_not_found' });
  expect((await open({ agent: 'clerk' })).session).toBeUndefined();
});
