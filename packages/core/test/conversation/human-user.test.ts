import { PassThrough } from 'node:stream';
import { agent, runtime, tool } from 'adjutant';
import { converse, humanUser } from 'adjutant/conversation';
import { eventually, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ask } from './asking-tool.ts';
import { answers, asker, sitting } from './sitting.ts';

const order = tool({
  name: 'order',
  description: 'Asks for an order',
  schema: z.object({}),
  yieldSchema: z.object({ pieces: z.number().int(), colour: z.string() }),
});

test('is shown what was said and asked, and types messages and answers', async () => {
  const { user, written } = sitting('\n  \nPaint the door\nred\n');
  const talk = await converse(runtime({ app: 'app' }), asker(ask, { question: 'Which colour?' }), {
    user,
  });
  expect(talk).toMatchObject({
    ended: 'user_done',
    reason: 'The input has ended.',
    output: 'Done.',
    turns: 1,
  });
  expect(talk.answers).toMatchObject([{ input: { answer: 'red' }, by: 'user:human' }]);
  expect(written()).toBe(
    [
      '\nYou: \nYou: \nYou: \n',
      '\nasker asks by ask: ask({"question":"Which colour?"})\n  {"question":"Which ' +
        'colour?"}\nAnswer (or /no and a reason): \n',
      '\nDone.\n\nYou: ',
    ].join(''),
  );
});

describe('input that does not fit', () => {
  test('is asked for again with what the schema wants, and none of it is in an error', async () => {
    const { user, written } = sitting(
      'hunter2\n{"pieces":"hunter2"}\n{"pieces":2,"colour":"red"}\n',
    );
    const talk = await converse(runtime({ app: 'app' }), asker(order), {
      user,
      input: 'Order',
      followUps: false,
    });
    expect(answers(talk)).toEqual([['answer', { pieces: 2, colour: 'red' }]]);
    expect(written()).toContain('This is not JSON.');
    expect(written()).toMatch(/Not taken: .*\$\.pieces.*\$\.colour/s);
    expect(written()).not.toContain('hunter2');
  });

  test('is an error after `attempts`, and the run still waits', async () => {
    const { user } = sitting('hunter2\n'.repeat(20), { attempts: 3 });
    const app = runtime({ app: 'users' });
    const session = await app.sessions.open();
    const failure = await converse(app, asker(order), { user, session, input: 'Order' }).catch(
      (error: unknown) => error as Error,
    );
    expect(failure).toMatchObject({
      code: 'user_answer_refused',
      message: expect.stringContaining('refused 3 times'),
    });
    expect(JSON.stringify([(failure as Error).message, failure])).not.toContain('hunter2');
    expect(session.status).toBe('awaiting_input');
  });

  test(
    'goes through `parseInput`, whose mistakes are not shown; prompts can be ' + 'one’s own',
    async () => {
      const parseInput = (typed: string) => {
        if (typed.includes('x')) throw new Error(`hunter2 ${typed}`);
        const [pieces, colour] = typed.split(' ');
        return { pieces: Number(pieces), colour: colour ?? '' };
      };
      const formatPrompt = ({ toolName }: { toolName: string }) => `Enter input for ${toolName}: `;
      const { user, written } = sitting('Order\n2x\n2 red\n', {
        parseInput,
        formatPrompt,
        messagePrompt: (turn) => `<${turn.asks}>`,
      });
      const talk = await converse(runtime({ app: 'app' }), asker(order), { user });
      expect(answers(talk)).toEqual([['answer', { pieces: 2, colour: 'red' }]]);
      expect(written()).toBe(
        '<start>\nEnter input for order: \nThis could not be read.\n: \n<follow_up>',
      );
    },
  );
});

test('nothing that a model or a tool says steers the terminal', async () => {
  const evil = '\u001b[2J\u001b]0;owned\u0007\u009b1m\u202egnp.exe\rYou: ';
  const model = scriptedModel([
    { toolCalls: [{ name: 'ask', args: { question: `${evil}\n[y]es: ` } }] },
    { text: evil },
  ]);
  const { user, written } = sitting('Go\nfine\n', { id: 'ann' });
  const talk = await converse(
    runtime({ app: 'app' }),
    agent({ name: 'evil', model, tools: [ask] }),
    { user },
  );
  expect(talk.ended).toBe('user_done');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(written()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(written()).toContain('\\u{1b}[2J');
  const formatted = sitting('Go\nfine\n', {
    formatPrompt: ({ args }) => (args as { question: string }).question,
  });
  const again = scriptedModel([
    { toolCalls: [{ name: 'ask', args: { question: evil } }] },
    { text: 'Fine.' },
  ]);
  await converse(runtime({ app: 'app' }), agent({ name: 'evil', model: again, tools: [ask] }), {
    user: formatted.user,
  });
  expect(formatted.written()).toContain('\\u{1b}]0;owned\\u{7}\\u{9b}1m\\u{202e}');
});

describe('leaves', () => {
  test(
    'at the end of the input, also in the middle of a question; another ' + 'person goes on',
    async () => {
      const app = runtime({ app: 'users' });
      const session = await app.sessions.open();
      const runnable = asker(ask, { question: 'Which?' });
      const first = await converse(app, runnable, { user: sitting('Go\n').user, session });
      expect(first).toMatchObject({
        ended: 'user_done',
        status: 'yielded',
        pendingCalls: [{ name: 'ask' }],
      });
      const second = await converse(app, runnable, { user: sitting('red').user, session });
      expect(second).toMatchObject({
        ended: 'user_done',
        status: 'completed',
        answers: [{ input: { answer: 'red' } }],
      });
      const third = await converse(app, runnable, { user: sitting('').user, session });
      expect(third).toMatchObject({ ended: 'user_done', status: 'completed', answers: [] });
    },
  );

  test('when the input had ended before it was asked, or was closed', async () => {
    const over = sitting('');
    over.input.resume();
    await new Promise<void>((resolve) => over.input.once('end', resolve));
    expect(
      await converse(runtime({ app: 'app' }), asker(ask, { question: '?' }), { user: over.user }),
    ).toMatchObject({
      ended: 'user_done',
      turns: 0,
    });
    const closed = sitting('Go\n', {}, false);
    closed.user.close();
    expect(
      await converse(runtime({ app: 'app' }), asker(ask, { question: '?' }), { user: closed.user }),
    ).toMatchObject({
      ended: 'user_done',
      turns: 0,
    });
  });

  test('when the input fails, with its error', async () => {
    const { user, input } = sitting('', {}, false);
    const talking = converse(runtime({ app: 'app' }), asker(ask, { question: '?' }), { user });
    setImmediate(() => input.destroy(new Error('The line is dead')));
    await expect(talking).rejects.toThrow('The line is dead');
  });

  test('when it is aborted while somebody types: the run that waits is cancelled', async () => {
    const { user, input, output } = sitting('Go\nre', {}, false);
    const controller = new AbortController();
    output.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('Answer')) setImmediate(() => controller.abort());
    });
    const talk = await converse(runtime({ app: 'app' }), asker(ask, { question: '?' }), {
      user,
      signal: controller.signal,
    });
    expect(talk).toMatchObject({ ended: 'cancelled', status: 'cancelled', answers: [] });
    expect(input.listenerCount('data')).toBeLessThanOrEqual(2);
    user.close();
  });
});

test(
  'at a terminal, lines are edited, typed ahead and interrupted; between questions the ' +
    'terminal is given back',
  async () => {
    const modes: boolean[] = [];
    const terminal = (typed: string) => {
      const input = Object.assign(new PassThrough(), {
        isTTY: true,
        setRawMode: (is: boolean) => modes.push(is),
      });
      const output = Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
      output.resume();
      input.write(typed);
      return { input, user: humanUser({ input, output }) };
    };
    const app = runtime({ app: 'users' });
    const session = await app.sessions.open();
    const runnable = asker(ask, { question: 'Which?' });
    const { input, user } = terminal('Ho\u007fello\rblu');
    const talking = converse(app, runnable, { user, session });
    await eventually(
      () => session.pendingYieldingCalls.length > 0 && input.listenerCount('keypress') > 0,
      { what: 'the question' },
    );
    input.write('\u0003');
    expect(await talking).toMatchObject({
      ended: 'user_done',
      reason: 'Interrupted at the terminal.',
      status: 'yielded',
    });
    expect(session.events.find(({ type }) => type === 'user')).toMatchObject({ text: 'Hello' });
    expect(modes).toEqual([true, false, true, false]);
    expect(
      await converse(app, runnable, { user: terminal('red\r\u0004').user, session }),
    ).toMatchObject({
      ended: 'user_done',
      reason: 'The input has ended.',
      answers: [{ input: { answer: 'red' } }],
    });
    expect(input.listenerCount('error')).toBe(0);
  },
);

test('options that cannot work are refused by name', () => {
  expect(() => humanUser({ prompt: 'x' } as never)).toThrow(/humanUser\(\).*no option `prompt`/);
  expect(() => humanUser({ input: 'x' } as never)).toThrow(/`input` must be a readable stream/);
  expect(() => humanUser({ attempts: 0 })).toThrow(/`attempts` must be/);
});
