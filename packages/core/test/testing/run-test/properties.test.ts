import { agent, pending, sequence, tool } from 'adjutant';
import {
  approve,
  crash,
  edit,
  input,
  model,
  reject,
  result,
  runTest,
  type TestRun,
  type TestStep,
  user,
} from 'adjutant/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { real } from './real-tools.ts';

const schema = z.object({ n: z.number() });
const tools = [
  tool({ name: 'plain', description: 'Works', schema, execute: ({ args }) => `plain ${args.n}` }),
  tool({
    name: 'again',
    description: 'May run again',
    schema,
    recovery: 'rerun',
    execute: ({ args }) => ({ again: args.n }),
  }),
  tool({
    name: 'asked',
    description: 'Asks for leave',
    schema,
    approval: { allowEdit: true },
    recovery: 'rerun',
    execute: ({ args }) => `asked ${args.n}`,
  }),
  tool({
    name: 'given',
    description: 'Waits for input',
    schema,
    yieldSchema: z.object({ said: z.string() }),
    execute: ({ input: got }) => got?.said,
  }),
  tool({
    name: 'mocked',
    description: 'Is mocked',
    schema,
    recovery: 'rerun',
    execute: () => 'must not run',
  }),
  tool({
    name: 'outside',
    description: 'Goes on elsewhere',
    schema,
    execute: ({ args }) => pending({ operationId: `o-${args.n}` }),
  }),
];

type ToolName = 'plain' | 'again' | 'asked' | 'given' | 'mocked' | 'outside';
type Made = { readonly name: ToolName; readonly decision: 'approve' | 'reject' | 'edit' };

/** A tool that was running at three crashes is not run again, which is another outcome. */
const mostCrashes = 2;

/** Numbers are given once in a script, so that no call is like another. */
function stepsOf(turns: readonly (readonly (readonly Made[])[])[]): TestStep[] {
  let n = 0;
  return turns.flatMap((rounds, turn) => [
    user(`turn ${turn}`),
    ...rounds.flatMap((round) => {
      const calls = round.map((made) => ({ ...made, args: { n: ++n } }));
      return [
        model({ toolCalls: calls.map(({ name, args }) => ({ name, args })) }),
        ...calls.flatMap(answersTo),
      ];
    }),
    model(`end of turn ${turn}`),
    model(`second of turn ${turn}`),
  ]);
}

function answersTo({
  name,
  decision,
  args,
}: Made & { readonly args: { readonly n: number } }): TestStep[] {
  switch (name) {
    case 'asked':
      if (decision === 'edit') return [edit({ asked: { n: args.n + 1_000 } }, { args })];
      return [
        decision === 'approve'
          ? approve({ tool: 'asked', args })
          : reject({ tool: 'asked', args, reason: 'no' }),
      ];
    case 'given':
      return [input({ given: { said: `said ${args.n}` } })];
    case 'mocked':
      return [result({ mocked: ({ n }: { n: number }) => `mocked ${n}` })];
    case 'outside':
      return [input({ outside: { arrived: args.n } })];
    default:
      return [];
  }
}

const made = fc.record<Made>({
  name: fc.constantFrom('plain', 'again', 'asked', 'given', 'mocked', 'outside'),
  decision: fc.constantFrom('approve', 'reject', 'edit'),
});
const script = fc
  .array(fc.array(fc.array(made, { minLength: 1, maxLength: 3 }), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 2,
  })
  .map(stepsOf);

const office = sequence({
  name: 'office',
  runnables: [
    agent({ name: 'first', model: real, tools }),
    agent({ name: 'second', model: real, tools }),
  ],
});

function outcomeOf({ results, events }: TestRun): unknown {
  return {
    results: results.map(({ status, output }) => [status, output]),
    calls: events.flatMap((event) =>
      event.type === 'tool_call' ? [[event.callId, event.name]] : [],
    ),
    settled: new Map(
      events.flatMap((event) =>
        event.type === 'tool_result' && event.settled
          ? [[event.callId, event.result] as const]
          : [],
      ),
    ),
    answers: events.flatMap((event) => (event.type === 'tool_input' ? [event.decision] : [])),
  };
}

test('a script ends the same way, wherever the process dies between its steps', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      script,
      fc.array(fc.nat(40), { maxLength: mostCrashes }),
      async (steps, places) => {
        const whole = await runTest(office, steps);
        const at = new Set(places.map((place) => place % steps.length));
        const crashed = await runTest(
          office,
          steps.flatMap((one, index) => (at.has(index) ? [one, crash()] : [one])),
        );
        expect(outcomeOf(crashed)).toEqual(outcomeOf(whole));
      },
    ),
    { numRuns: 60 },
  );
});

test('a script of which a step is missing never passes and never hangs', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(script, fc.nat(), async (steps, place) => {
      const index = place % steps.length;
      const left = steps.filter((_, at) => at !== index);
      const outcome = await runTest(office, left, { patienceMs: 200 }).then(
        ({ status }) => status,
        (error: Error & { code?: string }) => error.code,
      );
      expect(['test_step_failed', 'yielded', 'completed']).toContain(outcome);
      // Without a message, a call or a mock a script is another one, which may fit.
      const isNeeded =
        index === steps.length - 1 || ['answer', 'input'].includes(steps[index]?.kind ?? '');
      if (isNeeded) expect(outcome).not.toBe('completed');
    }),
    { numRuns: 60 },
  );
});
