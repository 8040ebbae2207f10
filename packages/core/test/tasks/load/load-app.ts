import { agent, type Runtime, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { EffectFile } from '../../crash/effect-file.ts';
import { connect } from '../../crash/worker-store.ts';
import { roundMs, roundsOfTask, type WorkerOrder } from './load-order.ts';
import { notingTaken } from './taken-tasks.ts';

/** The app of a worker, or of the process that submits. */
export function loadApp(order: WorkerOrder, isWorker: boolean): Runtime {
  const effects = new EffectFile(order.effects);
  const done = new Set<string>();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: { type: 'object' },
    // The outside world knows a key that it has seen before.
    recovery: 'rerun',
    execute: (ctx) => {
      const { callId, idempotencyKey: key } = ctx;
      if (!done.has(key)) effects.add({ session: ctx.session.id, callId, key, attempt: 1 });
      done.add(key);
      return 'paid';
    },
  });
  const rounds = Array.from({ length: roundsOfTask - 1 }, (_, i) => ({
    toolCalls: [{ name: 'pay', args: { i } }],
    delayMs: roundMs,
  }));
  const model = roundModel([...rounds, { text: 'Done', delayMs: roundMs }]);
  const job = agent({ name: 'job', model, tools: [pay] });
  return runtime({
    app: 'load',
    store: notingTaken(connect(order.store), order.taken),
    tenants: true,
    runnables: [job],
    recover: isWorker ? 'auto' : 'manual',
    work: { slots: order.slots, reserve: { realtime: 1 } },
  });
}
