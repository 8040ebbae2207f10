import {
  agent,
  agentTool,
  type BodyContext,
  type EffectContext,
  type Event,
  type JsonValue,
  loop,
  parallel,
  sequence,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import { z } from 'zod';
import { roundModel } from './round-model.ts';
import type { Execution, MakeScenario, ScenarioRun } from './scenario.ts';

const schema = z.object({ n: z.number() });

/** A tool that notes its executions; it may be run again unless it says otherwise. */
export function noting(executions: Execution[], name: string, recovery: 'rerun' | 'report' = 'rerun') {
  return tool({
    name,
    description: `Notes ${name}`,
    schema,
    recovery,
    execute: async ({ args, callId, idempotencyKey }) => {
      executions.push({ callId, key: idempotencyKey });
      await Promise.resolve();
      return { [name]: args.n };
    },
  });
}

export function withExecutions(make: (executions: Execution[]) => Omit<ScenarioRun, 'executions'>): MakeScenario {
  return () => {
    const executions: Execution[] = [];
    return { ...make(executions), executions };
  };
}

/** How often attempts of a call have failed so far, by the ledger, in whatever process; an answered question is about one. */
export function failedAttempts(events: readonly Event[], callId: string): number {
  const isFailure = (event: Event) => (event.type === 'tool_result' ? event.result.errorType !== 'interrupted' : event.type === 'tool_input');
  return events.filter((event) => 'callId' in event && event.callId === callId && isFailure(event)).length;
}

export const call = (name: string, n: number) => ({ name, args: { n } });

export function agentScenario(recovery: 'rerun' | 'report'): MakeScenario {
  return withExecutions((executions) => ({
    runnable: agent({
      name: 'solo',
      model: roundModel([{ thoughts: 'first', toolCalls: [call('note', 1)] }, { text: 'then', toolCalls: [call('note', 2)] }, { text: 'done' }]),
      tools: [noting(executions, 'note', recovery)],
      output: 'answer',
    }),
  }));
}

export const parallelTools: MakeScenario = withExecutions((executions) => ({
  runnable: agent({
    name: 'many',
    model: roundModel([{ toolCalls: [call('slow', 1), call('fast', 2), call('slow', 3)] }, { text: 'all' }]),
    tools: [
      tool({
        name: 'slow',
        description: 'Takes some turns',
        schema,
        recovery: 'rerun',
        execute: async ({ args, callId, idempotencyKey }) => {
          executions.push({ callId, key: idempotencyKey });
          for (let turn = 0; turn < 10 - args.n; turn++) await Promise.resolve();
          return args.n;
        },
      }),
      noting(executions, 'fast'),
    ],
  }),
}));

export function leaf(executions: Execution[], name: string, output: string = name) {
  return agent({
    name,
    model: roundModel([{ toolCalls: [call('note', name.length)] }, { text: `${name} is done` }]),
    tools: [noting(executions, 'note')],
    ...(output === '' ? {} : { output }),
  });
}

export const nested: MakeScenario = withExecutions((executions) => ({
  runnable: sequence({
    name: 'all',
    runnables: [
      leaf(executions, 'first'),
      parallel({
        name: 'both',
        runnables: [
          sequence({ name: 'left', runnables: [leaf(executions, 'leftA'), leaf(executions, 'leftB')] }),
          step({ name: 'right', execute: (ctx) => ctx.complete('right is done', 'right') }),
        ],
      }),
      loop({
        name: 'again',
        maxIterations: 5,
        while: ({ state }) => ((state['count'] as number | undefined) ?? 0) < 2,
        runnable: step({
          name: 'count',
          execute: (ctx) => {
            ctx.state['count'] = ((ctx.state['count'] as number | undefined) ?? 0) + 1;
          },
        }),
      }),
      leaf(executions, 'last'),
    ],
  }),
}));

/** A7: writes before, between and after calls; a body that runs again must not count twice. */
export const stepWithCalls: MakeScenario = withExecutions((executions) => {
  const child = leaf(executions, 'child');
  const writer = step({
    name: 'writer',
    execute: (ctx) => {
      ctx.state['fromChild'] = ((ctx.state['fromChild'] as number | undefined) ?? 0) + 10;
    },
  });
  return {
    runnable: step({
      name: 'body',
      execute: async (ctx) => {
        const bump = () => {
          ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
        };
        bump();
        const first = await ctx.call(child, { message: 'one' });
        bump();
        await ctx.call(writer);
        bump();
        await ctx.call(writer);
        ctx.state['seen'] = ctx.state['fromChild'];
        bump();
        return ctx.complete([first.output ?? null, ctx.now() > 0, ctx.id('a'), ctx.random('b'), ctx.state['n'] as number]);
      },
    }),
    runnables: [child, writer],
  };
});

export const spawning: MakeScenario = withExecutions((executions) => {
  const helper = leaf(executions, 'helper');
  return {
    runnable: agent({
      name: 'boss',
      model: roundModel([{ toolCalls: [call('start', 1)] }, { text: 'waiting' }]),
      tools: [
        tool({
          name: 'start',
          description: 'Starts a helper',
          recovery: 'rerun',
          schema,
          execute: (ctx) => ctx.spawn(helper, { message: 'help' }).invocationId,
        }),
      ],
    }),
    runnables: [helper],
  };
});

export const dispatching: MakeScenario = withExecutions((executions) => {
  const helper = leaf(executions, 'helper');
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        step({
          name: 'send',
          execute: async (ctx) => {
            ctx.dispatch(helper, { message: 'help' });
            await ctx.call(leaf(executions, 'near'));
          },
        }),
        leaf(executions, 'after'),
      ],
    }),
    runnables: [helper],
  };
});

export const transferring: MakeScenario = withExecutions((executions) => {
  const expert = leaf(executions, 'expert');
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        agent({
          name: 'desk',
          model: roundModel([{ toolCalls: [call('pass', 1)] }, { text: 'never' }]),
          tools: [tool({ name: 'pass', description: 'Passes on', schema, recovery: 'rerun', execute: () => expert })],
        }),
        step({ name: 'route', execute: (ctx) => ctx.transfer(leaf(executions, 'target'), 'please') }),
        leaf(executions, 'after'),
      ],
    }),
    runnables: [expert, leaf(executions, 'target')],
  };
});

/** A9: a tool that calls an agent is continued by running it again. */
export const agentAsTool: MakeScenario = withExecutions((executions) => {
  const specialist = leaf(executions, 'specialist', '');
  const expert = leaf(executions, 'expert', '');
  return {
    runnable: agent({
      name: 'boss',
      model: roundModel([{ toolCalls: [call('ask', 1), call('ask', 2), { name: 'expert', args: { message: 'question 3' } }] }, { text: 'so it is' }]),
      tools: [
        agentTool(expert),
        tool({
          name: 'ask',
          description: 'Asks the specialist',
          recovery: 'rerun',
          schema,
          execute: async (ctx) => {
            ctx.state[`asked${ctx.args.n}`] = ((ctx.state[`asked${ctx.args.n}`] as number | undefined) ?? 0) + 1;
            const { output } = await ctx.call(specialist, { message: `question ${ctx.args.n}` });
            ctx.state[`answered${ctx.args.n}`] = ((ctx.state[`answered${ctx.args.n}`] as number | undefined) ?? 0) + 1;
            return output;
          },
        }),
      ],
    }),
    runnables: [specialist, expert],
  };
});

export const detaching: MakeScenario = withExecutions((executions) => {
  const helper = leaf(executions, 'helper');
  return {
    runnable: step({
      name: 'send',
      execute: async (ctx) => {
        const handle = ctx.spawn(helper, { message: 'help' });
        handle.detach();
        return ctx.complete('sent');
      },
    }),
    runnables: [helper],
  };
});

/** A8: twenty calls whose order of arrival changes with every execution. */
export const shuffledCalls: MakeScenario = withExecutions(() => {
  const worker = step({ name: 'worker', execute: (ctx) => ctx.complete(`did ${ctx.input?.message}`) });
  return {
    runnable: step({
      name: 'fan',
      execute: async (ctx) => {
        const items = Array.from({ length: 20 }, (_, i) => i);
        const outputs = await Promise.all(
          items.map(async (item) => {
            // Real disorder: every process has its own.
            for (let turns = Math.floor(Math.random() * 30); turns > 0; turns--) await Promise.resolve();
            ctx.state[`item${item}`] = ((ctx.state[`item${item}`] as number | undefined) ?? 0) + 1;
            const { output } = await ctx.call(worker, { message: `item ${item}` });
            return output ?? null;
          }),
        );
        return ctx.complete(outputs);
      },
    }),
    runnables: [worker],
  };
});

/** C5: a branch fails while the one beside it is in a tool that waits to be told to stop. */
export const failFast: MakeScenario = withExecutions((executions) => ({
  runnable: parallel({
    name: 'both',
    runnables: [
      agent({
        name: 'patient',
        model: roundModel([{ toolCalls: [call('wait', 1)] }, { text: 'never' }]),
        tools: [
          tool({
            name: 'wait',
            description: 'Waits',
            schema,
            recovery: 'rerun',
            execute: (ctx) => {
              executions.push({ callId: ctx.callId, key: ctx.idempotencyKey });
              return new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
            },
          }),
        ],
      }),
      sequence({
        name: 'line',
        runnables: [
          leaf(executions, 'first'),
          step({ name: 'bad', execute: (ctx) => ctx.fail('it is bad') }),
          step({ name: 'never', execute: (ctx) => ctx.complete('never', 'never') }),
        ],
      }),
    ],
  }),
}));

/** Effects of a body: one after the other, beside each other in real disorder, one that is tried again, and writes before and between. */
async function withEffects(ctx: BodyContext, root: string, executions: Execution[]): Promise<JsonValue> {
  const done = ({ idempotencyKey, attempt }: EffectContext, key: string) => {
    executions.push({ callId: `${root}/${key}`, key: idempotencyKey });
    return attempt;
  };
  const bump = () => {
    ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
  };
  bump();
  const first = await ctx.effect('first', (effect) => Promise.resolve(done(effect, 'first') > 0), { recovery: 'rerun' });
  bump();
  const retry = { initialDelayMs: 1 };
  const second = await ctx.effect(
    'second',
    (effect) => {
      if (done(effect, 'second') === 1) throw new ToolFailure('not yet', { retryAfterMs: 1 });
      return 'second';
    },
    { recovery: 'rerun', retry },
  );
  const others = await Promise.all(
    [1, 2, 3].map(async (n) => {
      for (let turns = Math.floor(Math.random() * 5); turns > 0; turns--) await Promise.resolve();
      return ctx.effect(`other-${n}`, (effect) => n * 10 + Math.min(1, done(effect, `other-${n}`)), { recovery: 'rerun' });
    }),
  );
  bump();
  return [first, second, ...others, (ctx.state['n'] as number) > 0];
}

export const effectsInSteps: MakeScenario = withExecutions((executions) => ({
  runnable: sequence({
    name: 'all',
    runnables: [
      step({ name: 'body', execute: async (ctx) => ctx.complete(await withEffects(ctx, ctx.invocationId, executions), 'body') }),
      leaf(executions, 'after'),
    ],
  }),
}));

export const effectsInTool: MakeScenario = withExecutions((executions) => ({
  runnable: agent({
    name: 'worker',
    model: roundModel([{ toolCalls: [call('work', 1)] }, { toolCalls: [call('note', 2)] }, { text: 'done' }]),
    tools: [
      tool({ name: 'work', description: 'Works', schema, recovery: 'rerun', execute: (ctx) => withEffects(ctx, ctx.callId, executions) }),
      noting(executions, 'note'),
    ],
  }),
}));
