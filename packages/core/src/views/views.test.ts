import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../in-memory-app.ts';
import { runReport } from '../ledger/run-report.ts';
import { agent } from '../runnables/agent.ts';
import { sequence } from '../runnables/sequence.ts';
import { step } from '../runnables/step.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { runTree } from './run-tree.ts';
import { transcript } from './transcript.ts';

async function recorded() {
  const add = tool({
    name: 'add',
    description: 'Adds',
    schema: z.object({ n: z.number() }),
    execute: ({ args }) => args.n,
  });
  const model = scriptedModel([
    {
      thoughts: 'hm',
      toolCalls: [{ name: 'add', args: { n: 1 } }, { name: 'ad' }],
      usage: { inputTokens: 100, outputTokens: 10, cachedInputTokens: 40 },
    },
    { text: 'one', usage: { inputTokens: 200, outputTokens: 20 } },
  ]);
  const inner = agent({ name: 'inner', model, tools: [add] });
  const all = sequence({
    name: 'all',
    runnables: [inner, step({ name: 'bad', execute: (ctx) => ctx.fail('no luck') })],
  });
  const { session, ...result } = await run(all, { input: 'Go', runId: 'run' });
  return { events: session.events, result };
}

test('the report of a run is in its result, and counts what its events say', async () => {
  const { events, result } = await recorded();
  const report = runReport(events, 'run');
  expect(result).toMatchObject({ ...report });
  expect(report).toMatchObject({
    usage: { inputTokens: 300, outputTokens: 30, cachedInputTokens: 40 },
    rounds: 2,
    cost: undefined,
  });
  expect(
    report.toolCalls.map(({ name, success, attempts, roundTokens }) => [
      name,
      success,
      attempts,
      roundTokens,
    ]),
  ).toEqual([
    ['add', true, 1, 110],
    ['ad', false, 0, 110],
  ]);
  expect(runReport(events, 'ru')).toMatchObject({ rounds: 0, toolCalls: [] });
  expect(runReport(events, 'run/inner').usage).toEqual(report.usage);
});

test('what a run used is the sum over any two parts of its ledger', async () => {
  const { events } = await recorded();
  const whole = runReport(events, 'run');
  fc.assert(
    fc.property(fc.nat(events.length), (cut) => {
      const parts = [runReport(events.slice(0, cut), 'run'), runReport(events.slice(cut), 'run')];
      const sum = (of: (report: typeof whole) => number) =>
        parts.reduce((total, part) => total + of(part), 0);
      expect(sum(({ rounds }) => rounds)).toBe(whole.rounds);
      expect(sum(({ usage }) => usage.inputTokens)).toBe(whole.usage.inputTokens);
      expect(sum(({ toolCalls }) => toolCalls.length)).toBe(whole.toolCalls.length);
    }),
  );
});

test('the tree shows each invocation with what it and all below it used', async () => {
  const { events } = await recorded();
  const [root, ...others] = runTree(events);
  expect(others).toEqual([]);
  expect(root).toMatchObject({
    path: 'run',
    status: 'error',
    tokens: 330,
    children: [
      {
        name: 'inner',
        status: 'completed',
        tokens: 330,
        toolCalls: [
          { name: 'add', success: true },
          { name: 'ad', success: false },
        ],
      },
      { name: 'bad', status: 'error', tokens: 0, children: [] },
    ],
  });
  const open = runTree(events.slice(0, 3));
  expect(open[0]).toMatchObject({ status: 'open', children: [{ status: 'open' }] });
});

test('the transcript is what was said and done, in order, with results beside their calls', async () => {
  const { events } = await recorded();
  expect(transcript(events)).toMatchObject([
    { kind: 'user', text: 'Go' },
    { kind: 'thought', text: 'hm' },
    { kind: 'tool', name: 'add', args: { n: 1 }, success: true },
    { kind: 'tool', name: 'ad', success: false },
    { kind: 'assistant', text: 'one' },
    { kind: 'end', name: 'bad', message: 'no luck' },
    { kind: 'end', name: 'all', status: 'error' },
  ]);
});
