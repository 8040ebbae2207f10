import { type Event, type JsonValue, step, ToolFailure, tool } from 'adjutant';
import { type PlanRequest, plan, type Subtask } from 'adjutant/plan';
import type { MakeScenario } from 'adjutant/testing';
import { schema } from '../engine/app/recovery/scenarios.ts';
import { dataOf } from '../plan/plans/data-of.ts';

function asJson(value: object): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

/** Waits for some turns of the event loop, so that subtasks end in an order of their own. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

const work = step({
  name: 'work',
  execute: async (ctx) => {
    const { n, below = 0 } = dataOf<{ n: number; below?: number }>(ctx);
    await turns(n % 3);
    return ctx.complete({ n, sum: n + below });
  },
});

/** Fails until a new plan gives it another number. */
const closed = step({
  name: 'closed',
  execute: async (ctx) => {
    await turns(2);
    const { n } = dataOf<{ n: number }>(ctx);
    return n < 50 ? ctx.fail(`The museum ${n} is closed.`) : ctx.complete({ n, sum: n });
  },
});

const pay = tool({
  name: 'pay',
  description: 'Pays a sum',
  schema,
  recovery: 'rerun',
  approval: { expiresInMs: 86_400_000 },
  execute: ({ args }) => {
    if (args.n < 0) throw new ToolFailure('The sum is below zero.');
    return { paid: args.n };
  },
});

const doing = (id: string, n: number, dependsOn: readonly string[] = []): Subtask => ({
  id,
  description: `Does ${id}`,
  worker: 'work',
  dependsOn,
  args: { n },
});

function subtasks({ subtasks: before }: PlanRequest): readonly Subtask[] {
  const museum = before === undefined ? 7 : 57;
  return [
    doing('a', 1),
    doing('b', 2),
    doing('c', 3),
    doing('d', 4, ['a']),
    doing('e', 5, ['a', 'b']),
    {
      id: 'museum',
      description: 'Visits a museum',
      worker: 'closed',
      critical: true,
      dependsOn: ['b'],
      args: { n: museum },
    },
    {
      id: 'f',
      description: 'Adds to e',
      worker: 'work',
      args: { n: 6, below: { $from: 'e.output.sum' } },
    },
    { id: 'pay', description: 'Pays', tool: 'pay', args: { n: { $from: 'd.output.sum' } } },
    doing('g', 8, ['f', 'museum']),
    doing('h', 9, ['c']),
    doing('i', 10, ['h', 'pay']),
    {
      id: 'last',
      description: 'Adds it all up',
      worker: 'work',
      args: { n: { $from: 'g.output.n' }, below: { $from: 'i.output.sum' } },
    },
  ];
}

const trip = plan({
  name: 'trip',
  planner: subtasks,
  workers: [work, closed],
  tools: [pay],
  limits: { parallel: 3 },
});

/** Twelve subtasks side by side, one of which fails, and one that people approve. */
export const replanned: MakeScenario = () => ({
  runnable: trip,
  answers: { pay: { decision: 'approve', by: 'user:ann' } },
  // The subtasks of a plan end in any order.
  compares: 'outcome',
});

/** A plan that people change before it is carried out. */
export const reviewed: MakeScenario = () => ({
  runnable: plan({
    name: 'reviewed',
    planner: () => [doing('a', 1), doing('b', 2, ['a'])],
    workers: [work],
    review: { when: 'first', expiresInMs: false },
  }),
  answers: () => ({
    decision: 'edit',
    by: 'user:ann',
    input: asJson({ subtasks: [doing('a', 1), doing('c', 3, ['a']), doing('d', 4)] }),
  }),
  compares: 'outcome',
});

/** Ids of the subtasks that were started more than once after they had completed. */
export function doneTwice(events: readonly Event[]): readonly string[] {
  const done = new Set<string>();
  return events.flatMap((event) => {
    if (event.type === 'invocation_end' && event.status === 'completed')
      done.add(event.invocationId);
    return event.type === 'invocation_start' && done.has(event.invocationId)
      ? event.invocationId
      : [];
  });
}
