import {
  agent,
  type JsonValue,
  loop,
  parallel,
  pending,
  runtime,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import {
  answerWith,
  converse,
  scriptedUser,
  type User,
  type UserQuestion,
} from 'adjutant/conversation';
import { roundModel, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../pay-tool.ts';

const ask = tool({
  name: 'ask',
  description: 'Asks the user',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
});

const asking = (...questions: string[]) =>
  questions.map((question) => ({ name: 'ask', args: { question } }));

function asker(...questions: string[]) {
  return agent({
    name: 'asker',
    model: roundModel([{ toolCalls: asking(...questions) }, { text: 'Done.' }]),
    tools: [ask],
  });
}

/** Says what it was told last, and how many messages it has seen. */
function echo(name = 'echo') {
  return agent({
    name,
    model: scriptedModel((prompt) => {
      const said = prompt.filter(({ role }) => role === 'user');
      return {
        text:
          `${said.length}: ` +
          `${(said.at(-1)?.content as { text: string }[] | undefined)?.[0]?.text}`,
      };
    }),
  });
}

/** Contents of the results of tools, in the order of the ledger. */
function results(talk: {
  readonly session: { readonly events: readonly { readonly type: string }[] };
}): unknown[] {
  return talk.session.events.flatMap((event) =>
    event.type === 'tool_result'
      ? [(event as unknown as { result: { content: unknown } }).result.content]
      : [],
  );
}

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

describe('what is asked', () => {
  test(
    'in one round, each question has the next answer of the list, or what the function makes ' +
      'of its arguments',
    async () => {
      const listed = await converse(runtime({ app: 'app' }), asker('A?', 'B?', 'C?'), {
        user: scriptedUser({
          tools: { ask: [{ answer: '1' }, { answer: '2' }, { answer: '3' }] },
          messages: ['Go'],
        }),
      });
      expect(results(listed)).toEqual([{ answer: '1' }, { answer: '2' }, { answer: '3' }]);
      const seen: UserQuestion[] = [];
      const made = await converse(runtime({ app: 'app' }), asker('A?', 'B?'), {
        user: scriptedUser({
          tools: {
            ask: (args: { question: string }, question) => {
              seen.push(question);
              return { answer: `${args.question} ${question.answered.length}` };
            },
          },
          messages: ['Go'],
        }),
      });
      expect(results(made)).toEqual([{ answer: 'A? 0' }, { answer: 'B? 1' }]);
      expect(seen[0]).toMatchObject({
        kind: 'input',
        toolName: 'ask',
        agent: 'asker',
        args: { question: 'A?' },
        options: ['answer', 'reject'],
        summary: 'ask({"question":"A?"})',
        messages: [{ role: 'user', text: 'Go' }],
      });
      expect(seen[0]?.inputSchema).toMatchObject({ type: 'object' });
    },
  );

  test('is approved, edited or rejected', async () => {
    const { pay, paid } = payTool();
    const payer = agent({
      name: 'payer',
      model: roundModel([
        { toolCalls: [1, 2, 3].map((cents) => ({ name: 'pay', args: { cents } })) },
        { text: 'Done.' },
      ]),
      tools: [pay],
    });
    const user = scriptedUser({
      approvals: [
        'approve',
        { decision: 'edit', input: { cents: 20 } },
        { decision: 'reject', reason: 'Too much' },
      ],
      messages: ['Pay'],
    });
    const talk = await converse(runtime({ app: 'app' }), payer, { user });
    expect(talk.ended).toBe('completed');
    expect(paid.map(({ cents }) => cents)).toEqual([1, 20]);
    expect(talk.answers.map(({ decision, by }) => [decision, by])).toEqual([
      ['approve', 'user:scripted'],
      ['edit', 'user:scripted'],
      ['reject', 'user:scripted'],
    ]);
    user.assertUsed();
  });

  test('has one decision for all, or one for each tool', async () => {
    const both = () => {
      const { pay, paid } = payTool();
      const { pay: give, paid: given } = payTool({ name: 'give' });
      const calls = ['pay', 'give', 'pay'].map((name, place) => ({ name, args: { cents: place } }));
      return {
        runnable: agent({
          name: 'payer',
          model: roundModel([{ toolCalls: calls }, { text: 'Done.' }]),
          tools: [pay, give],
        }),
        paid,
        given,
      };
    };
    const all = both();
    await converse(runtime({ app: 'app' }), all.runnable, {
      user: scriptedUser({ approvals: 'approve', messages: ['Go'] }),
    });
    expect([all.paid.length, all.given.length]).toEqual([2, 1]);
    const each = both();
    await converse(runtime({ app: 'app' }), each.runnable, {
      user: scriptedUser({
        approvals: { pay: ['approve', 'reject'], give: () => 'reject' },
        messages: ['Go'],
      }),
    });
    expect([each.paid.length, each.given.length]).toEqual([1, 0]);
  });

  test(
    'is answered by the id that may decide; a question that is for somebody else is left to ' +
      'him',
    async () => {
      const { pay, paid } = payTool({ approval: { mayDecide: ['bob'] } });
      const payer = agent({
        name: 'payer',
        model: roundModel([
          { toolCalls: [{ name: 'pay', args: { cents: 1 } }, ...asking('Why?')] },
          { text: 'Done.' },
        ]),
        tools: [pay, ask],
      });
      const app = runtime({ app: 'users' });
      const asAnn = scriptedUser({
        id: 'ann',
        approvals: 'approve',
        tools: { ask: [{ answer: 'Because' }] },
        messages: ['Pay'],
      });
      const first = await converse(app, payer, { user: asAnn });
      expect(first).toMatchObject({
        ended: 'stuck',
        status: 'yielded',
        pendingCalls: [{ name: 'pay', kind: 'approval' }],
      });
      expect(first.reason).toMatch(/does not answer: approval "pay": pay\({"cents":1}\)/);
      expect(first.answers).toHaveLength(1);
      const second = await converse(app, payer, {
        user: scriptedUser({ id: ['ann', 'user:bob'], approvals: 'approve' }),
        session: first.session,
      });
      expect(second).toMatchObject({
        ended: 'completed',
        output: 'Done.',
        answers: [{ by: 'user:bob' }],
      });
      expect(paid).toHaveLength(1);
    },
  );

  test('by an operation that goes on elsewhere, also when it failed', async () => {
    const render = tool({
      name: 'render',
      description: 'Renders',
      schema: z.object({}),
      execute: (ctx) => pending({ operationId: `film-${ctx.idempotencyKey}` }),
    });
    const director = () =>
      agent({
        name: 'director',
        model: roundModel([{ toolCalls: [{ name: 'render', args: {} }] }, { text: 'Done.' }]),
        tools: [render],
      });
    const talk = await converse(runtime({ app: 'app' }), director(), {
      user: scriptedUser({ tools: { render: [{ url: 'film.mp4' }] }, messages: ['Action'] }),
    });
    expect(results(talk)).toEqual([{ url: 'film.mp4' }]);
    const failed = await converse(runtime({ app: 'app' }), director(), {
      user: scriptedUser({
        tools: { render: () => answerWith({ decision: 'reject', reason: 'No light' }) },
        messages: ['Action'],
      }),
    });
    expect(failed.session.events.find(({ type }) => type === 'tool_result')).toMatchObject({
      result: { content: expect.stringContaining('No light') },
    });
  });

  test('about attempts of unknown outcome, and about equal calls after one', async () => {
    const sending = (recovery: 'ask' | 'report') => {
      const attempts: number[] = [];
      const send = tool({
        name: 'send',
        description: 'Sends',
        schema: z.object({}),
        recovery,
        onRepeat: 'confirm',
        execute: (ctx) => {
          attempts.push(ctx.attempt);
          if (attempts.length === 1)
            throw new ToolFailure('The line went dead.', { effect: 'unknown' });
          return 'sent';
        },
      });
      const model = scriptedModel([
        { toolCalls: [{ name: 'send' }] },
        { toolCalls: [{ name: 'send' }] },
        { text: 'Done.' },
      ]);
      return {
        runnable: agent({ name: 'sender', model, tools: [send], supervision: false }),
        attempts,
      };
    };
    const known = sending('ask');
    const found = scriptedUser({
      recoveries: [{ decision: 'succeeded', input: 'it was sent' }],
      messages: ['Send'],
    });
    const talk = await converse(runtime({ app: 'app' }), known.runnable, { user: found });
    expect(talk).toMatchObject({
      ended: 'completed',
      answers: [{ kind: 'recovery', toolName: 'send', decision: 'succeeded' }],
    });
    expect(results(talk)[0]).toBe('it was sent');
    const again = sending('ask');
    await converse(runtime({ app: 'app' }), again.runnable, {
      user: scriptedUser({ recoveries: { send: ['retry'] }, messages: ['Send'] }),
    });
    expect(again.attempts.slice(0, 2)).toEqual([1, 2]);
    const repeated = sending('report');
    const careful = scriptedUser({ approvals: { send: ['reject'] }, messages: ['Send'] });
    expect(
      await converse(runtime({ app: 'app' }), repeated.runnable, { user: careful }),
    ).toMatchObject({
      answers: [{ kind: 'repeat', decision: 'reject' }],
    });
    expect(repeated.attempts).toEqual([1]);
  });

  test('at a limit, as often as it is reached', async () => {
    const count = tool({
      name: 'count',
      description: 'Counts',
      schema: z.object({ to: z.number() }),
      readOnly: true,
      execute: (ctx) => ctx.args.to,
    });
    let to = 0;
    const model = scriptedModel(() =>
      to < 5 ? { toolCalls: [{ name: 'count', args: { to: ++to } }] } : { text: 'Five.' },
    );
    const counter = agent({
      name: 'counter',
      model,
      tools: [count],
      limits: { rounds: 2, onLimit: 'ask' },
    });
    const user = scriptedUser({
      limits: [1, 'continue', { decision: 'continue', input: 10 }],
      messages: ['Count'],
    });
    const talk = await converse(runtime({ app: 'app' }), counter, { user });
    expect(talk).toMatchObject({ ended: 'completed', output: 'Five.' });
    expect(talk.answers[0]).toMatchObject({
      kind: 'limit',
      toolName: 'round_limit',
      by: 'user:scripted',
    });
    expect(talk.answers.map(({ decision, input }) => [decision, input])).toEqual([
      ['continue', 1],
      ['continue', undefined],
    ]);
    expect(user.unused()).toEqual({ limits: 1 });
  });

  test('is answered by nobody for ever when the user always lets an agent go on', async () => {
    const count = tool({
      name: 'count',
      description: 'Counts',
      schema: z.object({ to: z.number() }),
      readOnly: true,
      execute: (ctx) => ctx.args.to,
    });
    let to = 0;
    const model = scriptedModel(() => ({ toolCalls: [{ name: 'count', args: { to: ++to } }] }));
    const counter = agent({
      name: 'counter',
      model,
      tools: [count],
      limits: { rounds: 1, onLimit: 'ask' },
    });
    const talk = await converse(runtime({ app: 'app' }), counter, {
      user: scriptedUser({ limits: () => 1, messages: ['Count'] }),
      maxAnswers: 7,
    });
    expect(talk).toMatchObject({
      ended: 'stuck',
      answers: { length: 7 },
      reason: expect.stringContaining('`maxAnswers`'),
    });
  });

  test('by branches that wait at the same time, each for something else', async () => {
    const { pay, paid } = payTool();
    const branches = parallel({
      name: 'both',
      runnables: [
        agent({
          name: 'payer',
          model: roundModel([
            { toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
            { text: 'Done.' },
          ]),
          tools: [pay],
        }),
        asker('A?', 'B?'),
      ],
    });
    const user = scriptedUser({
      approvals: ['approve'],
      tools: { ask: [{ answer: 'a' }, { answer: 'b' }] },
    });
    const talk = await converse(runtime({ app: 'app' }), branches, { user, input: 'Go' });
    expect(talk).toMatchObject({
      ended: 'completed',
      turns: 1,
      output: { payer: 'Done.', asker: 'Done.' },
    });
    expect(paid).toHaveLength(1);
    user.assertUsed();
  });

  test('by loops that wait at the same time: each has a message of its own', async () => {
    const chat = (name: string) =>
      loop({ name: `${name}-loop`, runnable: echo(name), yields: true, maxIterations: 2 });
    const asked: string[] = [];
    const user = scriptedUser({
      messages: ({ asks, runnable }) => {
        asked.push(`${asks} ${runnable}`);
        return `to ${runnable}`;
      },
    });
    const talk = await converse(
      runtime({ app: 'app' }),
      parallel({ name: 'both', runnables: [chat('left'), chat('right')] }),
      { user },
    );
    expect(asked).toEqual(['start both', 'loop left-loop', 'loop right-loop']);
    expect(talk.ended).toBe('completed');
    expect(talk.output).toMatchObject({
      'left-loop': '2: to left-loop',
      'right-loop': '2: to right-loop',
    });
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

describe('a script that does not fit', () => {
  test(
    'says what was asked when its answers are used up, and leaves the ' + 'run as it is',
    async () => {
      const app = runtime({ app: 'users' });
      const session = await app.sessions.open();
      const user = scriptedUser({ tools: { ask: [{ answer: '1' }] }, messages: ['Go'] });
      const runnable = asker('A?', 'B?');
      await expect(converse(app, runnable, { user, session })).rejects.toMatchObject({
        code: 'user_has_no_answer',
        message:
          'The user has no answer: asker asks for the input of "ask": ' +
          'ask({"question":"B?"}). `tools.ask` of the scripted user has 1 answers, and all ' +
          'are used.',
      });
      expect(
        (await app.requests.list({ session: session.id, status: 'pending' })).map(
          ({ summary }) => summary,
        ),
      ).toEqual(['ask({"question":"B?"})']);
      const more = scriptedUser({
        tools: { ask: [{ answer: '1' }, { answer: '2' }] },
        messages: ['Go'],
      });
      expect(await converse(app, runnable, { user: more, session })).toMatchObject({
        ended: 'completed',
        answers: { length: 1 },
      });
    },
  );

  test('says so when it has nothing for what is asked', async () => {
    const { pay } = payTool();
    const payer = agent({
      name: 'payer',
      model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 1 } }] }, { text: 'Done.' }]),
      tools: [pay],
    });
    await expect(
      converse(runtime({ app: 'app' }), payer, {
        user: scriptedUser({ tools: { ask: [] }, messages: ['Pay'] }),
      }),
    ).rejects.toThrow(/asks for leave to call "pay".*has no `approvals`; it has `tools.ask`/);
    await expect(
      converse(runtime({ app: 'app' }), asker('A?'), {
        user: scriptedUser({ approvals: 'approve', messages: ['Go'] }),
      }),
    ).rejects.toThrow(/has no `tools.ask`; it has `approvals`/);
  });

  test(
    'an answer that does not fit is refused twice and then an error, which does ' + 'not hold it',
    async () => {
      const app = runtime({ app: 'users' });
      const session = await app.sessions.open();
      const user = scriptedUser({ tools: { ask: [{ reply: 'hunter2' }] }, messages: ['Go'] });
      const failure = await converse(app, asker('A?'), { user, session }).catch(
        (error: unknown) => error as Error & { code: string; data: unknown },
      );
      expect(failure).toMatchObject({
        code: 'user_answer_refused',
        message: expect.stringMatching(/refused 2 times.*\$\.answer/s),
      });
      expect(JSON.stringify([(failure as Error).message, failure])).not.toContain('hunter2');
      expect(session.status).toBe('awaiting_input');
    },
  );

  test('a function hears why it was refused, and may do better', async () => {
    const refusals: (string | undefined)[] = [];
    const user = scriptedUser({
      tools: {
        ask: (_args, { refused }): JsonValue => {
          refusals.push(refused);
          return refused === undefined ? 'red' : { answer: 'red' };
        },
      },
      messages: ['Go'],
    });
    expect((await converse(runtime({ app: 'app' }), asker('A?'), { user })).ended).toBe(
      'completed',
    );
    expect(refusals).toEqual([undefined, expect.stringContaining('is not taken')]);
  });

  test('a decision that is not offered is refused', async () => {
    const { pay } = payTool({ approval: { allowEdit: false } });
    const payer = agent({
      name: 'payer',
      model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 1 } }] }, { text: 'Done.' }]),
      tools: [pay],
    });
    const user = scriptedUser({
      approvals: () => ({ decision: 'edit', input: { cents: 2 } }),
      messages: ['Pay'],
    });
    await expect(converse(runtime({ app: 'app' }), payer, { user })).rejects.toMatchObject({
      code: 'user_answer_refused',
      message: expect.stringContaining("'approve', 'reject'"),
    });
  });

  test('leftovers can be asserted', async () => {
    const user = scriptedUser({
      tools: { ask: [{ answer: '1' }, { answer: '2' }], other: [1, 2, 3] },
      approvals: ['approve'],
      messages: ['Go'],
    });
    await converse(runtime({ app: 'app' }), asker('A?'), { user });
    expect(user.unused()).toEqual({ 'tools.ask': 1, 'tools.other': 3, approvals: 1 });
    expect(() => user.assertUsed()).toThrow(
      'The scripted user was not asked for everything: 1 of tools.ask, 3 of tools.other, 1 ' +
        'of approvals left over.',
    );
  });

  test('options that cannot work are refused by name', async () => {
    expect(() => scriptedUser({ message: ['Hi'] } as never)).toThrow(
      /scriptedUser\(\).*no option `message`.*`messages`/,
    );
    expect(() => scriptedUser({ tools: { ask: 'yes' } } as never)).toThrow(
      /`tools` must be an object that has a list of answers/,
    );
    expect(() => scriptedUser({ approvals: 7 } as never)).toThrow(/`approvals` must be/);
    expect(() => scriptedUser({ messages: [7] } as never)).toThrow(/`messages` must be/);
    expect(() => scriptedUser({ id: [] })).toThrow(/`id` must be/);
    expect(() => scriptedUser({ id: 'model:x' })).toThrow(/must be a user, operator or trigger/);
    const user = scriptedUser({});
    await expect(converse(runtime({ app: 'app' }), echo(), {} as never)).rejects.toThrow(
      /`user` must be a user/,
    );
    await expect(converse(runtime({ app: 'app' }), echo(), { user, maxTurns: 0 })).rejects.toThrow(
      /`maxTurns` must be/,
    );
    await expect(
      converse(runtime({ app: 'app' }), echo(), { user, conversation: 'a/b' }),
    ).rejects.toThrow(/`conversation` must be/);
    await expect(
      converse(runtime({ app: 'app' }), echo(), { user, turns: 3 } as never),
    ).rejects.toThrow(/no option `turns`/);
    await expect(converse(runtime({ app: 'app' }), {} as never, { user })).rejects.toMatchObject({
      code: 'invalid_run',
    });
  });
});
