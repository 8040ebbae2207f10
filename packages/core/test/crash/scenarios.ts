import {
  agent,
  isAdjutantError,
  type JsonValue,
  loop,
  type PendingRequest,
  parallel,
  type RequestAnswer,
  sequence,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import { z } from 'zod';
import * as basic from '../engine/app/recovery/scenarios.ts';
import { call, failedAttempts, leaf, noting } from '../engine/app/recovery/scenarios.ts';
import * as supervised from './supervised-scenarios.ts';

const schema = z.object({ n: z.number() });

const ask = tool({
  name: 'ask',
  description: 'Asks the user a question',
  schema: z.object({ question: z.string() }),
  yieldSchema: z.object({ answer: z.string() }),
  finalize: (ctx) => ({
    question: (ctx.args as { question: string }).question,
    answer: (ctx.input as { answer: string }).answer,
  }),
});

function asker(name: string) {
  return agent({
    name,
    model: roundModel([
      { toolCalls: [{ name: 'ask', args: { question: `Which colour, ${name}?` } }] },
      { text: `${name} is done` },
    ]),
    tools: [ask],
    output: name,
  });
}

function answerInput({ args, callId }: PendingRequest): RequestAnswer {
  const { question } = args as { question?: string };
  return {
    decision: 'answer',
    input:
      question === undefined
        ? { approved: !callId.endsWith('.1') }
        : { answer: `As to “${question}”: red` },
  };
}

/**
 * Gating and confirming tools, several calls of a round, in branches, and a loop that waits for
 * messages.
 */
const yielding: MakeScenario = () => {
  const confirm = tool({
    name: 'confirm',
    description: 'Asks before doing it',
    schema,
    recovery: 'rerun',
    yieldSchema: z.object({ approved: z.boolean() }),
    execute: ({ input, args }) => {
      return input?.approved === true ? `did ${args.n}` : { declined: args.n };
    },
  });
  const confirmer = agent({
    name: 'confirmer',
    model: roundModel([
      { toolCalls: [call('confirm', 1), call('confirm', 2), call('note', 3)] },
      { text: 'confirmed' },
    ]),
    tools: [confirm, noting('note')],
    output: 'confirmer',
  });
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        parallel({
          name: 'both',
          runnables: [
            asker('left'),
            confirmer,
            sequence({ name: 'right', runnables: [asker('inner')] }),
          ],
        }),
        loop({
          name: 'chat',
          runnable: agent({ name: 'talker', model: roundModel([{ text: 'well' }]) }),
          maxIterations: 2,
          yields: true,
        }),
      ],
    }),
    answers: answerInput,
    message: (count) => `message ${count}`,
  };
};

/** Messages of the user that waiting calls of several branches can use. */
const answeringByMessage: MakeScenario = () => {
  const collector = (name: string, yieldSchema: z.ZodType) =>
    agent({
      name,
      model: roundModel([
        { toolCalls: [{ name: `ask_${name}` }, call('note', 1)] },
        { text: `${name} is done` },
      ]),
      tools: [
        tool({
          name: `ask_${name}`,
          description: 'Asks the user',
          schema: z.object({}),
          yieldSchema,
          recovery: 'rerun',
          execute: ({ input }) => input as JsonValue,
        }),
        noting('note'),
      ],
      output: name,
    });
  return {
    runnable: parallel({
      name: 'all',
      runnables: [
        collector('booking', z.object({ name: z.string(), guests: z.number() })),
        collector('code', z.object({ code: z.number() })),
        collector('mail', z.email()),
      ],
    }),
    answers: {
      ask_booking: 'name: Ann\nguests: 2',
      ask_code: '1234',
      ask_mail: 'ann@example.com',
    },
  };
};

/** One call is allowed, one edited, one rejected. */
function approvals(recovery: 'rerun' | 'report'): MakeScenario {
  return () => ({
    runnable: agent({
      name: 'payer',
      model: roundModel([
        { toolCalls: [call('pay', 1), call('pay', 2), call('pay', 3)] },
        { text: 'and', toolCalls: [call('pay', 4)] },
        { text: 'paid' },
      ]),
      tools: [
        tool({
          name: 'pay',
          description: 'Pays',
          schema,
          recovery,
          approval: { expiresInMs: 7 * 86_400_000 },
          execute: ({ args, state }) => {
            state[`paid ${args.n}`] = true;
            return { paid: args.n };
          },
        }),
      ],
    }),
    answers: ({ args }): RequestAnswer => {
      const { n } = args as { n: number };
      if (n === 2) return { decision: 'edit', input: { n: 20 } };
      return n === 3 ? { decision: 'reject', reason: 'too much' } : { decision: 'approve' };
    },
    ...(recovery === 'report' ? { compares: 'end' as const } : {}),
  });
}

const order = z.object({
  id: z.string(),
  lines: z.array(z.object({ item: z.string(), count: z.number() })),
});
const stateSchema = { session: { order, total: z.number(), log: z.array(z.string()) } };

/**
 * State that a schema checks, written by a step, by tools of concurrent branches and by the join.
 */
const structuredState: MakeScenario = () => {
  const adder = (name: string) =>
    agent({
      name,
      model: roundModel([
        { toolCalls: [call(`add_${name}`, 1), call(`add_${name}`, 2)] },
        { text: `${name} added` },
      ]),
      tools: [
        tool({
          name: `add_${name}`,
          description: 'Adds a line',
          schema,
          stateSchema,
          recovery: 'rerun',
          execute: (ctx) => {
            (ctx.state as unknown as Record<string, unknown>)[`lines_${name}_${ctx.args.n}`] = {
              item: name,
              count: ctx.args.n,
            };
            return ctx.state.order?.id;
          },
        }),
      ],
    });
  const begin = step({
    name: 'begin',
    stateSchema,
    execute: (ctx) => {
      ctx.state.order = { id: 'o1', lines: [] };
      ctx.state.log = ['begun'];
      ctx.state.total = 0;
    },
  });
  const end = step({
    name: 'end',
    stateSchema,
    execute: async (ctx) => {
      ctx.state.log = [...(ctx.state.log ?? []), 'ended'];
      await ctx.call(step({ name: 'between', execute: () => undefined }));
      ctx.state.total = (ctx.state.total ?? 0) + (ctx.state.order?.lines.length ?? 0);
    },
  });
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        begin,
        parallel({
          name: 'adders',
          runnables: [adder('pen'), adder('ink')],
          merge: ({ branches }) => {
            // Tools of one round write in the order in which they end.
            const keys = (changes: object): string[] =>
              Object.keys(changes)
                .filter((key) => key.startsWith('lines_'))
                .sort();
            const lines = branches.flatMap(({ changes }) =>
              keys(changes).map((key) => changes[key]),
            );
            return { order: { id: 'o1', lines: lines as JsonValue[] } };
          },
        }),
        end,
      ],
    }),
    app: { stateSchema },
  };
};

/**
 * Attempts that are known to have had no effect are made again, and calls of a tool that may be
 * repeated also after a lost connection.
 */
const retries: MakeScenario = () => ({
  runnable: agent({
    name: 'stubborn',
    model: roundModel([
      { toolCalls: [call('busy', 1), call('lossy', 2)] },
      { toolCalls: [call('broken', 3)] },
      { text: 'through' },
    ]),
    tools: [
      tool({
        name: 'busy',
        description: 'Is told to come again',
        schema,
        retry: { attempts: 20, initialDelayMs: 1, multiplier: 1 },
        recovery: 'rerun',
        execute: ({ callId, session, args }) => {
          if (failedAttempts(session.events, callId) < 2)
            throw new ToolFailure('not yet', { retryAfterMs: 1 });
          return args.n;
        },
      }),
      tool({
        name: 'lossy',
        description: 'Loses its connection',
        schema,
        recovery: 'rerun',
        retry: { attempts: 20, initialDelayMs: 1, multiplier: 1 },
        execute: ({ callId, session, args }) => {
          if (failedAttempts(session.events, callId) < 1)
            throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
          return args.n;
        },
      }),
      tool({
        name: 'broken',
        description: 'Fails for good',
        schema,
        recovery: 'rerun',
        execute: () => {
          throw new ToolFailure('it is broken');
        },
      }),
    ],
  }),
});

/** Somebody cancels while a branch is in a tool that waits to be told to stop. */
const cancelling: MakeScenario = () => {
  const begun = Promise.withResolvers<void>();
  return {
    runnable: sequence({
      name: 'line',
      runnables: [
        leaf('first'),
        parallel({
          name: 'both',
          runnables: [
            leaf('beside'),
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
                    begun.resolve();
                    return new Promise((_resolve, reject) =>
                      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
                    );
                  },
                }),
              ],
            }),
          ],
        }),
        step({ name: 'never', execute: (ctx) => ctx.complete('never', 'never') }),
      ],
    }),
    cancelWhen: begun.promise,
    compares: 'end',
  };
};

/**
 * Shared scopes are written by steps, tools and branches; what landed is neither lost nor done
 * again.
 */
const sharedWrites: MakeScenario = () => {
  const types = { session: {}, user: { n: z.number(), last: z.string() } };
  const adding = (name: string) =>
    step({
      name,
      stateSchema: types,
      execute: async (ctx) => {
        ctx.state.user.update('n', (n = 0) => n + 1);
        await ctx.call(step({ name: `${name}-child`, execute: (child) => child.complete(1) }));
        ctx.state.user.update('n', (n = 0) => n + 1);
      },
    });
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        adding('one'),
        parallel({ name: 'both', runnables: [adding('left'), adding('right')] }),
        agent({
          name: 'caller',
          model: roundModel([
            { toolCalls: [call('count', 1), call('count', 2)] },
            { text: 'counted' },
          ]),
          tools: [
            tool({
              name: 'count',
              description: 'Counts',
              schema,
              stateSchema: types,
              recovery: 'rerun',
              execute: (ctx) => {
                ctx.state.user.update('n', (n = 0) => n + 1);
                return 'counted';
              },
            }),
          ],
        }),
      ],
    }),
    app: { stateSchema: types },
    session: { userId: 'ann' },
    compares: 'outcome',
  };
};

/**
 * Three levels: an agent whose tools call a parallel of a loop and an agent that asks for approval.
 */
const mixture: MakeScenario = () => {
  const approving = agent({
    name: 'approving',
    model: roundModel([{ toolCalls: [call('spend', 1)] }, { text: 'spent' }]),
    tools: [
      tool({
        name: 'spend',
        description: 'Spends',
        schema,
        recovery: 'rerun',
        approval: { expiresInMs: 7 * 86_400_000 },
        execute: ({ args }) => {
          return { spent: args.n };
        },
      }),
    ],
    output: 'approving',
  });
  const rounds = loop({
    name: 'rounds',
    maxIterations: 2,
    runnable: step({
      name: 'round',
      execute: async (ctx) => {
        const given = await ctx.effect(
          'look',
          () => {
            return 1;
          },
          { recovery: 'rerun' },
        );
        ctx.state['looked'] = ((ctx.state['looked'] as number | undefined) ?? 0) + given;
      },
    }),
  });
  const team = parallel({
    name: 'team',
    runnables: [approving, sequence({ name: 'line', runnables: [rounds, asker('asking')] })],
  });
  return {
    runnable: agent({
      name: 'boss',
      model: roundModel([
        { toolCalls: [call('delegate', 1), call('note', 2)] },
        { text: 'all is done' },
      ]),
      tools: [
        tool({
          name: 'delegate',
          description: 'Lets the team do it',
          schema,
          recovery: 'rerun',
          execute: async (ctx) => {
            await ctx.call(team, { message: 'do it' });
            return ctx.state['looked'];
          },
        }),
        noting('note'),
      ],
      output: 'answer',
    }),
    app: { runnables: [team] },
    answers: (pending) =>
      pending.kind === 'approval' ? { decision: 'approve' } : answerInput(pending),
  };
};

/**
 * What is written before a call lands with whatever call came next, which is another one in every
 * run.
 */
const shuffled: MakeScenario = () => ({ ...basic.shuffledCalls(), compares: 'outcome' });
/** Branches of which one is enough: others wait for an answer that never comes, and for a tool. */
const firstWins: MakeScenario = () => ({
  runnable: sequence({
    name: 'all',
    runnables: [
      parallel({
        name: 'race',
        until: 1,
        runnables: [
          asker('patient'),
          agent({
            name: 'quick',
            model: roundModel([{ toolCalls: [call('note', 1)] }, { text: 'first' }]),
            tools: [noting('note')],
            output: 'winner',
          }),
        ],
      }),
      step({
        name: 'after',
        execute: (ctx) =>
          ctx.complete({
            winner: String(ctx.state['winner']),
            given: ctx.input?.data ?? null,
          }),
      }),
    ],
  }),
  compares: 'outcome',
});

const failFast: MakeScenario = () => ({ ...basic.failFast(), compares: 'end' });
const reporting: MakeScenario = () => ({ ...basic.agentScenario('report')(), compares: 'outcome' });

/**
 * What happens around a run: prepared with effects and state, let in, and followed up behind its
 * result.
 */
const lifecycle: MakeScenario = () => ({
  runnable: agent({
    name: 'guest',
    model: roundModel([{ toolCalls: [call('note', 1)] }, { text: 'done' }]),
    tools: [noting('note')],
    output: 'answer',
  }),
  app: {
    lifecycle: {
      prepare: async (ctx) => {
        ctx.state['profile'] = await ctx.effect('load', () => 'ann', { recovery: 'rerun' });
      },
      admit: (ctx) => ctx.state['profile'] === 'ann' || { refuse: 'Nobody knows you.' },
      postProcess: async (ctx, { output }) => {
        ctx.state['kept'] = await ctx.effect('keep', () => `kept ${String(output)}`, {
          recovery: 'rerun',
        });
      },
    },
  },
});

/** A step that asks for approval and for a value, sleeps, and lets a question race with a sleep. */
const waitingStep: MakeScenario = () => ({
  runnable: step({
    name: 'publish',
    execute: async (ctx) => {
      const draft = await ctx.effect('draft', () => 'a text', { recovery: 'rerun' });
      const { approved, by } = await ctx.ask('publish', {
        message: 'Publish?',
        approval: true,
        expiresInMs: 7 * 86_400_000,
      });
      await ctx.sleep('a moment', 1);
      await ctx.sleep('until tomorrow', 24 * 3_600_000);
      const [title, tags] = await Promise.all([
        ctx.ask('title', 'Which title?'),
        ctx.ask('tags', { message: 'Which tags?', schema: z.array(z.string()) }),
      ]);
      ctx.state['title'] = title;
      const first = await Promise.race([
        ctx.sleep('too late', 7 * 86_400_000).then(() => 'nobody'),
        ctx.ask('reviewer', 'Who reads it?'),
      ]);
      const sent = await ctx.effect('send', () => `${draft} sent`, { recovery: 'rerun' });
      return ctx.complete({ approved, by, title, tags, first, sent });
    },
  }),
  answers: ({ kind, name }): RequestAnswer =>
    kind === 'approval'
      ? { decision: 'approve' }
      : { decision: 'answer', input: name === 'tags' ? ['new', 'short'] : `the ${name}` },
});

/** Agents that hand over to each other, and back once. */
const handingBack: MakeScenario = () => {
  const triage = agent({
    name: 'triage',
    model: roundModel([
      { toolCalls: [{ name: 'transfer_to_billing' }] },
      { toolCalls: [call('note', 1)] },
      { text: 'Anything else?' },
    ]),
    tools: [noting('note')],
    handoffs: [() => billing],
    output: 'triage',
  });
  const billing = agent({
    name: 'billing',
    model: roundModel([
      { toolCalls: [call('note', 2)] },
      { toolCalls: [{ name: 'transfer_to_triage' }] },
    ]),
    tools: [noting('note')],
    handoffs: [{ to: triage, back: true }],
  });
  return { runnable: triage };
};

/** A card is charged and a hotel booked, both with a lost connection; people repair the run. */
const repaired: MakeScenario = () => {
  const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
  const order = step({
    name: 'order',
    execute: async (ctx) => {
      const charged = await ctx.effect('charge', lost);
      // The code is edited before the second reopening.
      const isEdited = ctx.session.events.some(
        (event) =>
          event.type === 'invocation_reopen' &&
          event.effects?.includes(`${ctx.invocationId}/book`) === true,
      );
      const booked = await ctx.effect('book', isEdited ? () => 'booked' : lost, {
        recovery: isEdited ? 'rerun' : 'report',
      });
      return ctx.complete([charged, booked], 'order');
    },
  });
  return {
    runnable: sequence({ name: 'line', runnables: [leaf('before'), order, leaf('after')] }),
    repair: async ({ sessions }, { session, error }) => {
      const callId = String(error?.data?.['callId']);
      if (callId.endsWith('/charge'))
        await sessions
          .resolveUnknown(session.id, callId, { happened: true, result: 'ch_1' })
          .catch((refused: unknown) => {
            // A process that was stopped before the reopening has told it.
            if (!isAdjutantError(refused, 'not_resolvable')) throw refused;
          });
      await sessions.reopen(session.id, { reason: 'The provider was asked.' });
    },
    compares: 'outcome',
  };
};

/** Scenarios of the crash matrix. */
export const scenarios: Readonly<Record<string, MakeScenario>> = {
  'an agent': basic.agentScenario('rerun'),
  'a tool that reports': reporting,
  'concurrent tool calls': basic.parallelTools,
  'sequence, parallel and loop': basic.nested,
  'a step that calls and writes state': basic.stepWithCalls,
  'a tool that spawns': basic.spawning,
  'a step that dispatches': basic.dispatching,
  'a step that detaches': basic.detaching,
  'transfers by a tool and a step': basic.transferring,
  'tools that call an agent': basic.agentAsTool,
  'effects in steps': basic.effectsInSteps,
  'effects in a tool': basic.effectsInTool,
  'effects that are repaired': repaired,
  'twenty calls in disorder': shuffled,
  'a branch that fails': failFast,
  'branches of which one is enough': firstWins,
  yields: yielding,
  'messages that answer': answeringByMessage,
  'approvals with edit': approvals('rerun'),
  'approvals of a tool that reports': approvals('report'),
  'structured state': structuredState,
  retries,
  'a step that asks and sleeps': waitingStep,
  'agents that hand over and back': handingBack,
  cancellation: cancelling,
  'writes to a shared scope': sharedWrites,
  'a lifecycle': lifecycle,
  'three levels of everything': mixture,
  'errors that are routed': supervised.routing,
  'calls in a loop': supervised.loops,
  'guardrails and permissions': supervised.guarding,
  hooks: supervised.hooking,
  'models and tools that fail': supervised.failures,
  'answers that are judged': supervised.answering,
  'prompts that outgrow their window': supervised.compacting,
  escalations: supervised.escalating,
  'a budget that is spent': supervised.spending,
  'a model that writes its calls': supervised.speaking,
  'a run that is refused': supervised.refused,
};
