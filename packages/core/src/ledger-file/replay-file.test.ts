import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { JsonValue } from '../base/json.ts';
import { secret } from '../base/secret.ts';
import { includeHistory, injectSystemMessage } from '../context/renderers.ts';
import { divergenceText } from '../replay/divergence-text.ts';
import { agent } from '../runnables/agent.ts';
import { sequence } from '../runnables/sequence.ts';
import { step } from '../runnables/step.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { exportLedger } from './export-ledger.ts';
import { ledgerFileText } from './ledger-file.ts';
import { parseLedgerFile, readLedgerFile } from './read-ledger-file.ts';
import { replayFile } from './replay-file.ts';
import { writeLedgerFile } from './write-ledger-file.ts';

const portalKey = secret('PORTAL_KEY', 'a key like no other');

interface Shop {
  readonly system?: string;
  readonly refund?: string;
  readonly limit?: number;
}

const email = 'ann.lee@example.com';

/** An app that passes on what customers say, with a secret of its own in its prompt. */
function shop({ system = 'Be kind', refund = 'refund', limit = 20 }: Shop = {}) {
  const model = scriptedModel([
    { toolCalls: [{ name: 'findCustomer', args: { email } }] },
    {
      toolCalls: [
        {
          name: 'refund',
          args: { email, cents: 4200, note: `for ${email}`, token: 'tok-5544332211' },
        },
      ],
    },
    { text: `Done, ${email} has it back.` },
    { text: `A letter for ${email}` },
  ]);
  const findCustomer = tool({
    name: 'findCustomer',
    description: 'Finds a customer',
    schema: z.object({ email: z.string() }),
    execute: ({ args }) => ({
      email: args.email,
      phone: '0790001122',
      page: 'x'.repeat(70_000) + args.email,
    }),
  });
  const pay = tool({
    name: refund,
    description: 'Pays back',
    schema: z.object({ email: z.string(), cents: z.int(), note: z.string(), token: z.string() }),
    recovery: 'report',
    approval: {
      when: ({ args }) => args.cents > 1_000,
      summary: ({ args }) => `Refund ${args.email}`,
    },
    execute: () => 'paid',
  });
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [findCustomer, pay],
    context: [
      injectSystemMessage(`${system}. The key of the portal is ${portalKey.reveal()}.`),
      includeHistory(),
    ],
    limits: { rounds: limit },
  });
  const writer = agent({ name: 'writer', model, input: z.object({ to: z.string() }) });
  const thank = step({
    name: 'thank',
    execute: async (ctx) => {
      await ctx.call(writer, { data: { to: String(ctx.state['customer']) } });
    },
  });
  const answer = sequence({ name: 'answer', runnables: [clerk, thank] });
  return { app: runtime({ app: 'shop', runnables: [answer] }), answer };
}

/** Exports what happened with a customer, whose address and phone are nobody's business. */
async function incident(): Promise<string> {
  const { app, answer } = shop();
  const session = await app.sessions.open({ id: 'incident' });
  session.state.update({ customer: email });
  const run = await app.run(answer, { session, input: `I am ${email}` });
  const [asked] = run.pendingCalls;
  await app.requests.answer(asked?.requestId ?? '', { decision: 'approve' });
  const end = await app.resume(session);
  expect(end.status).toBe('completed');
  const path = await mkdtemp(join(tmpdir(), 'adjutant-replay-file-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const file = join(path, 'incident.ledger.json');
  await writeLedgerFile(
    file,
    await exportLedger(session, {
      redact: { fields: ['email', 'phone'], patterns: [/\S+@example\.com/] },
    }),
  );
  return file;
}

test(
  'a file replays without a divergence on the code that it was recorded with, redacted as it ' +
    'is',
  async () => {
    const file = await incident();
    const text = await readFile(file, 'utf8');
    expect(
      [email, '0790001122', 'tok-5544332211', portalKey.reveal()].filter((value) =>
        text.includes(value),
      ),
    ).toEqual([]);
    const report = await replayFile(file, shop().app);
    expect(report).toMatchObject({ session: 'incident', divergence: undefined });
    expect(report.events).toBe((await readLedgerFile(file)).events.length);
  },
);

test('and on changed code with the first divergence, at the right event', async () => {
  const file = await incident();
  const { events } = await readLedgerFile(file);
  const firstCall = events.find(({ type }) => type === 'model_start')?.seq;
  expect((await replayFile(file, shop({ system: 'Be brief' }).app)).divergence).toMatchObject({
    seq: firstCall,
    kind: 'prompt',
  });
  expect((await replayFile(file, shop({ refund: 'payBack' }).app)).divergence).toMatchObject({
    seq: firstCall,
    subject: expect.stringContaining('payBack'),
  });
  const { divergence } = await replayFile(file, shop({ limit: 2 }).app);
  expect(divergence?.seq).toBeGreaterThan(firstCall ?? 0);
});

test('and on an app without the agent with what is missing', async () => {
  const { divergence } = await replayFile(await incident(), runtime({ app: 'shop' }));
  const text = divergence && divergenceText(divergence);
  expect(text).toMatch(
    /First divergence at event 2 .*\n {2}A message of the user is recorded, and it does not come: There is no runnable named "answer"/,
  );
  expect(text).not.toContain('..\n');
});

test('what has been read is replayed as well, and `normalize` has the last word', async () => {
  const file = await readLedgerFile(await incident());
  const { app } = shop({ system: 'Be brief' });
  const normalize = (value: JsonValue): JsonValue =>
    JSON.parse(JSON.stringify(value).replaceAll(/Be (?:kind|brief)/g, 'Be …')) as JsonValue;
  expect((await replayFile(file, app)).divergence).toBeDefined();
  expect((await replayFile(file, app, { normalize })).divergence).toBeUndefined();
});

test('what is no ledger file is not replayed', async () => {
  await expect(replayFile('/nowhere/at/all.json', shop().app)).rejects.toMatchObject({
    code: 'invalid_ledger_file',
  });
});

/** An app whose clerk asks before paying, started by a step with what the user said. */
function office() {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ to: z.string(), cents: z.int() }),
    approval: { summary: ({ args }) => `Pay ${args.to}` },
    prepare: ({ args }) => ({ ...args, to: args.to.toUpperCase() }),
    execute: ({ args }) => ({ paid: args.cents, to: args.to }),
  });
  const model = scriptedModel([
    { toolCalls: [{ name: 'pay', args: { to: email, cents: 4711 } }] },
    { text: 'Paid.' },
  ]);
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [pay],
    input: z.object({ customer: z.string() }),
  });
  const desk = step({
    name: 'desk',
    execute: async (ctx) => {
      const { customer } = z.object({ customer: z.string() }).parse(ctx.input?.data);
      await ctx.call(clerk, { data: { customer } });
    },
  });
  return { app: runtime({ app: 'office', runnables: [desk, clerk] }), desk };
}

test(
  'questions of a child that is named by its input keep their answers, whatever was taken ' +
    'out of their arguments',
  async () => {
    const { app, desk } = office();
    const { pendingCalls, session } = await app.run(desk, {
      data: { customer: email },
      session: await app.sessions.open({ id: email }),
    });
    await app.requests.answer(pendingCalls[0]?.requestId ?? '', {
      decision: 'edit',
      input: { to: 'bob@example.com', cents: 8150 },
    });
    expect((await app.resume(session)).status).toBe('completed');
    const file = await exportLedger(session, {
      redact: { fields: ['to', 'cents', 'customer'], patterns: [/\S+@example\.com/i] },
    });
    expect(
      ledgerFileText(file).match(/.{30}(?:ann\.lee|bob|(?<!\d)(?:4711|8150)(?!\d)).{10}/gi),
    ).toBeNull();
    expect(file.session).toMatch(/^\[redacted/);
    const { divergence } = await replayFile(parseLedgerFile(ledgerFileText(file)), office().app);
    expect(divergence && divergenceText(divergence)).toBeUndefined();
  },
);
