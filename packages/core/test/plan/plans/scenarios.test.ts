import { type JsonValue, memoryStore, runtime, step, ToolFailure, tool } from 'adjutant';
import { type PlanRequest, plan, type Subtask } from 'adjutant/plan';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { dataOf } from './data-of.ts';

const say = step({
  name: 'say',
  execute: (ctx) => ctx.complete(dataOf<{ text: JsonValue }>(ctx).text ?? null),
});
const breaks = step({ name: 'breaks', execute: (ctx) => ctx.fail('It is broken.') });

const saying = (id: string, text: JsonValue, more: Partial<Subtask> = {}): Subtask => ({
  id,
  description: `Say ${id}`,
  worker: 'say',
  args: { text },
  ...more,
});
const breaking = (id: string): Subtask => ({
  id,
  description: `Break ${id}`,
  worker: 'breaks',
  critical: true,
});

function starts(events: readonly { readonly type: string; readonly invocationId?: string }[]) {
  return events.flatMap(({ type, invocationId }) =>
    type === 'invocation_start' ? (invocationId?.split('/').slice(1).join('/') ?? '') : [],
  );
}

test('replan_reuses_id_for_other_content', async () => {
  const again = plan({
    name: 'again',
    planner: ({ task }: PlanRequest) =>
      task === 'plan'
        ? [saying('t3', 'old'), { ...breaking('bad'), dependsOn: ['t3'] }]
        : [saying('t3', 'new'), saying('t4', { $from: 't3.output' })],
    workers: [say, breaks],
  });
  const { output, session } = await runtime({ app: 'plans' }).run(again, 'Go');
  expect(output).toEqual({ t3: 'new', t4: 'new' });
  expect(starts(session.events)).toContain('t3~2');
});

test('subtask_ends_while_planner_thinks', async () => {
  const planning = Promise.withResolvers<void>();
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      await planning.promise;
      return ctx.complete('slow');
    },
  });
  const ended = Promise.withResolvers<void>();
  const thinking = plan({
    name: 'thinking',
    planner: async ({ task, subtasks }: PlanRequest) => {
      if (task === 'plan')
        return [{ id: 'slow', description: 'Be slow', worker: 'slow' }, breaking('bad')];
      expect(subtasks?.map(({ id, status }) => [id, status])).toEqual([
        ['slow', 'executing'],
        ['bad', 'failed'],
      ]);
      planning.resolve();
      await ended.promise;
      // The planner does not know that it has ended, and leaves it out.
      return [saying('other', 'instead')];
    },
    workers: [say, slow, breaks],
  });
  const { output, session } = await runtime({
    app: 'plans',
    middleware: [
      {
        name: 'watch',
        onStream: (event) => {
          if (event.type === 'invocation_end' && event.invocationId.endsWith('/slow'))
            ended.resolve();
        },
      },
    ],
  }).run(thinking, 'Go');
  expect(output).toEqual({ slow: 'slow', other: 'instead' });
  expect(starts(session.events).filter((path) => path === 'slow')).toHaveLength(1);
});

test('two_failures_one_replan', async () => {
  let asked = 0;
  const twice = plan({
    name: 'twice',
    planner: ({ task }: PlanRequest) => {
      asked++;
      return task === 'plan' ? [breaking('a'), breaking('b')] : [saying('c', 'done')];
    },
    workers: [say, breaks],
  });
  const { output, session } = await runtime({ app: 'plans' }).run(twice, 'Go');
  expect(output).toEqual({ c: 'done' });
  expect(asked).toBe(2);
  const decided = session.events.flatMap((event) =>
    event.type === 'decision' && event.component === 'plan' ? event.decision : [],
  );
  expect(decided).toEqual(['replan', 'wait']);
});

test('from_in_tool_result_is_data', async () => {
  const smuggled = { $from: 'secret.output' };
  const quoting = plan({
    name: 'quoting',
    planner: () => [
      saying('secret', 'hidden'),
      { id: 'page', description: 'Read a page', tool: 'read', args: {} },
      saying('quote', { $from: 'page.output.text' }),
    ],
    workers: [say],
    tools: [
      tool({
        name: 'read',
        description: 'Reads a page.',
        schema: z.object({}),
        execute: () => ({ text: smuggled }),
      }),
    ],
  });
  const { output } = await runtime({ app: 'plans' }).run(quoting, 'Go');
  expect(output).toMatchObject({ quote: smuggled });
});

test('edge_code_edited_after_decision: a recorded revision stays what it was', async () => {
  const asking = (limit: number) =>
    plan({
      name: 'asking',
      planner: () => [
        { id: 'ask', description: 'Ask', worker: 'ask' },
        saying('later', { $from: 'ask.output' }),
      ],
      workers: [
        step({
          name: 'ask',
          execute: async (ctx) => ctx.complete(await ctx.ask('name', 'What is your name?')),
        }),
        say,
      ],
      limits: { subtasks: limit },
    });
  const store = memoryStore();
  const appWith = (limit: number) =>
    runtime({ app: 'plans', store, recover: 'manual', runnables: [asking(limit)] });
  const before = appWith(20);
  const { session, pendingCalls } = await before.run(asking(20), 'Go');
  await before.requests.answer(pendingCalls[0]?.requestId ?? '', {
    decision: 'answer',
    input: 'Ann',
    by: 'user:ann',
  });
  // The validator of today would refuse the plan.
  const { output, error } = await appWith(1).resume(session.id);
  expect(error).toBeUndefined();
  expect(output).toEqual({ ask: 'Ann', later: 'Ann' });
});

test('approvals_do_not_fill_parallel_limit', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    schema: z.object({ n: z.number() }),
    approval: {},
    execute: ({ args }) => args.n,
  });
  const paying = plan({
    name: 'paying',
    planner: () => [
      ...[1, 2, 3, 4].map((n) => ({
        id: `pay${n}`,
        description: `Pay ${n}`,
        tool: 'pay',
        args: { n },
      })),
      saying('free', 'done'),
      saying('after', 'too', { dependsOn: ['free'] }),
    ],
    workers: [say],
    tools: [pay],
    limits: { parallel: 2 },
  });
  const app = runtime({ app: 'plans' });
  const first = await app.run(paying, 'Go');
  expect(first.pendingCalls).toHaveLength(4);
  const ended = first.session.events.flatMap((event) =>
    event.type === 'invocation_end' ? event.invocationId.split('/')[1] : [],
  );
  expect(ended).toEqual(['plan#1', 'free', 'after']);
  for (const { requestId } of first.pendingCalls)
    await app.requests.answer(requestId, { decision: 'approve', by: 'user:ann' });
  const { output } = await app.resume(first.session);
  expect(output).toMatchObject({ pay1: 1, pay4: 4, after: 'too' });
});

test('answer_to_superseded_plan_review', async () => {
  const guard = tool({
    name: 'guard',
    description: 'Asks somebody.',
    schema: z.object({}),
    approval: {},
    execute: () => 'passed',
  });
  let asked = 0;
  const watched = plan({
    name: 'watched',
    planner: () => {
      asked++;
      if (asked === 1)
        return [
          { id: 'guarded', description: 'Ask', tool: 'guard', args: {}, critical: true },
          breaking('bad'),
        ];
      if (asked === 2)
        return [
          { id: 'guarded', description: 'Ask', tool: 'guard', args: {}, critical: true },
          saying('second', 2),
        ];
      return [saying('third', 3)];
    },
    workers: [say, breaks],
    tools: [guard],
    review: 'each',
  });
  const app = runtime({ app: 'plans' });
  const { session } = await app.run(watched, 'Go');
  const pending = async (name: RegExp) => {
    const found = (await app.requests.list()).find((one) => name.test(one.name));
    if (found === undefined) throw new Error(`There is no request ${name}.`);
    return found.requestId;
  };
  const by = 'user:ann';
  await app.requests.answer(await pending(/review#1/), { decision: 'approve', by });
  await app.resume(session);
  const second = await pending(/review#2/);
  await app.requests.answer(await pending(/guard/), { decision: 'reject', by });
  await app.resume(session);
  await expect(app.requests.answer(second, { decision: 'approve', by })).rejects.toMatchObject({
    code: 'request_settled',
  });
  await app.requests.answer(await pending(/review#3/), { decision: 'approve', by });
  const { output } = await app.resume(session);
  expect(output).toEqual({ third: 3 });
});

test('a plan that fails for good says what was tried and what to do', async () => {
  const hopeless = plan({
    name: 'hopeless',
    planner: () => [saying('fine', 1), breaking('bad')],
    workers: [say, breaks],
    limits: { replans: 2 },
  });
  const { status, error, session } = await runtime({ app: 'plans' }).run(hopeless, 'Go');
  expect(status).toBe('error');
  expect(error).toMatchObject({
    code: 'plan_failed',
    data: { subtask: 'bad', revisions: 3, completed: ['fine'] },
  });
  expect(error?.message).toContain('Ask for a simpler goal');
  const decided = session.events.flatMap((event) =>
    event.type === 'decision' && event.component === 'plan' ? event.decision : [],
  );
  expect(decided).toEqual(['replan', 'decompose', 'give_up']);
});

test('a subtask fails before it starts when its reference does not resolve', async () => {
  const wrong = plan({
    name: 'wrong',
    planner: ({ task }: PlanRequest) => [
      saying('a', { total: 3 }),
      saying('b', { $from: task === 'plan' ? 'a.output.sum' : 'a.output.total' }),
    ],
    workers: [say],
  });
  const { output, session } = await runtime({ app: 'plans' }).run(wrong, 'Go');
  expect(output).toEqual({ a: { total: 3 }, b: 3 });
  expect(session.events.filter(({ type }) => type === 'plan_update')).toMatchObject([
    { subtask: 'b', key: 'b', error: { code: 'unresolved_reference' } },
  ]);
});

test('a failure is tried again, and three of the same lead to a new plan', async () => {
  const failing = (times: number) =>
    tool({
      name: 'flaky',
      description: 'Fails at first.',
      schema: z.object({}),
      execute: ({ callId }) => {
        const attempt = Number(/#(\d)/.exec(callId)?.[1] ?? 1);
        if (attempt <= times) throw new ToolFailure(`Failure ${attempt}`);
        return attempt;
      },
    });
  const decisionsOf = async (times: number) => {
    const flaky = plan({
      name: 'flaky.plan',
      planner: ({ task }: PlanRequest) =>
        task === 'plan'
          ? [{ id: 'f', description: 'Fail', tool: 'flaky', args: {} }]
          : [saying('g', 'instead')],
      workers: [say],
      tools: [failing(times)],
    });
    const { session } = await runtime({ app: 'plans' }).run(flaky, 'Go');
    return session.events.flatMap((event) =>
      event.type === 'decision' && event.component === 'plan' ? event.decision : [],
    );
  };
  expect(await decisionsOf(2)).toEqual(['retry', 'retry']);
  expect(await decisionsOf(3)).toEqual(['retry', 'retry', 'replan']);
});

test('a plan that cannot go on stops its subtasks before it ends', async () => {
  const slow = step({
    name: 'slow',
    execute: (ctx) =>
      new Promise((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve(ctx.skip()));
      }),
  });
  const odd = tool({
    name: 'odd',
    description: 'Has a schema that breaks.',
    schema: z.object({}).refine(() => {
      throw new Error('The schema broke.');
    }),
    execute: () => 'never',
  });
  const stopped = plan({
    name: 'stopped',
    planner: ({ task }: PlanRequest) =>
      task === 'plan'
        ? [{ id: 'slow', description: 'Be slow', worker: 'slow' }, breaking('bad')]
        : [
            { id: 'slow', description: 'Be slow', worker: 'slow' },
            { id: 'odd', description: 'Break', tool: 'odd', args: {} },
          ],
    workers: [slow, breaks],
    tools: [odd],
  });
  const { status, session } = await runtime({ app: 'plans' }).run(stopped, 'Go');
  expect(status).toBe('error');
  const ends = session.events.flatMap((event) =>
    event.type === 'invocation_end' ? [[event.invocationId.split('/')[1], event.status]] : [],
  );
  expect(ends.slice(-2)).toEqual([
    ['slow', 'cancelled'],
    [undefined, 'error'],
  ]);
});
