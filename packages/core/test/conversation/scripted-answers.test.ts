import { agent, loop, parallel, pending, runtime, ToolFailure, tool } from 'adjutant';
import { answerWith, converse, scriptedUser, type UserQuestion } from 'adjutant/conversation';
import { roundModel, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../pay-tool.ts';
import { ask } from './asking-tool.ts';
import { asker, asking, echo, results } from './scripted-conversation.ts';

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
