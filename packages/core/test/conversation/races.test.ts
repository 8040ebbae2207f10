import { agent, loop, memoryStore, type Runnable, type Runtime, runtime, tool } from 'adjutant';
import { converse, scriptedUser, type User } from 'adjutant/conversation';
import { keptOpen, roundModel, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../pay-tool.ts';
import { storePlaces } from '../store-places.ts';
import { ask } from './asking-tool.ts';

function asker(...questions: string[]) {
  return agent({
    name: 'asker',
    model: roundModel([
      { toolCalls: questions.map((question) => ({ name: 'ask', args: { question } })) },
      { text: 'Done.' },
    ]),
    tools: [ask],
  });
}

/** Somebody who thinks for ever, and hears when nobody wants to know any more. */
function thinker(): {
  readonly user: User;
  readonly asked: Promise<void>;
  readonly heard: () => boolean;
} {
  const asked = Promise.withResolvers<void>();
  let heard = false;
  const think = (signal: AbortSignal): Promise<never> => {
    signal.addEventListener('abort', () => {
      heard = true;
    });
    asked.resolve();
    return new Promise<never>(() => undefined);
  };
  const user: User = {
    ids: ['thinker'],
    answer: ({ signal }) => think(signal),
    message: ({ signal }) => think(signal),
  };
  return { user, asked: asked.promise, heard: () => heard };
}

describe('somebody else', () => {
  test('answers first: the conversation goes on, and the script keeps its answer', async () => {
    const app = runtime({ app: 'users' });
    const session = await app.sessions.open();
    let isFirst = true;
    const user = scriptedUser({
      tools: {
        ask: async (_args, { requestId, answered }) => {
          if (isFirst)
            await app.requests.answer(requestId, {
              input: { answer: 'somebody else’s' },
              by: 'bob',
            });
          isFirst = false;
          return { answer: `mine, after ${answered.length}` };
        },
      },
    });
    const talk = await converse(app, asker('A?', 'B?'), { user, session, input: 'Go' });
    expect(talk.ended).toBe('completed');
    expect(talk.answers).toHaveLength(1);
    const answers = session.events.flatMap((event) =>
      event.type === 'tool_input' ? [[event.by, event.input]] : [],
    );
    expect(answers).toEqual([
      ['user:bob', { answer: 'somebody else’s' }],
      ['user:scripted', { answer: 'mine, after 0' }],
    ]);
  });

  test.each(storePlaces)(
    'is another process with the same user on %s: nothing is said twice, and both come to the end',
    async (_name, make) => {
      const place = await make();
      const store = place.open();
      try {
        const model = () =>
          scriptedModel((prompt) => {
            const last = prompt.findLastIndex(({ role }) => role === 'user');
            if (prompt.slice(last).some(({ role }) => role === 'tool'))
              return { text: `Answer ${prompt.filter(({ role }) => role === 'user').length}` };
            return {
              toolCalls: ['A?', 'B?'].map((question) => ({ name: 'ask', args: { question } })),
            };
          });
        const chat = () =>
          loop({
            name: 'chat',
            runnable: agent({ name: 'asker', model: model(), tools: [ask] }),
            yields: true,
          });
        const user = () =>
          scriptedUser({
            tools: { ask: () => ({ answer: 'yes' }) },
            messages: ['First', 'Second'],
          });
        const process = () => runtime({ app: 'users', store: keptOpen(store), recover: 'manual' });
        await converse(process(), chat(), {
          user: scriptedUser({ messages: ['First'], tools: { ask: () => undefined } }),
          session: 's',
        });
        const talks = await Promise.all(
          [process(), process()].map((app: Runtime) =>
            converse(app, chat(), { user: user(), session: 's' }),
          ),
        );
        expect(talks.map(({ ended, turns }) => [ended, turns])).toEqual([
          ['user_done', 2],
          ['user_done', 2],
        ]);
        const { events } = (await process().sessions.open({ id: 's' })) as {
          readonly events: readonly { readonly type: string; readonly text?: unknown }[];
        };
        expect(
          events.flatMap(({ type, text }) =>
            type === 'user' || type === 'assistant' ? [text] : [],
          ),
        ).toEqual(['First', 'Answer 1', 'Second', 'Answer 2']);
        expect(events.filter(({ type }) => type === 'tool_input')).toHaveLength(4);
      } finally {
        await store.close();
        await place.remove();
      }
    },
  );

  test('cancels the run while the user thinks', async () => {
    const app = runtime({ app: 'users' });
    const session = await app.sessions.open();
    const user = scriptedUser({
      tools: {
        ask: async () => {
          await app.cancel(session, { reason: 'Closing time' });
          return { answer: 'too late' };
        },
      },
    });
    const talk = await converse(app, asker('A?'), { user, session, input: 'Go' });
    expect(talk).toMatchObject({ ended: 'cancelled', status: 'cancelled' });
  });

  test(
    'is the clock: a question whose time is over while the user thinks ' + 'is no error',
    async () => {
      const clock = testClock();
      const app = runtime({ app: 'users', ports: { clock } });
      const { pay, paid } = payTool({ approval: { expiresInMs: 1_000 } });
      const payer = agent({
        name: 'payer',
        model: roundModel([
          { toolCalls: [{ name: 'pay', args: { cents: 1 } }] },
          { text: 'Done.' },
        ]),
        tools: [pay],
      });
      const user = scriptedUser({
        approvals: () => {
          clock.advance(1_001);
          return 'approve';
        },
      });
      const talk = await converse(app, payer, { user, input: 'Pay' });
      expect(talk).toMatchObject({ ended: 'completed', answers: [], output: 'Done.' });
      expect(paid).toEqual([]);
    },
  );
});

test('an answer that the run itself does not take is given twice at most', async () => {
  let checks = 0;
  const moody = tool({
    name: 'moody',
    description: 'Asks',
    schema: z.object({}),
    // Takes what it is given, until it looks again.
    yieldSchema: z.object({ answer: z.string().refine(() => ++checks % 2 === 1, 'not today') }),
  });
  const app = runtime({ app: 'users' });
  const session = await app.sessions.open();
  const refused: (string | undefined)[] = [];
  const user = scriptedUser({
    tools: {
      moody: (_args, question) => {
        refused.push(question.refused);
        return { answer: 'yes' };
      },
    },
  });
  const worker = agent({
    name: 'worker',
    model: roundModel([{ toolCalls: [{ name: 'moody', args: {} }] }, { text: 'Done.' }]),
    tools: [moody],
  });
  await expect(converse(app, worker, { user, session, input: 'Go' })).rejects.toMatchObject({
    code: 'user_answer_refused',
    message: expect.stringContaining('asks again'),
  });
  expect(refused).toEqual([undefined, expect.stringContaining('asks again')]);
});

test('a fork is asked anew what the first session waits for', async () => {
  const app = runtime({ app: 'users' });
  const runnable = asker('A?');
  const first = await converse(app, runnable, {
    user: scriptedUser({ tools: { ask: () => undefined } }),
    input: 'Go',
    session: 's',
  });
  expect(first).toMatchObject({ ended: 'stuck', status: 'yielded' });
  const fork = await app.sessions.fork('s');
  const talk = await converse(app, runnable, {
    user: scriptedUser({ tools: { ask: [{ answer: 'yes' }] } }),
    session: fork,
    input: 'Go',
  });
  expect(talk).toMatchObject({ ended: 'completed', answers: [{}], turns: 1 });
  expect((await app.requests.list({ session: 's', status: 'pending' })).length).toBe(1);
});

describe('a conversation that is aborted', () => {
  test('before it begins runs nothing', async () => {
    const { user, heard } = thinker();
    const talk = await converse(runtime({ app: 'app' }), asker('A?'), {
      user,
      signal: AbortSignal.abort(),
    });
    expect(talk).toMatchObject({ ended: 'cancelled', status: undefined, turns: 0 });
    expect(
      await converse(runtime({ app: 'app' }), asker('A?'), {
        user,
        signal: AbortSignal.abort(),
        input: 'Go',
      }),
    ).toMatchObject({ ended: 'cancelled', turns: 0 });
    expect(heard()).toBe(false);
  });

  test('while the user thinks of an answer cancels the run that waits for it', async () => {
    const { user, asked, heard } = thinker();
    const controller = new AbortController();
    const talking = converse(runtime({ app: 'app' }), asker('A?'), {
      user,
      signal: controller.signal,
      input: 'Go',
    });
    await asked;
    controller.abort(new Error('Enough'));
    const talk = await talking;
    expect(talk).toMatchObject({
      ended: 'cancelled',
      status: 'cancelled',
      reason: expect.stringContaining('Enough'),
    });
    expect(heard()).toBe(true);
    expect(talk.session.events.filter(({ type }) => type === 'tool_input')).toEqual([]);
  });

  test(
    'while the user thinks of a message leaves the ended run as it is, and ' + 'cancels a loop',
    async () => {
      const idle = () => agent({ name: 'idle', model: scriptedModel(() => ({ text: 'Yes?' })) });
      const abortWhenAsked = async (runnable: Runnable) => {
        const { user, asked } = thinker();
        const controller = new AbortController();
        const talking = converse(runtime({ app: 'app' }), runnable, {
          user,
          signal: controller.signal,
          input: 'Go',
        });
        await asked;
        controller.abort();
        return talking;
      };
      expect(await abortWhenAsked(idle())).toMatchObject({
        ended: 'cancelled',
        status: 'completed',
        output: 'Yes?',
      });
      expect(
        await abortWhenAsked(loop({ name: 'chat', runnable: idle(), yields: true })),
      ).toMatchObject({ ended: 'cancelled', status: 'cancelled' });
    },
  );

  test('while the model answers cancels the run', async () => {
    const controller = new AbortController();
    const slow = agent({
      name: 'slow',
      model: scriptedModel([{ text: 'never', delayMs: 3_600_000 }]),
    });
    const onStream = ({ type }: { readonly type: string }) =>
      type === 'model_start' && controller.abort();
    const talk = await converse(runtime({ app: 'app' }), slow, {
      user: scriptedUser({ messages: ['Go', 'On'] }),
      signal: controller.signal,
      onStream,
    });
    expect(talk).toMatchObject({ ended: 'cancelled', status: 'cancelled', turns: 1 });
  });
});

test('a run that is paused waits for nobody that could answer', async () => {
  const app = runtime({ app: 'users' });
  const session = await app.sessions.open({ id: 's' });
  const work = tool({
    name: 'work',
    description: 'Works',
    schema: z.object({}),
    readOnly: true,
    execute: async () => {
      await app.pause(session);
      return 'worked';
    },
  });
  const worker = agent({
    name: 'worker',
    model: roundModel([{ toolCalls: [{ name: 'work', args: {} }] }, { text: 'Done.' }]),
    tools: [work],
  });
  const talk = await converse(app, worker, {
    user: scriptedUser({ messages: ['Go', 'On'] }),
    session,
  });
  expect(talk).toMatchObject({ ended: 'stuck', status: 'yielded', pendingCalls: [], turns: 1 });
});

test('with recovery by itself, answers are taken in once', async () => {
  const app = runtime({ app: 'users', store: keptOpen(memoryStore()) });
  const talk = await converse(app, asker('A?', 'B?', 'C?'), {
    user: scriptedUser({
      tools: { ask: ['1', '2', '3'].map((answer) => ({ answer })) },
      messages: ['Go'],
    }),
  });
  expect(talk).toMatchObject({ ended: 'completed', output: 'Done.', answers: { length: 3 } });
  await app.close();
});
