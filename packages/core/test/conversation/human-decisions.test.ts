import { agent, pending, runtime, ToolFailure, tool } from 'adjutant';
import { converse } from 'adjutant/conversation';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../pay-tool.ts';
import { answers, asker, sitting } from './sitting.ts';

describe('decides', () => {
  const deciding = async (typed: string) => {
    const { pay, paid } = payTool();
    const { user, written } = sitting(typed);
    const talk = await converse(runtime({ app: 'app' }), asker(pay, { cents: 5 }), {
      user,
      input: 'Pay',
      followUps: false,
    });
    return { talk, paid, written };
  };

  test.each([
    ['y', 'approve', undefined, 1],
    ['YES', 'approve', undefined, 1],
    ['approve', 'approve', undefined, 1],
    ['n', 'reject', undefined, 0],
    ['no, too dear', 'reject', 'too dear', 0],
  ])('by %j', async (typed, decision, reason, count) => {
    const { talk, paid } = await deciding(`${typed}\n`);
    expect(talk.ended).toBe('completed');
    expect(paid).toHaveLength(count);
    expect(talk.session.events.find(({ type }) => type === 'tool_input')).toMatchObject({
      decision,
      ...(reason === undefined ? {} : { reason }),
    });
  });

  test('by other arguments, which are asked for again until they are JSON and fit', async () => {
    const better = await deciding('e\n{"cents":\n{"cents":"six"}\nedit\n{"cents":6}\n');
    expect([better.talk.ended, better.paid]).toEqual(['completed', [{ cents: 6 }]]);
    expect(better.written()).toContain(
      'New arguments as JSON, in the place of\n  {"cents":5}\n: \nThis is not JSON.\n: ',
    );
    expect(better.written()).toMatch(/Not taken: .*\$\.cents/);
  });

  test('in words that nobody understands: what may be typed is said again', async () => {
    const { talk, written } = await deciding('perhaps\nanswer\ny\n');
    expect(talk.ended).toBe('completed');
    expect(written()).toContain(
      'asker wants to call pay: pay({"cents":5})\n  {"cents":5}\n[y]es, [e]dit, [n]o (a ' +
        'reason may follow): \n',
    );
    expect(written().match(/Type \[y\]es, \[e\]dit, \[n\]o/g)).toHaveLength(2);
  });

  test('how far an agent may go beyond its limit', async () => {
    const count = tool({
      name: 'count',
      description: 'Counts',
      schema: z.object({ to: z.number() }),
      readOnly: true,
      execute: (ctx) => ctx.args.to,
    });
    let to = 0;
    const model = scriptedModel(() =>
      to < 4 ? { toolCalls: [{ name: 'count', args: { to: ++to } }] } : { text: 'Four.' },
    );
    const counter = agent({
      name: 'counter',
      model,
      tools: [count],
      limits: { rounds: 2, onLimit: 'ask' },
    });
    const { user, written } = sitting('yes 5\n1\ny\n');
    const talk = await converse(runtime({ app: 'app' }), counter, {
      user,
      input: 'Count',
      followUps: false,
    });
    expect(talk.output).toBe('Four.');
    expect(answers(talk)).toEqual([
      ['continue', 1],
      ['continue', undefined],
    ]);
    expect(written()).toContain(
      'counter is at a limit: counter has used 2 of 2 (round_limit). May it go on?\n[y]es, ' +
        'or by how much, [n]o',
    );
    expect(written()).toContain('type the number alone');
  });

  test('what became of an attempt of unknown outcome', async () => {
    const send = tool({
      name: 'send',
      description: 'Sends',
      schema: z.object({}),
      recovery: 'ask',
      execute: () => {
        throw new ToolFailure('The line went dead.', { effect: 'unknown' });
      },
    });
    const { user, written } = sitting('no idea\nsucceeded {"id":7}\n');
    const talk = await converse(runtime({ app: 'app' }), asker(send), {
      user,
      input: 'Send',
      followUps: false,
    });
    expect(answers(talk)).toEqual([['succeeded', { id: 7 }]]);
    expect(written()).toContain('asker does not know what became of send: ');
    expect(written()).toContain(
      'Type succeeded, retry, report (the result may follow `succeeded`).',
    );
  });

  test('what became of an operation', async () => {
    const render = tool({
      name: 'render',
      description: 'Renders',
      schema: z.object({}),
      execute: () => pending({ operationId: 'film' }),
    });
    const { user } = sitting('{"url":"film.mp4"}\n');
    const talk = await converse(runtime({ app: 'app' }), asker(render), {
      user,
      input: 'Action',
      followUps: false,
    });
    expect(answers(talk)).toEqual([['answer', { url: 'film.mp4' }]]);
    const { user: other } = sitting('/no the lamp broke\n');
    const failed = await converse(runtime({ app: 'app' }), asker(render), {
      user: other,
      input: 'Action',
      followUps: false,
    });
    expect(answers(failed)).toEqual([['reject', undefined]]);
  });
});
