import { agent, loop, runtime, step, tool } from 'adjutant';
import { answerWith, converse, scriptedUser, type User } from 'adjutant/conversation';
import { roundModel, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ask } from './asking-tool.ts';
import { asker, asking, echo, results } from './scripted-conversation.ts';

test('speaks first, answers what is asked and ends when it has no more to say', async () => {
  const model = scriptedModel([
    { toolCalls: asking('Which colour?') },
    { text: 'Red it is.' },
    { text: 'Bye.' },
  ]);
  const painter = agent({ name: 'painter', model, tools: [ask] });
  const user = scriptedUser({
    id: 'ann',
    tools: { ask: [{ answer: 'red' }] },
    messages: ['Paint the door', 'Thank you'],
  });
  const talk = await converse(runtime({ app: 'users' }), painter, { user });
  expect(talk).toMatchObject({
    ended: 'completed',
    status: 'completed',
    output: 'Bye.',
    turns: 2,
    pendingCalls: [],
  });
  expect(talk.answers).toEqual([
    {
      requestId: expect.any(String),
      kind: 'input',
      toolName: 'ask',
      decision: undefined,
      input: { answer: 'red' },
      by: 'user:ann',
    },
  ]);
  expect(
    talk.transcript.map((entry) =>
      entry.kind === 'tool' ? entry.name : entry.kind === 'end' ? entry.status : entry.text,
    ),
  ).toEqual(['Paint the door', 'ask', 'Red it is.', 'Thank you', 'Bye.']);
  expect(talk.results.map(({ output }) => output)).toEqual(['Red it is.', 'Bye.']);
  user.assertUsed();
  expect(talk.session.events.find(({ type }) => type === 'tool_input')).toMatchObject({
    by: 'user:ann',
    input: { answer: 'red' },
  });
});

describe('what is said', () => {
  test('to a loop that waits, until the user is silent; the loop goes on waiting', async () => {
    const replies: string[] = [];
    const chat = loop({ name: 'chat', runnable: echo(), yields: true });
    const user = scriptedUser({
      messages: (turn) => {
        replies.push(turn.reply);
        return ['Hello', 'Goodbye'][turn.index];
      },
    });
    const talk = await converse(runtime({ app: 'app' }), chat, { user });
    expect(talk).toMatchObject({ ended: 'user_done', status: 'yielded', turns: 2 });
    expect(replies).toEqual(['', '1: Hello', '2: Goodbye']);
    expect(talk.results).toHaveLength(1);
    expect(talk.session.events.filter(({ type }) => type === 'user').map(({ by }) => by)).toEqual([
      'user',
      'user:scripted',
    ]);
  });

  test('is no more than `maxTurns`, and says why it ended', async () => {
    const user = scriptedUser({ messages: () => 'More' });
    const talk = await converse(runtime({ app: 'app' }), echo(), { user, maxTurns: 3 });
    expect(talk).toMatchObject({ ended: 'max_turns', turns: 3, output: '3: More' });
    const byUser = await converse(runtime({ app: 'app' }), echo(), {
      user: { ...user, maxTurns: 2 },
      maxTurns: 3,
    });
    expect(byUser).toMatchObject({ ended: 'max_turns', turns: 2 });
  });

  test(
    '`done` ends it with a reason, also before anything was run and instead of ' + 'an answer',
    async () => {
      const early = await converse(runtime({ app: 'app' }), echo(), {
        user: scriptedUser({ messages: () => ({ done: true, reason: 'Never mind' }) }),
      });
      expect(early).toMatchObject({
        ended: 'user_done',
        reason: 'Never mind',
        status: undefined,
        result: undefined,
        turns: 0,
      });
      const leaving = scriptedUser({
        tools: { ask: () => answerWith({ done: true, reason: 'Gone' }) },
        messages: ['Go'],
      });
      expect(await converse(runtime({ app: 'app' }), asker('A?'), { user: leaving })).toMatchObject(
        {
          ended: 'user_done',
          reason: 'Gone',
          status: 'yielded',
          pendingCalls: [{}],
        },
      );
    },
  );

  test('`{ done: true }` can be what a tool asked for', async () => {
    const confirm = tool({
      name: 'confirm',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ done: z.boolean() }),
    });
    const worker = agent({
      name: 'worker',
      model: roundModel([{ toolCalls: [{ name: 'confirm', args: {} }] }, { text: 'Done.' }]),
      tools: [confirm],
    });
    const talk = await converse(runtime({ app: 'app' }), worker, {
      user: scriptedUser({ tools: { confirm: [{ done: true }] }, messages: ['Go'] }),
    });
    expect([talk.ended, results(talk)]).toEqual(['completed', [{ done: true }]]);
  });

  test('one run without a message, when there is nothing to say', async () => {
    const talk = await converse(
      runtime({ app: 'app' }),
      step({ name: 'quiet', execute: (ctx) => ctx.complete(7) }),
      {
        user: scriptedUser({}),
      },
    );
    expect(talk).toMatchObject({ ended: 'completed', output: 7, turns: 0 });
  });

  test(
    'a session that has been run is not run again for nothing; one with a message ' + 'or data is',
    async () => {
      const app = runtime({ app: 'users' });
      const runnable = echo();
      const { session } = await app.run(runnable, 'Hello');
      const user = scriptedUser({});
      expect(await converse(app, runnable, { user, session })).toMatchObject({
        ended: 'completed',
        status: undefined,
        turns: 0,
      });
      session.addMessage('Anybody?');
      expect(await converse(app, runnable, { user, session })).toMatchObject({
        ended: 'completed',
        output: '2: Anybody?',
      });
      const shown = step({
        name: 'shown',
        execute: (ctx) => ctx.complete(ctx.input?.data ?? null),
      });
      const other = await app.run(shown, { session: 'other', data: 1 });
      expect(await converse(app, shown, { user, session: other.session, data: 2 })).toMatchObject({
        ended: 'completed',
        output: 2,
      });
    },
  );

  test('follow-ups are for agents unless it is said otherwise', async () => {
    const once = await converse(runtime({ app: 'app' }), echo(), {
      user: scriptedUser({ messages: ['A', 'B'] }),
      followUps: false,
    });
    expect(once).toMatchObject({ ended: 'completed', turns: 1, output: '1: A' });
    const count = step({
      name: 'count',
      execute: (ctx) =>
        ctx.complete(ctx.session.events.filter(({ type }) => type === 'user').length),
    });
    expect(
      await converse(runtime({ app: 'app' }), count, {
        user: scriptedUser({ messages: ['A', 'B'] }),
      }),
    ).toMatchObject({ turns: 1, output: 1 });
    const more = await converse(runtime({ app: 'app' }), count, {
      user: scriptedUser({ messages: ['A', 'B'] }),
      followUps: true,
    });
    expect(more).toMatchObject({ turns: 2, output: 2, ended: 'completed' });
  });

  test(
    'the reply is what was said to the user: not what agents say to each other, and values ' +
      'as JSON',
    async () => {
      const replies: string[] = [];
      const helper = agent({ name: 'helper', model: scriptedModel([{ text: 'between us' }]) });
      const make = step({
        name: 'make',
        execute: async (ctx) => {
          await ctx.call(helper, { message: 'Help' });
          return ctx.complete({ price: 12 });
        },
      });
      const user = scriptedUser({
        messages: ({ reply, index }) => {
          replies.push(reply);
          return index === 0 ? 'Make' : undefined;
        },
      });
      await converse(runtime({ app: 'app' }), make, { user, followUps: true });
      expect(replies).toEqual(['', '{"price":12}']);
    },
  );

  test('a run that failed ends the conversation', async () => {
    const broken = step({ name: 'broken', execute: (ctx) => ctx.fail('No paper') });
    const talk = await converse(runtime({ app: 'app' }), broken, {
      user: scriptedUser({ messages: ['Print', 'Again'] }),
      followUps: true,
    });
    expect(talk).toMatchObject({ ended: 'error', status: 'error', reason: 'No paper', turns: 1 });
  });

  test('what is no message is refused', async () => {
    const silly = (said: unknown): User => ({
      ids: ['u'],
      answer: () => undefined,
      message: () => said as string,
    });
    await expect(
      converse(runtime({ app: 'app' }), echo(), { user: silly(7) }),
    ).rejects.toMatchObject({
      code: 'invalid_user_message',
      message: expect.stringContaining('not 7'),
    });
    await expect(
      converse(runtime({ app: 'app' }), echo(), { user: silly(' ') }),
    ).rejects.toMatchObject({
      code: 'invalid_user_message',
    });
  });
});
