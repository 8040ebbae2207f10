import { agent, type Runtime, runtime, tool } from 'adjutant';
import type { Engine } from 'adjutant/ports';
import { redis } from 'adjutant/redis';
import { roundModel } from 'adjutant/testing';
import { EffectFile } from '../crash/effect-file.ts';
import { connect } from '../crash/worker-store.ts';
import { leaseMs, paymentsOfTask, roundMs, slots, type WorkerOrder } from './order.ts';

/**
 * The app of a worker, or of the process that submits.
 * @param engine of the process @default none: it leaves the work to others
 */
export function chaosApp(order: WorkerOrder, engine: Engine | undefined): Runtime {
  return runtime({
    app: 'chaos',
    store: connect(order.store),
    pubsub: redis(order.redis),
    tenants: true,
    runnables: [payer(order), sleeper()],
    lease: { ttlMs: leaseMs },
    ...(engine === undefined ? { recover: 'manual' } : { engine }),
    work: { slots },
  });
}

/** Pays three times. The outside world knows a key that it has seen before. */
function payer({ effects, version }: WorkerOrder) {
  const file = new EffectFile(effects);
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    recovery: 'rerun',
    execute: ({ callId, idempotencyKey: key, session }) => {
      file.add({ session: session.id, callId, key, attempt: 1 });
      return 'paid';
    },
  });
  const rounds = Array.from({ length: paymentsOfTask }, (_, i) => ({
    toolCalls: [{ name: 'pay', args: { i } }],
    delayMs: roundMs,
  }));
  return agent({
    name: 'payer',
    // A new version says it otherwise, and goes on with what the old one has begun.
    instructions: version === 1 ? 'Pay.' : 'Pay what is due, in three parts.',
    model: roundModel([...rounds, { text: `Done by version ${version}`, delayMs: roundMs }]),
    tools: [pay],
  });
}

/** Works until it is cancelled. */
function sleeper() {
  const sleep = tool({
    name: 'sleep',
    description: 'Waits for its end',
    schema: { type: 'object' },
    recovery: 'rerun',
    execute: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
  });
  return agent({
    name: 'sleeper',
    model: roundModel([{ toolCalls: [{ name: 'sleep', args: {} }] }, { text: 'Awake' }]),
    tools: [sleep],
  });
}
