import {
  agent,
  agentTool,
  type Event,
  loop,
  parallel,
  sequence,
  step,
  tool,
  toolResult,
} from 'adjutant';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import { z } from 'zod';

export const schema = z.object({ n: z.number() });

/** A tool that may be run again, unless it says otherwise. */
export function noting(name: string, recovery: 'rerun' | 'report' = 'rerun') {
  return tool({
    name,
    description: `Notes ${name}`,
    schema,
    recovery,
    execute: async ({ args }) => {
      await Promise.resolve();
      return { [name]: args.n };
    },
  });
}

/**
 * Number of failed attempts of a call so far, by the ledger, in whatever process; an answered
 * question is about one.
 */
export function failedAttempts(events: readonly Event[], callId: string): number {
  const isFailure = (event: Event) =>
    event.type === 'tool_result'
      ? event.result.errorType !== 'interrupted'
      : event.type === 'tool_input';
  return events.filter((event) => 'callId' in event && event.callId === callId && isFailure(event))
    .length;
}

export const call = (name: string, n: number) => ({ name, args: { n } });

export function agentScenario(recovery: 'rerun' | 'report'): MakeScenario {
  return () => ({
    runnable: agent({
      name: 'solo',
      model: roundModel([
        { thoughts: 'first', toolCalls: [call('note', 1)] },
        { text: 'then', toolCalls: [call('note', 2)] },
        { text: 'done' },
      ]),
      tools: [noting('note', recovery)],
      output: 'answer',
    }),
  });
}

export const parallelTools: MakeScenario = () => ({
  runnable: agent({
    name: 'many',
    model: roundModel([
      { toolCalls: [call('slow', 1), call('fast', 2), call('slow', 3)] },
      { text: 'all' },
    ]),
    tools: [
      tool({
        name: 'slow',
        description: 'Takes some turns',
        schema,
        recovery: 'rerun',
        execute: async ({ args }) => {
          for (let turn = 0; turn < 10 - args.n; turn++) await Promise.resolve();
          return args.n;
        },
      }),
      noting('fast'),
    ],
  }),
});

export function leaf(name: string, output: string = name) {
  return agent({
    name,
    model: roundModel([{ toolCalls: [call('note', name.length)] }, { text: `${name} is done` }]),
    tools: [noting('note')],
    ...(output === '' ? {} : { output }),
  });
}

export const nested: MakeScenario = () => ({
  runnable: sequence({
    name: 'all',
    runnables: [
      leaf('first'),
      parallel({
        name: 'both',
        runnables: [
          sequence({ name: 'left', runnables: [leaf('leftA'), leaf('leftB')] }),
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
      leaf('last'),
    ],
  }),
});

/** A7: writes before, between and after calls; a body that runs again must not count twice. */
export const stepWithCalls: MakeScenario = () => {
  const child = leaf('child');
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
        return ctx.complete([
          first.output ?? null,
          ctx.now() > 0,
          ctx.id('a'),
          ctx.random('b'),
          ctx.state['n'] as number,
        ]);
      },
    }),
    app: { runnables: [child, writer] },
  };
};

export const spawning: MakeScenario = () => {
  const helper = leaf('helper');
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
    app: { runnables: [helper] },
  };
};

export const dispatching: MakeScenario = () => {
  const helper = leaf('helper');
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        step({
          name: 'send',
          execute: async (ctx) => {
            ctx.dispatch(helper, { message: 'help' });
            await ctx.call(leaf('near'));
          },
        }),
        leaf('after'),
      ],
    }),
    app: { runnables: [helper] },
  };
};

export const transferring: MakeScenario = () => {
  const expert = leaf('expert');
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        agent({
          name: 'desk',
          model: roundModel([{ toolCalls: [call('pass', 1)] }, { text: 'never' }]),
          tools: [
            tool({
              name: 'pass',
              description: 'Passes on',
              schema,
              recovery: 'rerun',
              execute: () => expert,
            }),
          ],
        }),
        step({ name: 'route', execute: (ctx) => ctx.transfer(leaf('target'), 'please') }),
        leaf('after'),
      ],
    }),
    app: { runnables: [expert, leaf('target')] },
  };
};

/** A9: a tool that calls an agent is continued by running it again. */
export const agentAsTool: MakeScenario = () => {
  const specialist = leaf('specialist', '');
  const expert = leaf('expert', '');
  const consultant = leaf('consultant', '');
  const clinic = step({ name: 'clinic', execute: (ctx) => ctx.fail('closed') });
  return {
    runnable: agent({
      name: 'boss',
      model: roundModel([
        {
          toolCalls: [
            call('ask', 1),
            call('ask', 2),
            { name: 'expert', args: { message: 'question 3' } },
            { name: 'consult', args: { n: 4 } },
            { name: 'visit', args: { n: 5 } },
          ],
        },
        { text: 'so it is' },
      ]),
      tools: [
        agentTool(expert),
        agentTool(consultant, {
          name: 'consult',
          schema,
          input: ({ n }) => ({ message: `question ${n}`, data: { n } }),
          result: (output) => `mapped: ${output}`,
        }),
        agentTool(clinic, {
          name: 'visit',
          schema,
          failure: ({ error }, { n }) => toolResult.success(`no ${n}: ${error?.message}`),
        }),
        tool({
          name: 'ask',
          description: 'Asks the specialist',
          recovery: 'rerun',
          schema,
          execute: async (ctx) => {
            ctx.state[`asked${ctx.args.n}`] =
              ((ctx.state[`asked${ctx.args.n}`] as number | undefined) ?? 0) + 1;
            const { output } = await ctx.call(specialist, { message: `question ${ctx.args.n}` });
            ctx.state[`answered${ctx.args.n}`] =
              ((ctx.state[`answered${ctx.args.n}`] as number | undefined) ?? 0) + 1;
            return output;
          },
        }),
      ],
    }),
    app: { runnables: [specialist, expert, consultant, clinic] },
  };
};

export const detaching: MakeScenario = () => {
  const helper = leaf('helper');
  return {
    runnable: step({
      name: 'send',
      execute: async (ctx) => {
        const handle = ctx.spawn(helper, { message: 'help' });
        handle.detach();
        return ctx.complete('sent');
      },
    }),
    app: { runnables: [helper] },
  };
};

/** A8: twenty calls whose order of arrival changes with every execution. */
export const shuffledCalls: MakeScenario = () => {
  const worker = step({
    name: 'worker',
    execute: (ctx) => ctx.complete(`did ${ctx.input?.message}`),
  });
  return {
    runnable: step({
      name: 'fan',
      execute: async (ctx) => {
        const items = Array.from({ length: 20 }, (_, i) => i);
        const outputs = await Promise.all(
          items.map(async (item) => {
            // Real disorder: every process has its own.
            for (let turns = Math.floor(Math.random() * 30); turns > 0; turns--)
              await Promise.resolve();
            ctx.state[`item${item}`] = ((ctx.state[`item${item}`] as number | undefined) ?? 0) + 1;
            const { output } = await ctx.call(worker, { message: `item ${item}` });
            return output ?? null;
          }),
        );
        return ctx.complete(outputs);
      },
    }),
    app: { runnables: [worker] },
  };
};

/** C5: a branch fails while the one beside it is in a tool that waits to be told to stop. */
export const failFast: MakeScenario = () => ({
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
              return new Promise((_resolve, reject) =>
                ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
              );
            },
          }),
        ],
      }),
      sequence({
        name: 'line',
        runnables: [
          leaf('first'),
          step({ name: 'bad', execute: (ctx) => ctx.fail('it is bad') }),
          step({ name: 'never', execute: (ctx) => ctx.complete('never', 'never') }),
        ],
      }),
    ],
  }),
});
