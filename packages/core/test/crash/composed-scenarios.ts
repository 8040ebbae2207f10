import { agent, loop, parallel, sequence, step, tool } from 'adjutant';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import * as basic from '../engine/app/recovery/scenarios.ts';
import { call, noting, schema } from '../engine/app/recovery/scenarios.ts';
import { answerInput, asker } from './waiting-scenarios.ts';

/**
 * Three levels: an agent whose tools call a parallel of a loop and an agent that asks for approval.
 */
export const mixture: MakeScenario = () => {
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
 * A write before a call lands with the call that comes next, which is another one in every run.
 */
export const shuffled: MakeScenario = () => ({ ...basic.shuffledCalls(), compares: 'outcome' });
/** Branches of which one is enough: others wait for an answer that never comes, and for a tool. */
export const firstWins: MakeScenario = () => ({
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

export const failFast: MakeScenario = () => ({ ...basic.failFast(), compares: 'end' });

/** Agents that hand over to each other, and back once. */
export const handingBack: MakeScenario = () => {
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
