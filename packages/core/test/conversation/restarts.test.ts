import {
  agent,
  loop,
  type Runnable,
  type Runtime,
  runtime,
  type Session,
  type Store,
} from 'adjutant';
import { type ConversationResult, converse, scriptedUser } from 'adjutant/conversation';
import { crashingStore, scriptedModel, takingOver } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { payTool } from '../pay-tool.ts';
import { storePlaces } from '../store-places.ts';
import { ask } from './asking-tool.ts';

type Prompt = readonly { readonly role: string; readonly content: unknown }[];

/**
 * Asks two questions and for leave at its first message, and one question at each later one; it
 * needs no memory but the prompt.
 */
function clerk() {
  const { pay } = payTool({ recovery: 'rerun' });
  const model = scriptedModel((prompt: Prompt) => {
    const turns = prompt.filter(({ role }) => role === 'user').length;
    const isAnswered = prompt
      .slice(prompt.findLastIndex(({ role }) => role === 'user'))
      .some(({ role }) => role === 'tool');
    if (isAnswered) return { text: `Answer ${turns}` };
    const questions = turns === 1 ? ['A?', 'B?'] : [`C${turns}?`];
    const calls = questions.map((question) => ({ name: 'ask', args: { question } }));
    return { toolCalls: turns === 1 ? [...calls, { name: 'pay', args: { cents: 5 } }] : calls };
  });
  return agent({ name: 'clerk', model, tools: [ask, pay] });
}

const conversations: readonly (readonly [name: string, make: () => Runnable, ended: string])[] = [
  ['an agent with follow-ups', clerk, 'completed'],
  [
    'a loop that waits for messages',
    () => loop({ name: 'chat', runnable: clerk(), yields: true }),
    'user_done',
  ],
];

const script = {
  tools: { ask: ['a', 'b', 'c', 'd'].map((answer) => ({ answer })) },
  approvals: ['approve'],
  messages: ['First', 'Second', 'Third'],
} as const;

const user = () => scriptedUser({ id: 'ann', ...script });

/** Returns the parts that people would see. */
function account({ events }: Session): unknown {
  return {
    messages: events.flatMap((event) => (event.type === 'user' ? [event.text] : [])),
    answers: events.flatMap((event) =>
      event.type === 'tool_input'
        ? [[event.decision ?? 'answer', event.input ?? null, event.by]]
        : [],
    ),
    said: events.flatMap((event) => (event.type === 'assistant' ? [event.text] : [])),
    ended: events.filter(
      (event) => event.type === 'invocation_end' && !event.invocationId.includes('/'),
    ).length,
  };
}

function newProcess(store: Store): Runtime {
  return runtime({ app: 'users', store, recover: 'manual' });
}

for (const [place, make] of storePlaces) {
  for (const [name, define, ended] of conversations) {
    test(`${name} on ${place}: stopped at any append, it is gone on with by another process, ` +
      'which says nothing twice', {
      timeout: 120_000,
    }, async () => {
      const at = await make();
      const store = at.open();
      // The process after opens a store of its own, where that can be.
      const later = place === 'memory' ? store : at.open();
      try {
        const whole = crashingStore(store);
        const plain = await converse(newProcess(whole.store), define(), {
          user: user(),
          session: 'plain',
        });
        expect(plain.ended).toBe(ended);
        const expected = account(plain.session);
        expect(expected).toMatchObject({
          messages: script.messages,
          said: ['Answer 1', 'Answer 2', 'Answer 3'],
        });
        expect((expected as { answers: unknown[] }).answers).toHaveLength(5);
        const step = place === 'memory' ? 1 : 5;
        for (const when of ['before', 'after'] as const) {
          for (let number = 1; number <= whole.appends; number += step) {
            const session = `${when}-${number}`;
            const process = crashingStore(store, number, when);
            const first = converse(newProcess(process.store), define(), {
              user: user(),
              session,
            });
            await Promise.race([first, process.crashed]);
            expect(process.isGone).toBe(true);
            const second = user();
            const talk: ConversationResult = await converse(
              newProcess(takingOver(later)),
              define(),
              { user: second, session },
            );
            expect([talk.ended, talk.turns, account(talk.session)], session).toEqual([
              ended,
              3,
              expected,
            ]);
            second.assertUsed();
          }
        }
      } finally {
        await store.close();
        await later.close();
        await at.remove();
      }
    });
  }
}

test('what was given as `input` is said once, and the script begins behind it', async () => {
  const app = newProcess(
    storePlaces[0] === undefined ? (undefined as never) : (await storePlaces[0][1]()).open(),
  );
  const model = scriptedModel((prompt: Prompt) => ({
    text: String(prompt.filter(({ role }) => role === 'user').length),
  }));
  const runnable = agent({ name: 'counter', model });
  const options = { session: 's', input: 'Begin' };
  expect(
    await converse(app, runnable, { ...options, user: scriptedUser({ messages: ['A'] }) }),
  ).toMatchObject({ turns: 2, output: '2' });
  const again = await converse(app, runnable, {
    ...options,
    user: scriptedUser({ messages: ['A'] }),
  });
  expect(again).toMatchObject({ turns: 2, output: '2', ended: 'completed' });
  const more = await converse(app, runnable, {
    ...options,
    user: scriptedUser({ messages: ['A', 'B'] }),
  });
  expect(more).toMatchObject({ turns: 3, output: '3' });
  const other = await converse(app, runnable, {
    ...options,
    user: scriptedUser({ messages: ['A'] }),
    conversation: 'second',
  });
  expect(other).toMatchObject({ turns: 2, output: '5' });
  expect(
    more.session.events.flatMap((event) => (event.type === 'user' ? [event.text] : [])),
  ).toEqual(['Begin', 'A', 'B', 'Begin', 'A']);
});

test('a run that somebody else began is answered; a follow-up goes on behind it', async () => {
  const app = runtime({ app: 'users' });
  const runnable = clerk();
  const begun = await app.run(runnable, { session: 's', input: 'First' });
  expect(begun.status).toBe('yielded');
  const talk = await converse(app, runnable, {
    session: begun.session,
    user: scriptedUser({ ...script, messages: ['Second'] }),
  });
  expect(talk).toMatchObject({
    ended: 'completed',
    turns: 1,
    output: 'Answer 2',
    answers: { length: 4 },
  });
});

test.each(storePlaces)(
  'on %s: what is too large for an event is read by another process as it was said',
  async (_name, make) => {
    const place = await make();
    const store = place.open();
    try {
      const large = (letter: string) => letter.repeat(100_000);
      const heard: string[] = [];
      const runnable = () =>
        agent({
          name: 'echo',
          model: scriptedModel((prompt: Prompt) => ({ text: large(String(prompt.length)) })),
        });
      const asker = () =>
        agent({
          name: 'asker',
          model: scriptedModel([
            { toolCalls: [{ name: 'ask', args: { question: large('q') } }] },
            { text: 'Done.' },
          ]),
          tools: [ask],
        });
      const listener = scriptedUser({
        messages: ({ messages, index }) => {
          heard.push(...messages.slice(-2).map(({ text }) => `${text.length} ${text[0]}`));
          return index < 2 ? large('u') : undefined;
        },
      });
      await converse(newProcess(takingOver(store)), runnable(), {
        user: scriptedUser({ messages: [large('u')] }),
        session: 's',
      });
      const second = await converse(newProcess(takingOver(store)), runnable(), {
        user: listener,
        session: 's',
      });
      expect([second.turns, heard]).toEqual([2, ['100000 u', '100000 1', '100000 u', '100000 3']]);
      const other = scriptedUser({
        messages: ({ messages }) =>
          messages.length > 6 ? undefined : `${messages.length} ${messages[0]?.text.length}`,
      });
      const third = await converse(newProcess(takingOver(store)), runnable(), {
        user: other,
        session: 's',
        conversation: 'other',
      });
      expect(third.session.events.findLast(({ type }) => type === 'user')).toMatchObject({
        text: '6 100000',
      });
      const waiting = await newProcess(takingOver(store)).run(asker(), {
        session: 'w',
        input: 'Go',
      });
      expect(waiting.status).toBe('yielded');
      const answering = scriptedUser({
        tools: {
          ask: (args: { question: string }, { summary }) => ({
            answer: `${args.question.length} ${summary.length < 300}`,
          }),
        },
      });
      const answered = await converse(newProcess(takingOver(store)), asker(), {
        user: answering,
        session: 'w',
        followUps: false,
      });
      expect(answered.answers[0]?.input).toEqual({ answer: '100000 true' });
    } finally {
      await store.close();
      await place.remove();
    }
  },
);
