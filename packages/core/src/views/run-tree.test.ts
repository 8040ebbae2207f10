import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { testClock } from '../base/clocks/test-clock.ts';
import type { Event } from '../ledger/event.ts';
import { agent } from '../runnables/agent.ts';
import { sequence } from '../runnables/sequence.ts';
import { step } from '../runnables/step.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { lengthOf } from './run-times.ts';
import { type RunTreeNode, runTree } from './run-tree.ts';

const prices = { 'scripted:scripted': { input: 1, output: 1 } };

/**
 * A run that takes known times: a step of 100 ms, an agent that is asked for a minute, and a child
 * of 300 ms below a step.
 */
async function recorded(): Promise<readonly Event[]> {
  const clock = testClock();
  const wait = (ms: number) => () => clock.advance(ms);
  const refund = tool({
    name: 'refund',
    description: 'Pays back',
    schema: z.object({}),
    approval: {},
    execute: wait(20),
  });
  const usage = { inputTokens: 600_000, outputTokens: 400_000 };
  const model = scriptedModel([
    { toolCalls: [{ name: 'refund' }], usage },
    { text: 'Paid', usage },
  ]);
  const clerk = agent({ name: 'clerk', model, tools: [refund] });
  const inner = step({ name: 'inner', execute: wait(300) });
  const outer = step({
    name: 'outer',
    execute: async (ctx) => {
      clock.advance(50);
      await ctx.call(inner);
    },
  });
  const app = runtime({ app: 'shop', ports: { clock }, prices });
  const all = sequence({
    name: 'all',
    runnables: [step({ name: 'first', execute: wait(100) }), clerk, outer],
  });
  const { pendingCalls, session } = await app.run(all, { runId: 'run' });
  clock.advance(60_000);
  await app.requests.answer(pendingCalls[0]?.requestId ?? '', { decision: 'approve' });
  await app.resume(session);
  return session.events;
}

function named(nodes: readonly RunTreeNode[], name: string): RunTreeNode {
  for (const node of nodes) {
    if (node.name === name) return node;
    const below = node.children.length === 0 ? undefined : named(node.children, name);
    if (below?.name === name) return below;
  }
  return { name: 'nobody' } as RunTreeNode;
}

describe('the tree of a run', () => {
  test('tells the time that each part took itself, and the time that it waited', async () => {
    const tree = runTree(await recorded());
    expect(named(tree, 'all')).toMatchObject({ durationMs: 60_470, waitingMs: 60_000, selfMs: 0 });
    expect(named(tree, 'first')).toMatchObject({ durationMs: 100, waitingMs: 0, selfMs: 100 });
    expect(named(tree, 'clerk')).toMatchObject({
      durationMs: 60_020,
      waitingMs: 60_000,
      selfMs: 20,
    });
    expect(named(tree, 'outer')).toMatchObject({ durationMs: 350, waitingMs: 0, selfMs: 50 });
    expect(named(tree, 'inner')).toMatchObject({ durationMs: 300, selfMs: 300 });
  });

  test('tells tokens and cost of each part, with and without those below', async () => {
    const tree = runTree(await recorded());
    expect(named(tree, 'all')).toMatchObject({
      tokens: 2_000_000,
      selfTokens: 0,
      cost: 2,
      selfCost: undefined,
    });
    expect(named(tree, 'clerk')).toMatchObject({
      tokens: 2_000_000,
      selfTokens: 2_000_000,
      cost: 2,
      selfCost: 2,
    });
    expect(named(tree, 'outer')).toMatchObject({ tokens: 0, cost: undefined });
  });

  test('has model calls and tool calls in the order of the ledger', async () => {
    const { modelCalls, toolCalls } = named(runTree(await recorded()), 'clerk');
    expect(modelCalls).toMatchObject([
      {
        model: 'scripted:scripted',
        round: 1,
        attempt: 1,
        status: 'completed',
        tokens: 1_000_000,
        cost: 1,
      },
      { round: 2, status: 'completed' },
    ]);
    expect(toolCalls).toMatchObject([
      {
        name: 'refund',
        success: true,
        status: 'success',
        durationMs: 20,
        waitingMs: 60_000,
        attempts: 1,
      },
    ]);
    const seqs = [modelCalls[0]?.seq, toolCalls[0]?.seq, modelCalls[1]?.seq] as number[];
    expect([...seqs].sort((a, b) => a - b)).toEqual(seqs);
  });

  test('of the beginning of a ledger shows what is open, and how long it waits so far', async () => {
    const events = await recorded();
    const asked = events.findIndex(({ type }) => type === 'tool_yield') + 1;
    expect(named(runTree(events.slice(0, asked)), 'clerk')).toMatchObject({
      status: 'open',
      toolCalls: [{ success: false, status: undefined }],
    });
    const answered = events.findIndex(({ type }) => type === 'tool_input') + 1;
    expect(named(runTree(events.slice(0, answered)), 'clerk')).toMatchObject({
      status: 'yielded',
      waitingMs: 60_000,
      selfMs: 0,
    });
    const called = events.findIndex(({ type }) => type === 'model_start') + 1;
    expect(named(runTree(events.slice(0, called)), 'clerk').modelCalls).toMatchObject([
      { status: 'open', durationMs: 0, tokens: 0 },
    ]);
    expect(runTree([])).toEqual([]);
  });

  test('the time between two processes is no work', () => {
    const at = (seq: number, time: number, event: object): Event =>
      ({
        v: 1,
        seq,
        id: `e${seq}`,
        at: time,
        by: 'runtime',
        invocationId: 'run',
        ...event,
      }) as Event;
    const start = { type: 'invocation_start', kind: 'step', name: 'slow', mode: 'root' };
    const change = { type: 'state_change', scope: 'session', source: 'mutation', changes: [] };
    const events = [
      at(1, 0, start),
      at(2, 1_000, change),
      at(3, 2_000_000, { type: 'user', text: 'Are you there?' }),
      at(4, 3_601_000, { type: 'invocation_resume' }),
      at(5, 3_602_000, { type: 'invocation_end', status: 'completed' }),
    ];
    expect(runTree(events)).toMatchObject([
      { durationMs: 3_602_000, waitingMs: 3_600_000, selfMs: 2_000 },
    ]);
  });
});

test('stretches of time that overlap are counted once', () => {
  const spans = [
    { from: 5, to: 10 },
    { from: 0, to: 6 },
    { from: 7, to: 8 },
    { from: 20, to: 20 },
    { from: 30, to: 25 },
    { from: 40, to: 50 },
  ];
  expect(lengthOf(spans)).toBe(20);
  expect(lengthOf(spans, { from: 4, to: 45 })).toBe(11);
  expect(lengthOf([])).toBe(0);
});
