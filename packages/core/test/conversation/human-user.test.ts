import { PassThrough } from 'node:stream';
import { agent, pending, runtime, type Tool, ToolFailure, tool } from 'adjutant';
import { converse, type HumanUserOptions, humanUser } from 'adjutant/conversation';
import { eventually, roundModel, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../pay-tool.ts';

const ask = tool({
  name: 'ask',
  description: 'Asks the user',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
});
const order = tool({
  name: 'order',
  description: 'Asks for an order',
  schema: z.object({}),
  yieldSchema: z.object({ pieces: z.number().int(), colour: z.string() }),
});

/** A person at streams: what is typed at once, and all that is written. */
function sitting(typed: string, options: HumanUserOptions = {}, isOver = true) {
  const input = new PassThrough();
  const output = new PassThrough();
  let written = '';
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  if (isOver) input.end(typed);
  else input.write(typed);
  return { user: humanUser({ input, output, ...options }), input, output, written: () => written };
}

function asker(asked: Tool, args: Record<string, unknown> = {}) {
  return agent({
    name: 'asker',
    model: roundModel([
      { toolCalls: [{ name: asked.name, args: args as never }] },
      { text: 'Done.' },
    ]),
    tools: [asked],
  });
}

function answers(talk: {
  readonly answers: readonly { readonly decision?: unknown; readonly input?: unknown }[];
}): unknown[] {
  return talk.answers.map(({ decision, input }) => [decision, input]);
}

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
