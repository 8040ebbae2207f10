import { agent, runtime, type Store, step, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { callerOf } from './caller.ts';

/** An app whose runs end when they are let. */
export function working(store: Store) {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      begun.resolve();
      await Promise.race([
        gate.promise,
        new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)),
      ]);
      return ctx.complete('done');
    },
  });
  const quick = agent({ name: 'quick', model: roundModel([{ text: 'Hello.' }]) });
  const typed = agent({
    name: 'typed',
    model: roundModel([{ text: 'Typed.' }]),
    input: z.object({ cents: z.number() }),
  });
  const ask = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: () => 'paid',
  });
  const asking = agent({
    name: 'asking',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Paid.' }]),
    tools: [ask],
  });
  const app = runtime({ app: 'shop', store, runnables: [slow, quick, typed, asking] });
  return { app, goOn: () => gate.resolve(), begun: begun.promise, ...callerOf(app) };
}
