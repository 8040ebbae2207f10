import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, agent, parallel, type Runtime, runtime, step, type Tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually, roundModel } from 'adjutant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { payTool } from '../../pay-tool.ts';

let folder: string;
const apps: Runtime[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'approvals-'));
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A process on the file that all processes of a test share. */
function open(recover: 'auto' | 'manual', ...runnables: Agent[]): Runtime {
  const app = runtime({
    app: 'processes',
    store: sqlite(join(folder, 'app.db')),
    runnables,
    recover,
  });
  apps.push(app);
  return app;
}

/** A payment that tells when it was made. */
function telling(): { readonly pay: Tool; readonly made: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { pay } = payTool({
    execute: () => {
      resolve();
      return 'paid';
    },
  });
  return { pay, made: promise };
}

function payer(pay: Tool): Agent {
  return agent({
    name: 'payer',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Done.' }]),
    tools: [pay],
  });
}

test('an answer of another process is heard by the one that works on the session', async () => {
  const { pay, made } = telling();
  const busy = Promise.withResolvers<void>();
  const worker = open('manual');
  const both = parallel({
    name: 'both',
    runnables: [payer(pay), step({ name: 'busy', execute: () => busy.promise })],
  });
  const session = await worker.sessions.open();
  const run = worker.run(both, { session, input: 'Pay' });
  await eventually(() => session.ledger.requests.size === 1, { what: 'the question' });
  await session.ledger.durable();
  const person = open('manual');
  const [request] = await person.requests.listPendingApprovals();
  await person.requests.approve(request?.requestId ?? '', { by: 'ann' });
  // The branch goes on although the other one has not ended.
  await made;
  busy.resolve();
  expect((await run).status).toBe('completed');
});

test(
  'a run that nobody works on is continued by a process that has its runnables, when its ' +
    'answer has come',
  async () => {
    const first = open('manual');
    const waiting = await first.run(payer(payTool().pay), 'Pay');
    expect(waiting.status).toBe('yielded');
    await first.close();
    const { pay, made } = telling();
    const worker = open('auto', payer(pay));
    const [request] = await worker.requests.listPendingApprovals();
    await worker.requests.approve(request?.requestId ?? '');
    await made;
  },
);

test('an answer in a process without the runnables waits for one that has them', async () => {
  const first = open('manual');
  await first.run(payer(payTool().pay), 'Pay');
  await first.close();
  const person = open('auto');
  const [request] = await person.requests.listPendingApprovals();
  await person.requests.approve(request?.requestId ?? '', { by: 'ann' });
  const { pay, made } = telling();
  open('auto', payer(pay));
  await made;
});
