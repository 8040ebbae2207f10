import { agent, runtime, ToolFailure, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';

const dig = tool({
  name: 'dig',
  description: 'Digs.',
  schema: z.object({}),
  recovery: 'rerun',
  execute: () => {
    throw new ToolFailure('There is rock.');
  },
});
const digs = { toolCalls: [{ name: 'dig', args: {} }] };

function digger(ladder?: readonly ('retry' | 'replan' | 'decompose' | 'report')[]) {
  return agent({
    name: 'digger',
    model: roundModel([digs, digs, digs, { text: 'It cannot be done.' }]),
    tools: [dig],
    ...(ladder === undefined
      ? {}
      : { supervision: { errors: { chains: { default: ladder }, initialDelayMs: 1 } } }),
  });
}

test('an agent climbs the ladder of failures when its options say so', async () => {
  const { output, session } = await runtime({ app: 'ladder' }).run(
    digger(['retry', 'replan', 'decompose', 'report']),
    'Dig a hole',
  );
  expect(output).toBe('It cannot be done.');
  const told = explain(session, { components: ['error_router'] });
  expect(told.map(({ decision }) => decision)).toEqual(['retry', 'replan', 'decompose', 'report']);
  expect(told[1]).toMatchObject({
    what: expect.stringContaining('digger was asked to plan the rest anew.'),
    why: expect.stringContaining('the model is to plan the rest anew'),
  });
  const notes = session.events.flatMap((event) =>
    event.type === 'tool_result' ? (event.notes ?? []) : [],
  );
  expect(notes[0]).toContain('plan the rest anew');
  expect(notes[1]).toContain('smaller steps');
  expect(notes[2]).toContain('This way is closed');
});

test('no agent climbs it without', async () => {
  const { session } = await runtime({ app: 'ladder' }).run(digger(), 'Dig a hole');
  const told = explain(session, { components: ['error_router'] });
  expect(told.map(({ decision }) => decision)).not.toContain('replan');
});
