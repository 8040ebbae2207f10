import { agent, type Event, type Runnable, step, tool } from 'adjutant';
import {
  continueFrom,
  type MakeScenario,
  openInvocations,
  roundModel,
  runWhole,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scenarios } from '../../crash/scenarios.ts';

/** A run that is in a tool, called by an agent, called by a step, when it is cancelled. */
function withCaller(makeCaller: (patient: Runnable) => Runnable): MakeScenario {
  return () => {
    const begun = Promise.withResolvers<void>();
    const wait = tool({
      name: 'wait',
      description: 'Waits until it is told to stop',
      schema: z.object({}),
      recovery: 'rerun',
      execute: (ctx) => {
        begun.resolve();
        return new Promise((_resolve, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        );
      },
    });
    const patient = agent({
      name: 'patient',
      model: roundModel([{ toolCalls: [{ name: 'wait', args: {} }] }, { text: 'never' }]),
      tools: [wait],
    });
    return { runnable: makeCaller(patient), executions: [], cancelWhen: begun.promise };
  };
}

const stepCalling = withCaller((patient) =>
  step({ name: 'caller', execute: async (ctx) => ctx.complete((await ctx.call(patient)).status) }),
);

const toolCalling = withCaller((patient) =>
  agent({
    name: 'caller',
    model: roundModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'never' }]),
    tools: [
      tool({
        name: 'ask',
        description: 'Asks',
        schema: z.object({}),
        recovery: 'rerun',
        execute: async (ctx) => (await ctx.call(patient)).output,
      }),
    ],
  }),
);

const ends = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
  );

test.each([
  ['in a parallel of a sequence', scenarios['cancellation'] as MakeScenario],
  ['called by a step', stepCalling],
  ['called by a tool', toolCalling],
])(
  'what a cancelled run has left open %s ends before it, also when its process stopped in between',
  async (_name, make) => {
    const whole = await runWhole(make);
    expect(whole.outcome.result.status).toBe('cancelled');
    const cancelled = whole.events.findIndex(({ type }) => type === 'cancel') + 1;
    expect(cancelled).toBeGreaterThan(0);
    for (let cut = cancelled; cut < whole.events.length; cut++) {
      const { outcome, events, executions } = await continueFrom(make, whole.events.slice(0, cut));
      expect({ cut, ...outcome.result }).toEqual({ cut, ...whole.outcome.result });
      expect({ cut, executions, open: openInvocations(events) }).toEqual({
        cut,
        executions: [],
        open: [],
      });
      expect({ cut, ends: ends(events).sort() }).toEqual({ cut, ends: ends(whole.events).sort() });
      expect(ends(events).at(-1)).toBe('run cancelled');
    }
  },
);
