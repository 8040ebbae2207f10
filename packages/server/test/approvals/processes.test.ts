import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually, roundModel } from 'adjutant/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { server } from '../../src/index.ts';
import { linkKey, payer, payTool, send, waitingServer } from './paying-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'server-approvals-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Path of the page behind a link. */
function pathOf({ url }: { url: string }): string {
  return new URL(url).pathname;
}

async function post(
  api: ReturnType<typeof server>,
  path: string,
  form: Record<string, string>,
): Promise<number> {
  const response = await api.fetch(
    new Request(`http://localhost${path}`, { method: 'POST', body: new URLSearchParams(form) }),
  );
  await response.text();
  return response.status;
}

describe('after a restart between question and answer', () => {
  test.each(['answer', 'batch', 'link'])('the %s counts, and the run goes on', async (manner) => {
    const file = join(folder, `restart-${manner}.db`);
    const before = await waitingServer({ store: sqlite(file) });
    const { requestId, session } = before;
    const { body: link } = await send(before.api, 'POST', `/v1/approvals/${requestId}/link`, {});
    await before.api.close();
    await before.app.close();

    const { pay, paid } = payTool();
    const runnable = payer(pay, [{ cents: 5 }]);
    const app = runtime({
      app: 'shop',
      store: sqlite(file),
      runnables: [runnable],
      approvals: { keys: [linkKey] },
    });
    const api = server(app);
    try {
      const listed = (await send(api, 'GET', '/v1/approvals')).body.requests;
      expect(listed).toMatchObject([{ requestId, session, status: 'pending' }]);
      if (manner === 'answer')
        expect(
          (await send(api, 'POST', `/v1/approvals/${requestId}`, { decision: 'approve' })).status,
        ).toBe(200);
      else if (manner === 'batch')
        await send(api, 'POST', '/v1/approvals', { answers: [{ requestId, decision: 'approve' }] });
      else expect(await post(api, pathOf(link), { decision: 'approve' })).toBe(200);
      // Nobody asks for it: recovery carries the run on.
      await eventually(() => paid.length === 1, { what: 'the payment' });
      expect(paid).toEqual([{ cents: 5 }]);
      expect(
        (await send(api, 'POST', `/v1/approvals/${requestId}`, { decision: 'reject' })).body.code,
      ).toBe('request_settled');
    } finally {
      await api.close();
      await app.close();
    }
  });
});

test('an answer through one server reaches a run that another one holds', async () => {
  const file = join(folder, 'held.db');
  const { pay, paid } = payTool();
  const gate = Promise.withResolvers<void>();
  const slow = tool({
    name: 'slow',
    description: 'Takes long',
    schema: z.object({}),
    execute: () => gate.promise.then(() => 'done'),
  });
  const toolCalls = [
    { name: 'pay', args: { cents: 5 } },
    { name: 'slow', args: {} },
  ];
  const runnable = agent({
    name: 'payer',
    model: roundModel([{ toolCalls }, { text: 'Done.' }]),
    tools: [pay, slow],
  });
  const options = {
    app: 'shop',
    runnables: [runnable],
    recover: 'manual',
    approvals: { keys: [linkKey] },
  } as const;
  const holder = runtime({ ...options, store: sqlite(file) });
  const other = runtime({ ...options, store: sqlite(file) });
  const [first, second] = [server(holder), server(other)];
  try {
    const run = holder.run(runnable, 'Pay');
    const requests = async () => (await send(second, 'GET', '/v1/approvals')).body.requests;
    let requestId = '';
    const asked = (async () => {
      while (requestId === '') requestId = (await requests())[0]?.requestId ?? '';
    })();
    await eventually(asked);
    expect(
      (
        await send(second, 'POST', `/v1/approvals/${requestId}`, {
          decision: 'edit',
          args: { cents: 7 },
        })
      ).status,
    ).toBe(200);
    expect(
      await send(first, 'POST', `/v1/approvals/${requestId}`, { decision: 'approve' }),
    ).toMatchObject({
      status: 409,
      body: { code: 'request_settled' },
    });
    await eventually(() => paid.length === 1, {
      what: 'the payment by the process that holds the run',
    });
    gate.resolve();
    expect((await run).status).toBe('completed');
    expect(paid).toEqual([{ cents: 7 }]);
  } finally {
    gate.resolve();
    await holder.close();
    await other.close();
  }
});
