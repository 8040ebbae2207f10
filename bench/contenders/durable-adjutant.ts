import { agent, type Event, runtime, type Store, tool } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { z } from 'zod';
import { instantModel, oneCall } from '../instant-model.ts';
import { agentOfRounds } from './adjutant.ts';
import { assertEqual } from './contender.ts';
import type { DurableContender } from './durable-contender.ts';

const name = 'bench';
const eventsPerBatch = 5_000;

const addIfAllowed = tool({
  name: 'add',
  description: 'Adds two numbers',
  schema: z.object({ a: z.number(), b: z.number() }),
  approval: true,
  execute: ({ args }) => args.a + args.b,
});
const careful = agent({ name: 'careful', model: instantModel(oneCall), tools: [addIfAllowed] });

/**
 * A runtime without recovery for each conversation, and one with recovery that starts the runs that
 * wait.
 */
export function durableAdjutant(
  store: Store,
  bytes: () => Promise<number>,
): DurableContender & { close(): Promise<void> } {
  const app = runtime({ app: name, store, runnables: [careful] });
  return {
    name: 'Adjutant',
    rounds: (session, rounds) => agentOfRounds(rounds, 1, { store }).run(session),
    storeRounds: (session, rounds) =>
      storeRounds(store.for({ tenant: 'default', app: name }), session, rounds),
    oneMore: (session) => agentOfRounds(0, 0, { store }).run(session),
    async wait(session) {
      const { status } = await app.run(careful, { session, input: 'go' });
      if (status !== 'yielded') throw new Error(`Adjutant: "${status}" instead of waiting.`);
    },
    async approval(session) {
      const fresh = runtime({ app: name, store, runnables: [careful], recover: 'manual' });
      const [request] = await fresh.requests.listPendingApprovals({ session });
      return async () => {
        await fresh.requests.approve(request?.requestId ?? '');
        const { toolCalls } = await fresh.resume(session);
        assertEqual(toolCalls.length, 1, 'Tool calls of Adjutant');
      };
    },
    bytes,
    close: () => app.close(),
  };
}

/** Runs it in memory and copies the events, which is the same ledger much sooner. */
async function storeRounds(ledgers: LedgerStore, session: string, rounds: number): Promise<void> {
  const { agent: worker } = agentOfRounds(rounds, 1);
  const memory = runtime({ app: name });
  const { session: copied } = await memory.run(worker, { session, input: 'go' });
  await append(ledgers, session, copied.events);
  await memory.close();
}

async function append(
  ledgers: LedgerStore,
  session: string,
  events: readonly Event[],
): Promise<void> {
  const claim = await ledgers.claim(session, 'bench', { ttlMs: 60_000 });
  let head = { seq: 0, epoch: claim.epoch };
  for (let from = 0; from < events.length; from += eventsPerBatch)
    head = await ledgers.append(session, head, {
      events: events.slice(from, from + eventsPerBatch),
    });
  await ledgers.release(claim);
}
