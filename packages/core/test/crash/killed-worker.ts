/**
 * A process that carries runs on until they have ended or it is killed: `node killed-worker.ts
 * <WorkerOrder as JSON>`.
 */
import { flushCompileCache } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import {
  agent,
  type EffectContext,
  isAdjutantError,
  type JsonObject,
  type JsonValue,
  loop,
  type PendingRequest,
  parallel,
  runtime,
  sequence,
  step,
  tool,
} from 'adjutant';
import { EffectUnknownError } from 'adjutant/errors';
import { roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { EffectFile, readEffects } from './effect-file.ts';
import { connect, type StoreAddress } from './worker-store.ts';

export interface WorkerOrder {
  readonly store: StoreAddress;
  readonly sessions: readonly string[];
  readonly effects: string;
  readonly iterations: number;
}

const order = JSON.parse(process.argv[2] ?? '') as WorkerOrder;
const file = new EffectFile(order.effects);
const schema = z.object({ n: z.number() });

/** The tools of one session. Those that report begin with `once`. */
function workOf(session: string) {
  const noting = (name: string, recovery: 'report' | 'rerun') =>
    tool({
      name,
      description: 'Does something that is seen outside',
      schema,
      recovery,
      // The next iteration makes the same call, whatever became of this one.
      onRepeat: 'allow',
      execute: async ({ callId, idempotencyKey, attempt, args }) => {
        await wait(Math.random() * 3);
        file.add({ session, callId, key: idempotencyKey, attempt });
        await wait(Math.random() * 3);
        return args.n;
      },
    });
  const helper = agent({
    name: `helper-${session}`,
    model: roundModel([
      { toolCalls: [{ name: 'once_helping', args: { n: 1 } }] },
      { text: 'helped' },
    ]),
    tools: [noting('once_helping', 'report')],
  });
  const caller = agent({
    name: `caller-${session}`,
    model: roundModel([
      {
        toolCalls: [
          { name: 'once', args: { n: 1 } },
          { name: 'again', args: { n: 2 } },
          { name: 'delegate', args: { n: 3 } },
        ],
      },
      { toolCalls: [{ name: 'once', args: { n: 4 } }] },
      { text: 'called' },
    ]),
    tools: [
      noting('once', 'report'),
      noting('again', 'rerun'),
      tool({
        name: 'delegate',
        description: 'Asks the helper',
        schema,
        recovery: 'rerun',
        execute: async (ctx) => (await ctx.call(helper, { message: 'help' })).output,
      }),
    ],
  });
  const effects = step({
    name: `effects-${session}`,
    execute: async (ctx) => {
      for (const key of ['first', 'second']) {
        const look = async ({ idempotencyKey, attempt }: EffectContext): Promise<string> => {
          await wait(Math.random() * 3);
          file.add({ session, callId: `${ctx.invocationId}/${key}`, key: idempotencyKey, attempt });
          return key;
        };
        await ctx.effect(key, look, { recovery: 'rerun' }).catch((error: unknown) => {
          // An effect that was cut off three times is not begun again: it may be what ends the
          // process.
          if (!(error instanceof EffectUnknownError)) throw error;
        });
        ctx.state['done'] = ((ctx.state['done'] as number | undefined) ?? 0) + 1;
      }
    },
  });
  const both = parallel({ name: `both-${session}`, runnables: [caller, effects] });
  const item = step({
    name: `item-${session}`,
    execute: async (ctx) => {
      await wait(Math.random() * 10);
      return ctx.complete(`did ${ctx.input?.message}`);
    },
  });
  // The calls come in another order in every process.
  const fan = step({
    name: `fan-${session}`,
    execute: async (ctx) => {
      const calls = Array.from({ length: 20 }, async (_, i) => {
        await wait(Math.random() * 30);
        const { output } = await ctx.call(item, { message: `item ${i}` });
        return output ?? null;
      });
      return ctx.complete(await Promise.all(calls), 'fan');
    },
  });
  // A charge that is cut off fails the run: the next process repairs it.
  const waiting = step({
    name: `waiting-${session}`,
    execute: async (ctx) => {
      await ctx.ask('title', 'Which title?');
      await ctx.sleep('a moment', 30);
      for (const key of ['once_charge', 'once_book', 'once_print', 'once_mail', 'once_ship'])
        await ctx.effect(key, async ({ idempotencyKey, attempt }) => {
          await wait(Math.random() * 60);
          file.add({ session, callId: `${ctx.invocationId}/${key}`, key: idempotencyKey, attempt });
          await wait(Math.random() * 60);
          return key;
        });
    },
  });
  const end = step({
    name: `end-${session}`,
    execute: (ctx) =>
      ctx.complete([(ctx.state['done'] as number) ?? 0, ctx.state['fan'] as JsonValue]),
  });
  const work = loop({ name: `work-${session}`, maxIterations: order.iterations, runnable: both });
  return sequence({ name: session, runnables: [waiting, work, fan, end] });
}

/** Carries a run on to its end: it answers what the run asks, and repairs it. */
async function carryOn(session: string): Promise<void> {
  const runnable = workOf(session);
  let result = await app.run(runnable, { session, runId: 'run', input: 'Go' });
  for (;;) {
    if (result.status === 'yielded') await answer(result.pendingCalls);
    else if (result.error?.code === 'effect_unknown') await repair(session, result.error.data);
    else return;
    result = await app.resume(runnable, session);
  }
}

async function answer(pending: readonly PendingRequest[]): Promise<void> {
  for (const { accepted, requestId } of pending)
    if (!accepted) await app.requests.answer(requestId, { input: 'A title' });
}

/** Tells what the file says of an effect that was cut off, and reopens the run. */
async function repair(session: string, data: JsonObject | undefined): Promise<void> {
  const callId = String(data?.['callId']);
  const happened = readEffects(order.effects).some(
    (effect) =>
      effect.session === session &&
      effect.callId === callId &&
      effect.attempt === data?.['attempt'],
  );
  try {
    await app.sessions.resolveUnknown(session, callId, { happened });
  } catch (error) {
    // A process that was killed before it could reopen the run has told it.
    if (!isAdjutantError(error, 'not_resolvable')) throw error;
  }
  await app.sessions.reopen(session, { reason: 'The file was read.' });
}

const store = connect(order.store);
const app = runtime({ app: 'kills', store, recover: 'manual' });
// Opening the store is no part of the work.
await store.for({ tenant: 'default', app: 'kills' }).list({ limit: 1 });
// It may be killed at any time.
flushCompileCache();
process.stdout.write('ready\n');
await Promise.all(order.sessions.map(carryOn));
await app.close();
file.close();
