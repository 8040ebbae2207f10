import {
  agent,
  type Event,
  memoryStore,
  type Runnable,
  runtime,
  type Store,
  step,
  tool,
} from 'adjutant';
import { crashingStore, roundModel, takingOver, tickingClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const hourMs = 3_600_000;
/** The store has the system's clock. */
const start = Date.now();

/** A process that begins so many hours after the first. */
function process(store: Store, runnables: readonly Runnable[], hours: number) {
  return runtime({
    app: 'shop',
    store,
    runnables,
    recover: 'manual',
    ports: { clock: tickingClock(start + hours * hourMs) },
  });
}

/** Continues the session in a process that is gone right after its first event. */
async function continuedInVain(
  store: Store,
  runnables: readonly Runnable[],
  hours: number,
): Promise<void> {
  const crashing = crashingStore(takingOver(store), 1, 'after');
  const app = process(crashing.store, runnables, hours);
  const session = await app.sessions.open({ id: 's' });
  // Every event is sent at once.
  session.ledger.onDraft(() => void session.ledger.durable()?.catch(() => undefined));
  void Promise.resolve(app.resume(session)).catch(() => undefined);
  await crashing.crashed;
}

const typesFrom = (events: readonly Event[], seq: number) =>
  events.slice(seq).map(({ type, invocationId }) => `${type} ${invocationId}`);

test(
  'what waits again after it was resumed in vain says last that it waits, and once that it ' +
    'was resumed',
  async () => {
    const store = memoryStore();
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      recovery: 'report',
      approval: { expiresInMs: 100 * hourMs },
      execute: () => 1,
    });
    const clerk = agent({
      name: 'clerk',
      model: roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'paid' }]),
      tools: [pay],
    });
    const first = process(store, [clerk], 0);
    const { session } = await first.run(clerk, { session: 's', input: 'Go', runId: 'run' });
    const left = session.events.length;
    // A process that says so at once, and stops.
    const before = process(takingOver(store), [clerk], 1);
    const resumed = await before.sessions.open({ id: 's' });
    await resumed.ledger.lease.own();
    const deadline = start + 2 * hourMs;
    resumed.ledger.append([
      { type: 'invocation_resume', by: 'runtime', invocationId: 'run', deadline },
    ]);
    await resumed.ledger.release();
    const app = process(takingOver(store), [clerk], 2);
    const waiting = await app.resume('s');
    expect(waiting.status).toBe('yielded');
    expect(typesFrom(waiting.session.events, left)).toEqual([
      'invocation_resume run',
      'invocation_resume run',
      'invocation_yield run',
    ]);
    expect(waiting.session.ledger.invocations.byPath.get('run')?.status).toBe('yielded');
    await app.requests.answer(waiting.pendingCalls[0]?.requestId ?? '', { decision: 'approve' });
    expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'paid' });
    await app.close();
  },
);

test('what waits still adds nothing when it is resumed, also by a process that stops', async () => {
  const store = memoryStore();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: { expiresInMs: 100 * hourMs },
    execute: () => 1,
  });
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'paid' }]),
    tools: [pay],
  });
  const { session } = await process(store, [clerk], 0).run(clerk, {
    session: 's',
    input: 'Go',
    runId: 'run',
  });
  const left = session.events.length;
  await continuedInVain(store, [clerk], 1);
  const app = process(takingOver(store), [clerk], 2);
  const waiting = await app.resume('s');
  expect([waiting.status, typesFrom(waiting.session.events, left)]).toEqual(['yielded', []]);
  await app.close();
});

test(
  'the time of a run does not pass while nobody works on it, whoever began to continue what ' +
    'it dispatched',
  async () => {
    const store = memoryStore();
    const define = (work: () => Promise<void>): readonly Runnable[] => {
      const helper = step({ name: 'helper', execute: work });
      const near = step({ name: 'near', execute: work });
      const body = step({
        name: 'body',
        execute: async (ctx) => {
          ctx.dispatch(helper, { message: 'help' });
          await ctx.call(near, { key: 'near' });
        },
      });
      return [body, helper, near];
    };
    const hanging = define(() => new Promise(() => undefined));
    const runnables = define(async () => undefined);
    const crashing = crashingStore(takingOver(store));
    const first = process(crashing.store, hanging, 0);
    const session = await first.sessions.open({ id: 's' });
    const isBegun = new Promise<void>((resolve) =>
      session.ledger.onDraft(
        (event) => event.type === 'invocation_start' && event.name === 'near' && resolve(),
      ),
    );
    void Promise.resolve(
      first.run(hanging[0] as Runnable, { session, input: 'Go', runId: 'run' }),
    ).catch(() => undefined);
    await isBegun;
    await session.flush();
    await crashing.crash();
    await continuedInVain(store, runnables, 1);
    const app = process(takingOver(store), runnables, 2);
    const result = await app.resume('s');
    const marks = result.session.events.filter(
      (event) => event.type === 'invocation_resume' && event.invocationId === 'run',
    );
    expect(result).toMatchObject({ status: 'completed' });
    expect(
      marks.map((event) => event.type === 'invocation_resume' && (event.deadline ?? 0) > event.at),
    ).toEqual([true, true]);
    await app.close();
  },
);
