import { agent, memoryStore, pending, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const key = { id: 'k', secret: 'k'.repeat(32) };
/** As a program without types, or with types that were cast away, would call it. */
const untyped = (value: unknown) => value as never;

async function waiting() {
  const refund = tool({
    name: 'refund',
    description: 'Gives money back',
    schema: z.object({}),
    approval: true,
    execute: () => 'refunded',
  });
  const render = tool({
    name: 'render',
    description: 'Renders',
    schema: z.object({}),
    execute: () => pending({ operationId: 'film' }),
  });
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel([
      { toolCalls: [{ name: 'refund' }, { name: 'render' }] },
      { text: 'Done.' },
    ]),
    tools: [refund, render],
  });
  const app = runtime({ app: 'shop', approvals: { keys: [key] } });
  const result = await app.run(clerk, { session: 's', input: 'Both' });
  const request = result.pendingApprovals[0]?.requestId ?? '';
  return { app, request, session: result.session };
}

describe('what is said to a session with options that do not fit changes nothing', () => {
  test.each([
    [
      'list in no order',
      (app) => app.sessions.list(untyped({ ordre: 'createdAt' })),
      /Sessions cannot be listed: .*did you mean `order`/,
    ],
    [
      'cancel without a session',
      (app) => app.cancel(untyped(undefined)),
      /a session or the id of one is needed, not undefined/,
    ],
    [
      'cancel with a misspelt option',
      (app) => app.cancel('s', untyped({ resaon: 'x' })),
      /cannot be cancelled: there is no option `resaon` \(did you mean `reason`/,
    ],
    [
      'cancel in the name of nobody',
      (app) => app.cancel('s', untyped({ by: 'ann' })),
      /`by` must be 'user', 'operator' or 'trigger'/,
    ],
    [
      'pause in the name of the model',
      (app) => app.pause('s', { by: 'model' }),
      /cannot be paused: `by` must be 'user'/,
    ],
    [
      'pause with null',
      (app) => app.pause('s', untyped(null)),
      /options must be an object, not null/,
    ],
    [
      'send nothing',
      (app) => app.send('s', untyped(undefined)),
      /the text must be a string, not undefined/,
    ],
    [
      'send with a misspelt option',
      (app) => app.send('s', 'x', untyped({ interupt: true })),
      /did you mean `interrupt`/,
    ],
    [
      'reopen without options',
      (app) => app.sessions.reopen('s', untyped(undefined)),
      /`reason` is missing/,
    ],
    [
      'reopen without a reason',
      (app) => app.sessions.reopen('s', untyped({})),
      /`reason` is missing/,
    ],
    [
      'resolveUnknown without what happened',
      (app) => app.sessions.resolveUnknown('s', 'call', untyped({})),
      /`happened` is missing/,
    ],
    [
      'resolveUnknown with a maybe',
      (app) => app.sessions.resolveUnknown('s', 'call', untyped({ happened: 'maybe' })),
      /`happened` must be true or false, not "maybe"/,
    ],
    [
      'resolveUnknown with a failure that happened',
      (app) => app.sessions.resolveUnknown('s', 'call', { happened: true, failed: 'declined' }),
      /`failed` is for what did not happen/,
    ],
    [
      'resolveUnknown with a result of nothing',
      (app) => app.sessions.resolveUnknown('s', 'call', { happened: false, result: 'paid' }),
      /`result` is for what happened/,
    ],
    [
      'resume without a session',
      async (app) => app.resume(untyped(undefined)),
      /a session or the id of one is needed, not undefined/,
    ],
  ] satisfies [string, (app: ReturnType<typeof runtime>) => Promise<unknown>, RegExp][])(
    '%s',
    async (_title, say, message) => {
      const { app } = await waiting();
      await expect(say(app)).rejects.toMatchObject({
        code: 'invalid_run',
        message: expect.stringMatching(message),
      });
      expect((await app.advance('s')).status).toBe('waiting');
      expect((await app.sessions.list()).sessions.map(({ id }) => id)).toEqual(['s']);
    },
  );

  test('an option that is a group says what does not fit inside', () => {
    expect(() => runtime({ app: 'shop', lease: { ttlMs: 3 } })).toThrow(
      /`lease` must be an object whose `ttlMs` is a number of milliseconds from 100, not 3\.$/,
    );
  });

  test('hooks in a list say what does not fit in one of them', () => {
    const define = () =>
      agent({ name: 'a', model: scriptedModel([]), hooks: [{}, untyped({ name: 'mine' })] });
    expect(define).toThrow(
      /`hooks` must be a list of hooks, each an object without `name` \(.*onToolError\)\.$/,
    );
  });

  test('a message that is no text is not recorded', async () => {
    const { session } = await waiting();
    expect(() => session.addMessage(untyped(undefined))).toThrow(
      expect.objectContaining({ code: 'invalid_event' }),
    );
  });
});

describe('what is said to a request with options that do not fit leaves it pending', () => {
  test.each([
    [
      'settle with a misspelt `failed`',
      (app) => app.requests.settleOperation('film', 'no film', untyped({ faild: true })),
      /cannot be settled: .*did you mean `failed`/,
    ],
    [
      'settle without a result',
      (app) => app.requests.settleOperation('film', untyped(undefined)),
      /the result is missing/,
    ],
    [
      'answer what is no list',
      (app) => app.requests.answerAll(untyped({})),
      /a list of answers is needed/,
    ],
    [
      'a token with misspelt decisions',
      (app, id) => app.requests.token(id, untyped({ decison: ['reject'] })),
      /No token can be made: .*did you mean `decisions`/,
    ],
    [
      'a token for no decision',
      (app, id) => app.requests.token(id, { decisions: [] }),
      /a list of at least one decision/,
    ],
    [
      'a token that is over',
      (app, id) => app.requests.token(id, { expiresAt: 3 }),
      /`expiresAt` is over/,
    ],
    [
      'a token that is over at no time',
      (app, id) => app.requests.token(id, { expiresAt: Number.NaN }),
      /`expiresAt` must be a number greater than 0/,
    ],
    [
      'decide without a decision',
      async (app, id) => app.requests.decide(await app.requests.token(id), untyped(undefined)),
      /an object with a `decision` is needed/,
    ],
    [
      'list a kind that does not exist',
      (app) => app.requests.list(untyped({ kinds: ['aproval'] })),
      /Requests cannot be listed: `kinds` must be a list of 'approval'/,
    ],
  ] satisfies [
    string,
    (app: ReturnType<typeof runtime>, request: string) => Promise<unknown>,
    RegExp,
  ][])('%s', async (_title, say, message) => {
    const { app, request } = await waiting();
    await expect(say(app, request)).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringMatching(message),
    });
    expect(await app.requests.list({ status: 'pending' })).toHaveLength(2);
  });

  test('an entry of a batch that is no answer does not stop the others', async () => {
    const { app, request } = await waiting();
    const outcomes = await app.requests.answerAll([
      untyped(undefined),
      { requestId: request, decision: 'approve' },
    ]);
    expect(outcomes.map(({ accepted }) => accepted)).toEqual([false, true]);
  });

  test('what does not fit is refused also by a process that does not have the tool', async () => {
    const store = memoryStore();
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ answer: z.string() }),
    });
    const asker = agent({
      name: 'asker',
      model: scriptedModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'Done.' }]),
      tools: [ask],
    });
    const app = runtime({ app: 'shop', store, runnables: [asker], recover: 'manual' });
    const waits = await app.run(asker, { session: 's', input: 'Ask' });
    const requestId = waits.pendingCalls[0]?.requestId ?? '';
    const elsewhere = runtime({ app: 'shop', store, recover: 'manual' });
    await expect(
      elsewhere.requests.answer(requestId, { input: { answer: 3 } }),
    ).rejects.toMatchObject({
      code: 'input_mismatch',
      message: expect.stringContaining('the input does not fit: $.answer must be a string'),
    });
    await elsewhere.requests.answer(requestId, { input: { answer: 'yes' } });
    expect((await app.resume('s')).output).toBe('Done.');
  });
});

test('a key of the state that would change the prototype of what holds it', async () => {
  const made = await runtime({ app: 'bad' }).sessions.open();
  const hostile = JSON.parse('{"__proto__": {"admin": true}}') as Record<string, unknown>;
  expect(() => made.state.update(hostile)).toThrow(/"__proto__".*reserved/);
  expect(made.events).toEqual([]);
});
