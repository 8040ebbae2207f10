import {
  agent,
  isAdjutantError,
  type JsonValue,
  parallel,
  sequence,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import { z } from 'zod';
import * as effects from '../engine/app/recovery/effect-scenarios.ts';
import * as basic from '../engine/app/recovery/scenarios.ts';
import { call, failedAttempts, leaf, noting, schema } from '../engine/app/recovery/scenarios.ts';
import { failFast, firstWins, handingBack, mixture, shuffled } from './composed-scenarios.ts';
import { interrupted } from './interrupted-scenarios.ts';
import { twoLanes } from './lane-scenarios.ts';
import * as plans from './plan-scenarios.ts';
import { cyclicGraph, failingRoutes, racingGraph } from './routing-scenarios.ts';
import * as models from './supervised-models.ts';
import * as supervised from './supervised-scenarios.ts';
import {
  answeringByMessage,
  answeringQuestions,
  approvals,
  modelOfRun,
  standingApproval,
  waitingStep,
  yielding,
} from './waiting-scenarios.ts';

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

const reporting: MakeScenario = () => ({ ...basic.agentScenario('report')(), compares: 'outcome' });

/**
 * A run with a lifecycle: prepared with effects and state, let in, and followed up behind its
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
  'effects in steps': effects.effectsInSteps,
  'effects in a tool': effects.effectsInTool,
  'effects that are repaired': repaired,
  'twenty calls in disorder': shuffled,
  'a branch that fails': failFast,
  'branches of which one is enough': firstWins,
  yields: yielding,
  'messages that answer': answeringByMessage,
  'messages that answer questions of a step': answeringQuestions,
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
  'models and tools that fail': models.failures,
  'answers that are judged': models.answering,
  'prompts that outgrow their window': models.compacting,
  escalations: supervised.escalating,
  'a budget that is spent': models.spending,
  'a model that writes its calls': models.speaking,
  'a run that is refused': supervised.refused,
  'two lanes': twoLanes,
  'an interrupted answer': interrupted,
  'a standing approval': standingApproval,
  'a run with a model of its own': modelOfRun,
  'a plan of twelve subtasks': plans.replanned,
  'a plan that people change': plans.reviewed,
  'a graph with a cycle and an error': cyclicGraph,
  'a graph with a race': racingGraph,
  'a router whose routes fail': failingRoutes,
};
