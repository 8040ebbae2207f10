import { agent, runtime, type StreamEvent, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { LocalConversation } from '../../../src/tui/session/local-conversation.ts';

test('a message that comes while a run ends is answered by a run of its own', async () => {
  const model = scriptedModel([{ text: 'First.' }, { text: 'Second.' }]);
  const coder = agent({ name: 'coder', model });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual' });
  onTestFinished(() => app.close());
  const conversation = new LocalConversation({
    app,
    agent: () => coder,
    session: await app.sessions.create(),
    prepare: async () => undefined,
  });
  const { promise: answered, resolve, reject } = Promise.withResolvers<void>();
  const said: string[] = [];
  const event = (told: StreamEvent): void => {
    if (told.type === 'user') said.push(told.text ?? '');
    if (told.type === 'assistant') said.push(told.text);
    // The run reads no message any more, and is still the one at work.
    if (told.type === 'invocation_end' && said.length === 2)
      void conversation.say('And now?').catch(reject);
    if (told.type === 'invocation_end' && said.length === 4) resolve();
  };
  conversation.listen({ event, failed: reject, changed: () => undefined }, 0);
  await conversation.say('Begin');
  await answered;
  await conversation.stop();
  expect(said).toEqual(['Begin', 'First.', 'And now?', 'Second.']);
});

test('a message that comes before the run of the one before has begun is answered', async () => {
  const model = scriptedModel((prompt) => ({
    text: prompt.some(({ content }) => JSON.stringify(content).includes('two')) ? 'Both.' : 'One.',
  }));
  const coder = agent({ name: 'coder', model });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual' });
  onTestFinished(() => app.close());
  const { promise: answered, resolve, reject } = Promise.withResolvers<void>();
  const prepared = Promise.withResolvers<void>();
  const conversation = new LocalConversation({
    app,
    agent: () => coder,
    session: await app.sessions.create(),
    prepare: () => prepared.promise,
  });
  const event = (told: StreamEvent): void => {
    if (told.type === 'assistant' && told.text === 'Both.') resolve();
  };
  conversation.listen({ event, failed: reject, changed: () => undefined }, 0);
  const first = conversation.say('one');
  const second = conversation.say('two');
  prepared.resolve();
  await Promise.all([first, second, answered]);
  await conversation.stop();
});

test('a message said during the search for a run that ended elsewhere is answered', async () => {
  const model = scriptedModel([{ text: 'First.' }, { text: 'Second.' }]);
  const coder = agent({ name: 'coder', model });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual' });
  onTestFinished(() => app.close());
  const { session } = await app.run(coder, { input: 'Begin' });
  const conversation = new LocalConversation({
    app,
    agent: () => coder,
    session: await app.sessions.open({ id: session.id }),
    prepare: async () => undefined,
  });
  const { promise: answered, resolve, reject } = Promise.withResolvers<void>();
  const event = (told: StreamEvent): void => {
    if (told.type === 'assistant' && told.text === 'Second.') resolve();
  };
  let hasSaid = false;
  const changed = (): void => {
    if (hasSaid || !conversation.isWorking) return;
    hasSaid = true;
    void conversation.say('And now?').catch(reject);
  };
  conversation.listen({ event, failed: reject, changed }, session.events.length);
  // Somebody seems to have answered a request of it; the run of that is over already.
  conversation.resume();
  await answered;
  await conversation.stop();
  expect(hasSaid).toBe(true);
});

test('events are shown whole, with the state after them and the prompts of calls', async () => {
  const large = 'x'.repeat(100_000);
  const model = scriptedModel([{ toolCalls: [{ name: 'read', args: {} }] }, { text: 'Done.' }]);
  const read = tool({
    name: 'read',
    description: 'Reads',
    schema: z.object({}),
    execute: (ctx) => {
      ctx.state['reads'] = 1;
      return large;
    },
  });
  const coder = agent({ name: 'coder', model, tools: [read] });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual' });
  onTestFinished(() => app.close());
  const opened = await app.sessions.create();
  const conversation = new LocalConversation({
    app,
    agent: () => coder,
    session: opened,
    prepare: async () => undefined,
  });
  // Another process works on the session meanwhile.
  const { session } = await app.run(coder, { session: opened.id, input: 'Read' });
  const result = session.events.find(({ type }) => type === 'tool_result');
  const starts = session.events.filter(({ type }) => type === 'model_start');
  expect(await conversation.whole(result?.seq ?? 0)).toMatchObject({ result: { content: large } });
  for (const { seq } of starts)
    expect(await conversation.prompt(seq)).toEqual(promptOf(session, seq));
  for (const { seq } of session.events)
    expect(await conversation.stateAt(seq)).toEqual(await app.sessions.stateAt(session.id, seq));
  await expect(conversation.stateAt(1_000)).rejects.toMatchObject({ code: 'seq_out_of_range' });
  await expect(conversation.prompt(1)).rejects.toMatchObject({ code: 'prompt_not_found' });
});

test('large values are whole: in what is told, and when a session is opened', async () => {
  const large = 'line\n'.repeat(20_000);
  const model = scriptedModel([{ text: large }, { text: large }]);
  const coder = agent({ name: 'coder', model });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual' });
  onTestFinished(() => app.close());
  const options = { app, agent: () => coder, prepare: async () => undefined };
  const session = await app.sessions.create();
  const conversation = new LocalConversation({ ...options, session });
  const told: string[] = [];
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const event = (one: StreamEvent): void => {
    if (one.type === 'user' || one.type === 'assistant') told.push(one.text ?? '');
    if (one.type === 'invocation_end') (told.length === 2 ? first : second).resolve();
  };
  const failed = (error: unknown): void => {
    first.reject(error);
    second.reject(error);
  };
  conversation.listen({ event, failed, changed: () => undefined }, 0);
  await conversation.say(large);
  await first.promise;
  // Another process goes on with it.
  await app.run(coder, { session: await app.sessions.open({ id: session.id }), input: large });
  await second.promise;
  expect(told.map((text) => text === large)).toEqual([true, true, true, true]);
  await conversation.stop();
  const again = new LocalConversation({
    ...options,
    session: await app.sessions.open({ id: session.id }),
  });
  const texts = (await again.open()).flatMap((one) =>
    one.type === 'user' || one.type === 'assistant' ? [one.text] : [],
  );
  expect(texts.map((text) => text === large)).toEqual([true, true, true, true]);
});
