import { agent, type JsonValue, runtime } from 'adjutant';
import { converse, scriptedUser } from 'adjutant/conversation';
import { roundModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { payTool } from '../pay-tool.ts';
import { asker, echo } from './scripted-conversation.ts';

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
