import { agent, agentTool, loop, parallel, run, sequence, step, tool, toolResult } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { confidenceOf } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** A tool whose results have these confidences, one call after the other. */
function searching(...confidences: readonly number[]) {
  let calls = 0;
  return tool({
    name: 'search',
    description: 'Searches',
    schema: z.object({}),
    execute: () => {
      const confidence = confidences[calls++];
      return toolResult.success(`Result ${calls}`, confidence === undefined ? {} : { confidence });
    },
  });
}

/** An agent that searches once for each confidence and then answers. */
function researcher(confidences: readonly number[], answer = 'Found.', name = 'researcher') {
  return agent({
    name,
    model: scriptedModel([
      ...confidences.map(() => ({ toolCalls: [{ name: 'search' }] })),
      { text: answer },
    ]),
    tools: [searching(...confidences)],
  });
}

describe('confidence in an output', () => {
  test.each([
    ['the only result', [0.4], 0.4],
    ['the best of several', [0.2, 0.6, 0.4], 0.6],
    ['none where one result is certain', [0.2, 1], undefined],
    ['none without results', [], undefined],
  ])('of an agent is that of %s', async (_name, confidences, expected) => {
    const { confidence, session, runId } = await run(researcher(confidences), 'Search');
    expect(confidence).toBe(expected);
    expect(confidenceOf(session.events, runId)).toBe(expected);
  });

  test.each([
    ['lowers it', 0.3, [0.6], 0.3],
    ['does not raise it', 0.9, [0.6], 0.6],
    ['counts without results', 0.7, [], 0.7],
    ['does not count above 1', 12, [0.6], 0.6],
    ['does not count below 0', -1, [], undefined],
  ])('that the output claims itself %s', async (_name, claimed, confidences, expected) => {
    const model = scriptedModel([
      ...confidences.map(() => ({ toolCalls: [{ name: 'search' }] })),
      { text: JSON.stringify({ answer: 'Found.', confidence: claimed }) },
    ]);
    const output = z.object({ answer: z.string(), confidence: z.number() });
    const sure = agent({ name: 'sure', model, output, tools: [searching(...confidences)] });
    expect((await run(sure, 'Search')).confidence).toBe(expected);
  });

  test('of parts is that of the least sure, and of a loop that of its last iteration', async () => {
    const [first, second] = [researcher([0.4], 'A', 'first'), researcher([0.6], 'B', 'second')];
    expect(
      (await run(sequence({ name: 'chain', runnables: [first, second] }), 'Go')).confidence,
    ).toBe(0.4);
    const both = [researcher([0.6], 'A', 'first'), researcher([], 'B', 'second')] as const;
    expect((await run(parallel({ name: 'both', runnables: both }), 'Go')).confidence).toBe(0.6);
    let round = 0;
    const claims = step({
      name: 'claims',
      execute: (ctx) => ctx.complete({ confidence: [0.2, 0.8][round++] ?? 1 }),
    });
    const twice = loop({ name: 'twice', runnable: claims, while: () => round < 2 });
    expect((await run(twice, 'Go')).confidence).toBe(0.8);
  });

  test('of a called agent reaches its caller through every level', async () => {
    const middle = agent({
      name: 'middle',
      model: scriptedModel([
        { toolCalls: [{ name: 'researcher', args: { message: 'Search' } }] },
        { text: 'Found.' },
      ]),
      tools: [agentTool(researcher([0.4]))],
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'middle', args: { message: 'Search' } }] },
      { text: 'Done.' },
    ]);
    const result = await run(agent({ name: 'top', model, tools: [agentTool(middle)] }), 'Go');
    expect(result.toolCalls.find(({ name }) => name === 'middle')?.confidence).toBe(0.4);
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('[Low confidence: check this');
    expect(result.confidence).toBe(0.4);
  });

  test('that the caller sets itself is kept', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'researcher', args: { message: 'Search' } }] },
      { text: 'Done.' },
    ]);
    const asked = agentTool(researcher([0.4]), {
      result: (output) => toolResult.success(output, { confidence: 0.9 }),
    });
    const { toolCalls } = await run(agent({ name: 'top', model, tools: [asked] }), 'Go');
    expect(toolCalls.find(({ name }) => name === 'researcher')?.confidence).toBe(0.9);
  });

  test('is read from the result of a call', async () => {
    const caller = step({
      name: 'caller',
      execute: async (ctx) => {
        const doubted = await ctx.call(researcher([0.4]), { message: 'Search' });
        const certain = await ctx.call(researcher([], 'Sure.', 'certain'), { message: 'Search' });
        return ctx.complete([doubted.confidence ?? 'sure', 'confidence' in certain]);
      },
    });
    expect((await run(caller, 'Go')).output).toEqual([0.4, false]);
  });
});
