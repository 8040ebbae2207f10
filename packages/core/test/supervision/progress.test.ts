import { agent, type JsonValue, openai, tool, toolResult } from 'adjutant';
import { model, runTest, type TestStep, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { countedTool, forbidden } from '../counted-tool.ts';

type Calls = readonly { readonly name: string; readonly args?: JsonValue }[];

const failing = (): never => {
  throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
};

/** Works on a file and looks at it again by turns, each time with another text. */
const editAndCheck = (round: number) => [
  round % 2 === 0
    ? { name: 'check', args: { file: 'a' } }
    : { name: 'write', args: { text: `try ${round}` } },
];

/** Rounds of calls that a function makes, from round 0. */
const rounds = (count: number, calls: (round: number) => Calls): TestStep[] =>
  Array.from({ length: count }, (_, round) => model({ toolCalls: calls(round) }));

async function work(check: () => unknown, write: object, count: number) {
  const checked = countedTool('check', check, { readOnly: true });
  const written = countedTool('write', () => 'written', write);
  const worker = agent({
    name: 'worker',
    model: openai('gpt-5'),
    tools: [checked.tool, written.tool],
    limits: { rounds: 12 },
  });
  const { events } = await runTest(worker, [
    user('go'),
    ...rounds(count, editAndCheck),
    model('done'),
  ]);
  return {
    checks: checked.entered.length,
    verdicts: explain(events, { components: ['loop_detector'] }).map(
      ({ decision, data }) => `${decision} ${String(data?.['detector'])}`,
    ),
  };
}

test(
  'a call that failed for good is made again after something was done that may have mended ' +
    'it; only the same result stops it',
  async () => {
    const { checks, verdicts } = await work(failing, { recovery: 'report' }, 12);
    expect(checks).toBe(4);
    expect(verdicts).toEqual(['warn repeat', 'warn repeat', 'block repeat', 'block repeat']);
  },
);

test('what does not say that it changes something mends nothing', async () => {
  const { checks, verdicts } = await work(failing, {}, 12);
  expect(checks).toBeLessThanOrEqual(2);
  expect(verdicts[0]).toBe('block exhausted');
});

test('doing the same thing again mends nothing either', async () => {
  const page = countedTool('fetch_page', forbidden);
  const note = countedTool('note', () => 'noted', { destructive: true });
  const calls = (round: number) => [
    round % 2 === 0 ? { name: 'fetch_page', args: {} } : { name: 'note', args: { text: 'same' } },
  ];
  const worker = agent({
    name: 'worker',
    model: openai('gpt-5'),
    tools: [page.tool, note.tool],
    limits: { rounds: 14 },
  });
  const { session } = await runTest(worker, [user('go'), ...rounds(10, calls), model('done')]);
  expect(page.entered.length).toBeLessThanOrEqual(3);
  expect(
    explain(session, { components: ['loop_detector'] }).some(
      ({ decision }) => decision === 'block',
    ),
  ).toBe(true);
});

test(
  'errors of no kind of their own are told apart by their words: what fails in another way ' +
    'each time is not given up',
  async () => {
    const tests = countedTool('run_tests', (_args, times) => {
      throw new Error(`${String.fromCharCode(96 + times)} fails`);
    });
    const edit = countedTool('edit', () => 'done');
    const calls = (round: number) => [
      round % 2 === 0 ? { name: 'run_tests', args: {} } : { name: 'edit', args: { line: round } },
    ];
    const worker = agent({
      name: 'worker',
      model: openai('gpt-5'),
      tools: [tests.tool, edit.tool],
      limits: { rounds: 12 },
    });
    const { session } = await runTest(worker, [user('go'), ...rounds(12, calls), model('done')]);
    expect(tests.entered).toHaveLength(6);
    expect(
      explain(session, { components: ['loop_detector'] }).filter(
        ({ decision }) => decision === 'block',
      ),
    ).toEqual([]);
  },
);

test('a fallback tool that nobody has is passed over, and the decision says so', async () => {
  const page = countedTool('fetch_page', forbidden, { fallback: 'fetch_pgae' });
  const reader = agent({ name: 'reader', model: openai('gpt-5'), tools: [page.tool] });
  const { session } = await runTest(reader, [
    user('go'),
    ...rounds(4, () => [{ name: 'fetch_page', args: {} }]),
    model('done'),
  ]);
  expect(explain(session, { components: ['error_router'] })[0]?.why).toMatch(
    /Its fallback tool "fetch_pgae" does not exist\.$/,
  );
  expect(page.entered).toHaveLength(2);
});

test(
  'tests that fail with the same words are run again after each edit, until the same result ' +
    'stops them',
  async () => {
    const tests = countedTool('run_tests', () => {
      throw new Error('one test fails');
    });
    const edit = countedTool('edit', () => 'done');
    const calls = (round: number) => [
      round % 2 === 0 ? { name: 'run_tests', args: {} } : { name: 'edit', args: { line: round } },
    ];
    const worker = agent({
      name: 'worker',
      model: openai('gpt-5'),
      tools: [tests.tool, edit.tool],
      limits: { rounds: 12 },
    });
    const { session } = await runTest(worker, [user('go'), ...rounds(12, calls), model('done')]);
    expect(tests.entered).toHaveLength(4);
    expect(explain(session, { components: ['loop_detector'] }).at(-1)).toMatchObject({
      decision: 'block',
      data: { detector: 'repeat' },
    });
  },
);

test(
  'a round in which something new succeeded is no round that led nowhere, whatever else in ' +
    'it was not let through',
  async () => {
    const page = countedTool('fetch_page', forbidden);
    const read = countedTool('read', (args) => args);
    const both = (round: number) => [
      { name: 'fetch_page', args: {} },
      ...(round < 8 ? [{ name: 'read', args: { page: round } }] : []),
    ];
    const worker = agent({
      name: 'worker',
      model: openai('gpt-5'),
      tools: [page.tool, read.tool],
      limits: { rounds: 25 },
    });
    const { session, result } = await runTest(worker, [
      user('go'),
      ...rounds(9, both),
      model('done'),
    ]);
    expect(read.entered).toHaveLength(8);
    expect(page.entered).toHaveLength(2);
    expect(result.stopReason).toBe('loop');
    expect(
      explain(session, { components: ['loop_detector'] }).filter(
        ({ decision }) => decision === 'block',
      ).length,
    ).toBeLessThanOrEqual(8);
  },
);

test('a tool result that is the answer goes through the guardrails of answers', async () => {
  const table = countedTool('table', () => toolResult.success('Call me: secret', { final: true }));
  const redacting = {
    name: 'redacting',
    output: ({ text }: { text: string }) => ({
      action: 'transform' as const,
      value: text.replace('secret', '…'),
    }),
  };
  const refusing = {
    name: 'refusing',
    output: () => ({ action: 'deny' as const, message: 'Not for you.' }),
  };
  const asks = model({ toolCalls: [{ name: 'table', args: {} }] });
  const run = (guardrail: typeof redacting | typeof refusing) =>
    runTest(
      agent({
        name: 'teller',
        model: openai('gpt-5'),
        tools: [table.tool],
        supervision: { guardrails: [guardrail] },
      }),
      [user('go'), asks],
    );
  expect(await run(redacting)).toMatchObject({ status: 'completed', output: 'Call me: …' });
  const refused = await run(refusing);
  expect(refused.result).toMatchObject({
    status: 'completed',
    output: 'Not for you.',
    stopReason: 'refused',
  });
  expect(refused).toHaveDecision({ component: 'guardrail', decision: 'deny' });
});

test('arguments that a guardrail changed have to fit the tool', async () => {
  const sent: unknown[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    schema: z.object({ to: z.email() }),
    execute: ({ args }) => sent.push(args),
  });
  const to = (value: string) => ({
    name: 'to',
    toolCall: () => ({ action: 'transform' as const, value: { to: value } }),
  });
  const run = async (value: string) => {
    const sender = agent({
      name: 'sender',
      model: openai('gpt-5'),
      tools: [send],
      supervision: { guardrails: [to(value)] },
    });
    const asks = model({ toolCalls: [{ name: 'send', args: { to: 'ann@example.com' } }] });
    const { events } = await runTest(sender, [user('go'), asks, model('done')]);
    return events.find((event) => event.type === 'tool_result')?.result;
  };
  expect(await run('[email]')).toMatchObject({
    status: 'error_blocked',
    errorType: 'guardrail_denied',
  });
  expect(sent).toEqual([]);
  expect(await run('desk@example.com')).toMatchObject({ status: 'success' });
  expect(sent).toEqual([{ to: 'desk@example.com' }]);
});
