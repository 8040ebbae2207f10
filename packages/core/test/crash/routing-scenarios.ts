import { agent, step } from 'adjutant';
import { graph, router } from 'adjutant/plan';
import { type MakeScenario, roundModel } from 'adjutant/testing';
import { call, noting } from '../engine/app/recovery/scenarios.ts';
import { answerInput, asker } from './waiting-scenarios.ts';

/** A step that counts its executions in the state, and completes from the second or third on. */
const counting = (name: string, until: number) =>
  step({
    name,
    execute: async (ctx) => {
      const tries = Number(ctx.state[name] ?? 0) + 1;
      ctx.state.update({ [name]: tries });
      await ctx.effect('look', () => tries, { recovery: 'rerun' });
      return ctx.complete({ tries, good: tries >= until });
    },
  });

/** A graph with a cycle, an edge for errors, branches, somebody to ask and a race. */
export const cyclicGraph: MakeScenario = () => ({
  runnable: graph({
    name: 'line',
    nodes: {
      check: counting('check', 3),
      repair: agent({
        name: 'repair',
        model: roundModel([{ toolCalls: [call('note', 1)] }, { text: 'repaired' }]),
        tools: [noting('note')],
      }),
      ship: step({ name: 'ship', execute: (ctx) => ctx.fail('no ship sails') }),
      fly: step({ name: 'fly', execute: (ctx) => ctx.complete(ctx.input?.data ?? null, 'flown') }),
      bill: asker('bill'),
      end: step({ name: 'end', execute: (ctx) => ctx.complete(ctx.input?.data ?? null) }),
    },
    edges: [
      { from: 'check', to: 'repair', when: ({ good }) => !good },
      { from: 'repair', to: 'check', max: 4 },
      { from: 'check', to: 'ship', when: ({ good }) => good },
      { from: 'check', to: 'bill', when: ({ good }) => good },
      { from: 'ship', to: 'fly', error: 'step_failed' },
      { from: 'fly', to: 'end' },
      { from: 'bill', to: 'end' },
    ],
    start: 'check',
  }),
  answers: answerInput,
});

/** A join that begins with the first of two, of which the other waits for people. */
export const racingGraph: MakeScenario = () => ({
  runnable: graph({
    name: 'race',
    nodes: {
      patient: asker('patient'),
      quick: counting('quick', 1),
      first: step({ name: 'first', execute: (ctx) => ctx.complete(ctx.input?.data ?? null) }),
    },
    edges: [
      { from: 'patient', to: 'first' },
      { from: 'quick', to: 'first' },
    ],
    start: ['patient', 'quick'],
    joins: { first: 'any' },
  }),
  compares: 'outcome',
});

/** A router whose model chooses a route that fails, as the one after it does. */
export const failingRoutes: MakeScenario = () => {
  const failing = (name: string) =>
    step({
      name,
      execute: async (ctx) => {
        ctx.state.update({ [name]: 'half' });
        await ctx.effect('try', () => 1, { recovery: 'rerun' });
        return ctx.fail(`${name} is closed`);
      },
    });
  const choice = { target: 'one', confidence: 0.9, reason: 'nearest', fallback: 'two' };
  return {
    runnable: router({
      name: 'desk',
      routes: [failing('one'), failing('two'), asker('three')],
      rules: [{ to: 'three', when: ['never'], confidence: 0.1 }],
      model: roundModel([{ text: JSON.stringify(choice) }]),
      default: 'three',
    }),
    answers: answerInput,
  };
};
