import { serve } from '@adjutant/server';
import { client } from '@adjutant/server/client';
import {
  type Agent,
  agent,
  isDurable,
  memoryStore,
  runtime,
  type StreamEvent,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ServerConversation } from '../../../src/tui/session/server-conversation.ts';

/** A conversation with an agent that is served until the test ends. */
async function conversing(coder: Agent, lane?: string) {
  const app = runtime({ app: 'shop', runnables: [coder], store: memoryStore() });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
  onTestFinished(() => listening.close({ closeApp: true }));
  const api = client({ url: listening.url });
  const open = (session?: string) =>
    new ServerConversation({ client: api, session, lane, agent: () => coder.name });
  return { app, api, listening, open, conversation: open() };
}

/** Listens, and waits for events by their types. */
function listening(conversation: ServerConversation) {
  const events: StreamEvent[] = [];
  const failures: unknown[] = [];
  const wanted = new Set<() => void>();
  const look = (): void => {
    for (const one of wanted) one();
  };
  conversation.listen({
    event: (event) => {
      events.push(event);
      look();
    },
    failed: (error) => {
      failures.push(error);
      look();
    },
    changed: () => undefined,
  });
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const one = (): void => {
        if (!holds()) return;
        wanted.delete(one);
        resolve();
      };
      wanted.add(one);
      one();
    });
  const count = (type: StreamEvent['type']): number =>
    events.filter((event) => event.type === type).length;
  const has = (type: StreamEvent['type'], times = 1): Promise<void> =>
    until(() => count(type) >= times);
  return { events, failures, until, has };
}

/** A model whose second half of an answer waits for the test. */
function halting() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const model = scriptedModel(() => ({ chunks: ['Both are', ' mended.'] }));
  const halted = Object.create(model, {
    doStream: {
      value: async (options: Parameters<typeof model.doStream>[0]) => {
        const { stream, ...rest } = await model.doStream(options);
        let deltas = 0;
        const gate = new TransformStream({
          async transform(part: { readonly type: string }, controller) {
            if (part.type === 'text-delta' && ++deltas === 2) await promise;
            controller.enqueue(part);
          },
        });
        return { ...rest, stream: stream.pipeThrough(gate as never) };
      },
    },
  }) as typeof model;
  return { model: halted, go: resolve };
}

test('an answer that is under way is told from its begin to one who comes later', async () => {
  const { model, go } = halting();
  const coder = agent({ name: 'coder', model });
  const { open } = await conversing(coder);
  const told = (conversation: ServerConversation, wanted: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<StreamEvent[]>();
    const events: StreamEvent[] = [];
    let text = '';
    const event = (one: StreamEvent): void => {
      events.push(one);
      if (one.type === 'assistant_delta') text += one.delta;
      if (text === wanted) resolve(events);
    };
    conversation.listen({ event, failed: reject, changed: () => undefined });
    return promise;
  };
  const first = open();
  expect(await first.open()).toEqual([]);
  const half = told(first, 'Both are');
  await first.say('Mend them');
  await half;
  const second = open(first.session);
  const events = await second.open();
  expect(events.map(({ type }) => type)).toEqual(['user', 'invocation_start', 'model_start']);
  await told(second, 'Both are');
  go();
  expect(await first.stop()).toBe(true);
  await second.stop();
});

test('a session that is deleted meanwhile is told of', async () => {
  const coder = agent({ name: 'coder', model: scriptedModel([{ text: 'Yes.' }]) });
  const { api, conversation } = await conversing(coder);
  const { failures, has, until } = listening(conversation);
  await conversation.say('Is it so?');
  await has('invocation_end');
  await api.sessions.delete(conversation.session ?? '');
  await until(() => failures.length > 0);
  expect(failures).toMatchObject([{ code: 'session_not_found' }]);
  await expect(conversation.say('And now?')).rejects.toMatchObject({ code: 'session_not_found' });
  expect(conversation.isWorking).toBe(false);
  expect(await conversation.stop()).toBe(false);
});

test('a session is begun under a name of its own with its first message, and can be looked into', async () => {
  const coder = agent({ name: 'coder', model: scriptedModel([{ text: 'Yes.' }]) });
  const { app, open } = await conversing(coder);
  const conversation = open('till');
  expect(await conversation.open()).toEqual([]);
  expect((await app.sessions.list()).sessions).toEqual([]);
  const { events, has } = listening(conversation);
  await conversation.say('Is it so?');
  await has('invocation_end');
  const { events: ledger } = await app.sessions.get('till');
  expect(events.filter(isDurable)).toEqual(ledger);
  const seq = ledger.findIndex(({ type }) => type === 'model_start') + 1;
  expect(await conversation.whole(seq)).toEqual(ledger[seq - 1]);
  expect(JSON.stringify((await conversation.prompt(seq)).prompt)).toContain('Is it so?');
  expect(await conversation.stateAt(seq)).toMatchObject({ seq });
  const fork = await conversation.fork(seq);
  expect((await app.sessions.get(fork)).events.slice(0, seq - 1)).toEqual(ledger.slice(0, seq - 1));
  await conversation.stop();
});

test('calls are allowed for later, and that is taken back', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: () => 'paid',
  });
  const asks = { toolCalls: [{ name: 'pay', args: { cents: 5 } }] };
  const model = scriptedModel([asks, { text: 'Paid.' }, asks, { text: 'Again.' }, asks]);
  const coder = agent({ name: 'coder', model, tools: [pay] });
  const { app, conversation } = await conversing(coder);
  const { events, has } = listening(conversation);
  expect(await conversation.standing()).toEqual([]);
  await conversation.say('Pay');
  await has('invocation_yield');
  expect(conversation.isWorking).toBe(false);
  const [asked] = events.flatMap((event) => (event.type === 'tool_yield' ? [event.requestId] : []));
  await conversation.answer(asked ?? '', { decision: 'approve', always: 'tool' });
  await has('invocation_end');
  await conversation.say('Pay again');
  await has('invocation_end', 2);
  const [standing] = await conversation.standing();
  expect(standing).toMatchObject({ tool: 'pay', covers: 'tool' });
  await conversation.withdraw(standing?.id ?? '');
  await conversation.say('And again');
  await has('invocation_yield', 2);
  await expect(conversation.answer(asked ?? '', { decision: 'approve' })).rejects.toMatchObject({
    code: 'request_settled',
  });
  await conversation.cancel('enough');
  await has('invocation_end', 3);
  const { events: ledger } = await app.sessions.get(conversation.session ?? '');
  expect(ledger.findLast(({ type }) => type === 'invocation_end')).toMatchObject({
    status: 'cancelled',
  });
  await conversation.stop();
});

test('an answer is interrupted and gone on with, in its lane alone', async () => {
  const { model, go } = halting();
  const coder = agent({ name: 'coder', model });
  const { app, api, conversation } = await conversing(coder, 'side');
  const { events, has } = listening(conversation);
  await conversation.say('Mend them');
  await has('assistant_delta');
  await conversation.interrupt('pause');
  await has('invocation_yield');
  expect(conversation.isWorking).toBe(false);
  const session = conversation.session ?? '';
  await api.runs.start({ agent: 'coder', session, input: 'Meanwhile' }).accepted();
  go();
  conversation.resume();
  expect(conversation.isWorking).toBe(true);
  await has('invocation_end');
  const { events: ledger } = await app.sessions.get(session);
  const others = ledger.filter((event) => event.type === 'user' && event.text === 'Meanwhile');
  expect(others).toHaveLength(1);
  expect(events).not.toContainEqual(others[0]);
  expect(events[0]).toMatchObject({ type: 'user', text: 'Mend them' });
  await conversation.stop();
});

test('a server that is started anew is followed on, without an event twice', async () => {
  const coder = agent({ name: 'coder', model: scriptedModel(() => ({ text: 'Yes.' })) });
  const { app, listening: first, conversation } = await conversing(coder);
  const { events, has } = listening(conversation);
  await conversation.say('Is it so?');
  await has('invocation_end');
  const { port } = new URL(first.url);
  await first.close();
  const sending = conversation.say('And now?');
  const second = await serve(app, { port: Number(port), shutdown: { graceMs: 100 } });
  onTestFinished(() => second.close());
  await sending;
  await has('invocation_end', 2);
  const { events: ledger } = await app.sessions.get(conversation.session ?? '');
  expect(events.filter(isDurable)).toEqual(ledger);
  await conversation.stop();
});

test('a conversation that is left waits for no server', async () => {
  const coder = agent({ name: 'coder', model: scriptedModel(() => ({ text: 'Yes.' })) });
  const { listening: server, conversation } = await conversing(coder);
  const { failures, has } = listening(conversation);
  await conversation.say('Is it so?');
  await has('invocation_end');
  await server.close();
  const sending = conversation.say('And now?');
  expect(conversation.isWorking).toBe(true);
  expect(await conversation.stop()).toBe(true);
  await sending;
  expect(failures).toEqual([]);
});
