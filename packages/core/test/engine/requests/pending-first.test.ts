import {
  type Agent,
  agent,
  type Event,
  type JsonObject,
  memoryStore,
  parallel,
  type Runtime,
  runtime,
  step,
  type Tool,
  tool,
} from 'adjutant';
import { keptOpen, roundModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { storePlaces } from '../../store-places.ts';

function asking(name: string, yieldSchema: Tool['yieldSchema'], options: object = {}): Tool {
  return tool({
    name,
    description: 'Asks the user',
    schema: z.object({}),
    yieldSchema: yieldSchema as never,
    ...options,
  });
}

const booking = z.object({ name: z.string(), guests: z.number(), vegan: z.boolean().optional() });
const address = z.object({ street: z.string(), zip: z.string() });
const email = z.object({ email: z.email() });
const code = z.object({ code: z.number() });

/** An agent that makes one call of each tool and then ends. */
function clerk(...tools: readonly Tool[]): Agent {
  return agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: tools.map(({ name }) => ({ name })) }, { text: 'Done.' }]),
    tools: [...tools],
  });
}

const results = (events: readonly Event[]) =>
  Object.fromEntries(
    events.flatMap((event) =>
      event.type === 'tool_result' ? [[event.name, event.result.content] as const] : [],
    ),
  );
const users = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'user' ? [event.text] : []));
const ambiguities = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'decision' && event.decision === 'ambiguous_answer' ? [event] : [],
  );

describe('a message that is read as the input', () => {
  test.each<[string, z.ZodType, string, unknown]>([
    ['a text', z.string().min(2), 'red', 'red'],
    ['a text that looks like a number', z.string(), '42', '42'],
    ['a number', z.number(), ' 42 ', 42],
    ['a flag', z.boolean(), 'Yes', true],
    ['JSON', booking, '{"name":"Ann","guests":2}', { name: 'Ann', guests: 2 }],
    ['a list in JSON', z.array(z.number()), '[1, 2]', [1, 2]],
    [
      'fields in lines',
      booking,
      'Name: Ann\nguests: 2\nvegan: no',
      { name: 'Ann', guests: 2, vegan: false },
    ],
    ['fields behind commas', booking, 'name=Ann, B., guests = 2', { name: 'Ann, B.', guests: 2 }],
    ['the only field that is needed', z.object({ answer: z.string() }), 'red', { answer: 'red' }],
    [
      'the only required field',
      z.object({ guests: z.number(), note: z.string().optional() }),
      '4',
      { guests: 4 },
    ],
  ])('%s', async (_name, schema, message, input) => {
    const app = runtime({ app: 'pending' });
    const runnable = clerk(asking('ask', schema as never));
    await app.run(runnable, { session: 's', input: 'Go' });
    const last = await app.run(runnable, { session: 's', input: message });
    expect(last).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(results(last.session.events)).toEqual({ ask: input });
    expect(users(last.session.events)).toEqual(['Go']);
    const answer = last.session.events.find(({ type }) => type === 'tool_input');
    expect(answer).toMatchObject({ input, text: message, by: 'user' });
  });

  test.each([
    ['does not fit', booking, 'I do not know yet'],
    ['lacks a field', booking, 'name: Ann'],
    ['names a field twice', booking, 'name: Ann\nname: Bob\nguests: 1'],
    ['has other words before the fields', booking, 'Well, name: Ann, guests: 2'],
    ['has a wrong value', email, 'ann at home'],
    ['is empty', z.object({ answer: z.string() }), '  '],
  ])('is a message like any other when it %s', async (_name, schema, message) => {
    const app = runtime({ app: 'pending' });
    const runnable = clerk(asking('ask', schema as never));
    await app.run(runnable, { session: 's', input: 'Go' });
    const next = await app.run(runnable, { session: 's', input: message });
    expect(next).toMatchObject({ status: 'yielded', pendingCalls: [{ name: 'ask' }] });
    expect(users(next.session.events)).toEqual(['Go', message]);
  });

  test('is of a user who may answer', async () => {
    const app = runtime({ app: 'pending' });
    const runnable = clerk(
      asking('ask', z.string() as never, { yieldOptions: { mayDecide: ['ann'] } }),
    );
    await app.run(runnable, { session: 's', input: 'Go' });
    await app.send('s', 'green', { by: 'user:bob' });
    await app.send('s', 'blue', { by: 'operator:ann' });
    expect((await app.resume('s')).status).toBe('yielded');
    await app.send('s', 'red', { by: 'user:ann' });
    const { session } = await app.resume('s');
    expect(results(session.events)).toEqual({ ask: 'red' });
  });

  test('does not approve anything', async () => {
    const app = runtime({ app: 'pending' });
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      approval: true,
      execute: () => 'paid',
    });
    const runnable = clerk(pay);
    await app.run(runnable, { session: 's', input: 'Go' });
    expect(await app.run(runnable, { session: 's', input: 'yes' })).toMatchObject({
      status: 'yielded',
      pendingApprovals: [{ name: 'pay' }],
    });
  });
});

describe('several calls that wait', () => {
  const both = () => clerk(asking('mail', email as never), asking('pin', code as never));

  test('the one gets it that it fits', async () => {
    const app = runtime({ app: 'pending' });
    const runnable = both();
    await app.run(runnable, { session: 's', input: 'Go' });
    expect(await app.run(runnable, { session: 's', input: 'ann@example.com' })).toMatchObject({
      status: 'yielded',
      pendingCalls: [{ name: 'pin' }],
    });
    const last = await app.run(runnable, { session: 's', input: '1234' });
    expect(results(last.session.events)).toEqual({
      mail: { email: 'ann@example.com' },
      pin: { code: 1234 },
    });
  });

  test('also in branches, and the one whose fields it names comes first', async () => {
    const note = z.object({ note: z.string() });
    const app = runtime({ app: 'pending' });
    const branch = (name: string, schema: z.ZodType) =>
      agent({
        name,
        model: roundModel([{ toolCalls: [{ name: `ask_${name}` }] }, { text: name }]),
        tools: [asking(`ask_${name}`, schema as never)],
      });
    const runnable = parallel({
      name: 'both',
      runnables: [branch('notes', note), branch('places', address)],
    });
    await app.run(runnable, { session: 's', input: 'Go' });
    const next = await app.run(runnable, { session: 's', input: 'street: Main St 1, zip: 8000' });
    expect(results(next.session.events)).toEqual({
      ask_places: { street: 'Main St 1', zip: '8000' },
    });
    const last = await app.run(runnable, { session: 's', input: 'Ring twice' });
    expect(last.status).toBe('completed');
  });

  test('none gets what could be for two, and the ledger says so', async () => {
    const app = runtime({ app: 'pending' });
    const word = z.object({ word: z.string() });
    const runnable = clerk(
      asking('first', word as never),
      asking('second', z.object({ other: z.string() }) as never),
    );
    await app.run(runnable, { session: 's', input: 'Go' });
    const next = await app.run(runnable, { session: 's', input: 'red' });
    expect(next).toMatchObject({ status: 'yielded' });
    expect(next.pendingCalls).toHaveLength(2);
    expect(users(next.session.events)).toEqual(['Go', 'red']);
    expect(ambiguities(next.session.events)).toMatchObject([
      {
        reasoning: expect.stringMatching(/fits 2 calls that wait for input: first .*, second /),
        data: { requests: next.pendingCalls.map(({ requestId }) => requestId) },
      },
    ]);
    const named = await app.run(runnable, { session: 's', input: 'other: red' });
    expect(named.pendingCalls).toMatchObject([{ name: 'first' }]);
  });
});

describe('questions of steps', () => {
  const form = (options: object = {}) =>
    step({
      name: 'form',
      execute: async (ctx) => {
        const [person, place] = await Promise.all([
          ctx.ask('person', {
            message: 'Who?',
            schema: z.object({ name: z.string() }),
            ...options,
          }),
          ctx.ask('place', { message: 'Where?', schema: address }),
        ]);
        return ctx.complete({ ...person, ...place });
      },
    });
  const answers = (events: readonly Event[]) =>
    events.flatMap((event) =>
      event.type === 'tool_input' ? [[event.callId, event.input, event.text]] : [],
    );

  test('are answered by the messages that fit them, beside calls that wait', async () => {
    const app = runtime({ app: 'pending' });
    const runnable = parallel({
      name: 'both',
      runnables: [form(), clerk(asking('pin', code as never))],
    });
    await app.run(runnable, { session: 's', runId: 'run', input: 'Go' });
    const next = await app.run(runnable, { session: 's', input: 'street: Main St, zip: 8000' });
    expect(next.pendingCalls.map(({ name }) => name)).toEqual(['person', 'pin']);
    await app.send('s', '{"code":7}');
    const then = await app.resume('s');
    expect(then.pendingCalls.map(({ name }) => name)).toEqual(['person']);
    const last = await app.run(runnable, { session: 's', input: 'Ann' });
    expect(last).toMatchObject({
      status: 'completed',
      output: { form: { name: 'Ann', street: 'Main St', zip: '8000' } },
    });
    expect(answers(last.session.events)).toEqual([
      ['run/form/place', { street: 'Main St', zip: '8000' }, 'street: Main St, zip: 8000'],
      ['run/clerk/r1.0', { code: 7 }, '{"code":7}'],
      ['run/form/person', { name: 'Ann' }, 'Ann'],
    ]);
    expect(users(last.session.events)).toEqual(['Go']);
  });

  test('none gets what could be for two, for an approval, or is of somebody else', async () => {
    const app = runtime({ app: 'pending' });
    const texts = step({
      name: 'texts',
      execute: async (ctx) => {
        const asked = [ctx.ask('one', 'One?'), ctx.ask('two', 'Two?')];
        await ctx.ask('go', { message: 'Go on?', approval: true });
        return ctx.complete(await Promise.all(asked));
      },
    });
    await app.run(texts, { session: 's' });
    const next = await app.run(texts, { session: 's', input: 'yes' });
    expect(next.pendingCalls).toHaveLength(3);
    expect(ambiguities(next.session.events)).toHaveLength(1);
    const bound = form({ mayDecide: ['user:ann'] });
    await app.run(bound, { session: 't' });
    await app.send('t', 'name: Bob', { by: 'user:bob' });
    expect((await app.resume('t')).pendingCalls).toHaveLength(2);
    await app.send('t', 'name: Ann', { by: 'user:ann' });
    expect((await app.resume('t')).pendingCalls).toMatchObject([{ name: 'place' }]);
  });
});

describe('a message that was sent', () => {
  test('twice under one key answers once, and asks for nothing new', async () => {
    const app = runtime({ app: 'pending' });
    const runnable = clerk(asking('ask', z.string() as never));
    const first = await app.run(runnable, { session: 's', input: 'Go' });
    const asked = { session: 's', input: 'red', runId: 'answer' };
    expect(await app.run(runnable, asked)).toMatchObject({ status: 'completed', output: 'Done.' });
    const again = await app.run(runnable, asked);
    expect(again).toMatchObject({ status: 'completed', runId: first.runId });
    expect(users(again.session.events)).toEqual(['Go']);
  });

  test('before the question is no answer to it', async () => {
    const clock = testClock();
    const store = keptOpen(memoryStore({ clock }));
    const app = runtime({ app: 'pending', store, recover: 'manual', ports: { clock } });
    const ledgers = store.for({ tenant: 'default', app: 'pending' });
    const early = clock.now();
    clock.advance(1_000);
    const runnable = clerk(asking('ask', z.string() as never));
    await app.run(runnable, { session: 's', input: 'Go' });
    await ledgers.post('s', {
      key: 'early',
      lane: 'input',
      by: 'user',
      at: early,
      type: 'user',
      data: { text: 'Hurry' },
    });
    const next = await app.run(runnable, { session: 's' });
    expect(next.status).toBe('yielded');
    expect(users(next.session.events)).toEqual(['Go', 'Hurry']);
  });

  test('after somebody else has answered is a message', async () => {
    const store = keptOpen(memoryStore());
    const runnable = clerk(asking('ask', z.string() as never));
    const app = runtime({ app: 'pending', store, recover: 'manual', runnables: [runnable] });
    const first = await app.run(runnable, { session: 's', input: 'Go' });
    await app.send('s', 'red');
    await app.requests.answer(first.pendingCalls[0]?.requestId ?? '', { input: 'blue' });
    const last = await app.resume('s');
    expect(results(last.session.events)).toEqual({ ask: 'blue' });
    expect(users(last.session.events)).toEqual(['Go', 'red']);
  });
});

describe.each(storePlaces)('%s', (_name, makePlace) => {
  test('a message that is sent wakes the run, and is taken once by another process', async () => {
    const place = await makePlace();
    const store = keptOpen(place.open());
    const runnable = () => clerk(asking('ask', booking as never));
    const make = (): Runtime =>
      runtime({ app: 'pending', store, recover: 'manual', runnables: [runnable()] });
    const first = make();
    const waiting = await first.run(runnable(), { session: 's', input: 'Go' });
    const { requestId } = waiting.pendingCalls[0] as { requestId: string };
    await first.send('s', 'name: Ann, guests: 2', { clientKey: 'm1' });
    await first.send('s', 'name: Ann, guests: 2', { clientKey: 'm1' });
    await first.close();
    const second = make();
    const [run] = await second.recovery.resumeStopped();
    const last = await run;
    expect(last).toMatchObject({ status: 'completed', output: 'Done.' });
    const answers = last?.session.events.filter(({ type }) => type === 'tool_input');
    expect(answers).toMatchObject([
      { requestId, input: { name: 'Ann', guests: 2 } as JsonObject, clientKey: 'm1' },
    ]);
    expect(await second.requests.list({ session: 's' })).toMatchObject([
      { requestId, status: 'answered' },
    ]);
    expect(await second.recovery.resumeStopped()).toEqual([]);
    await second.close();
    await store.close();
    await place.remove();
  });
});
