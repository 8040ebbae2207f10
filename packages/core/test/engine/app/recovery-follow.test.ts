import { agent, memoryStore, runtime, type Store, tool } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/**
 * A store that tells nobody of new events, as one whose hints come late. `claimed` resolves when
 * somebody has asked for a session.
 */
function silent(store: Store): { readonly store: Store; readonly claimed: Promise<void> } {
  const claimed = Promise.withResolvers<void>();
  const wrap = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        if (name === 'claim') claimed.resolve();
        if (name !== 'follow') return method.bind(target);
        return async function* (_session: string, _after: number, signal: AbortSignal) {
          await new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          );
        };
      },
    });
  const wrapped: Store = {
    description: store.description,
    admin: store.admin,
    for: (scope) => wrap(store.for(scope)),
    close: async () => undefined,
  };
  return { store: wrapped, claimed: claimed.promise };
}

/** An agent whose tool waits until it is told to go on. */
function holding() {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const hold = tool({
    name: 'hold',
    description: 'Waits',
    schema: z.object({}),
    execute: async () => {
      begun.resolve();
      await goOn.promise;
    },
  });
  const runnable = agent({
    name: 'holding',
    model: roundModel([{ toolCalls: [{ name: 'hold', args: {} }] }, { text: 'held' }]),
    tools: [hold],
  });
  return { runnable, begun: begun.promise, goOn: () => goOn.resolve() };
}

async function twoProcesses() {
  const store = memoryStore();
  const worker = holding();
  const first = runtime({ app: 'follow', store, recover: 'manual' });
  const running = first.run(worker.runnable, { session: 's', runId: 'run', input: 'Go' });
  await worker.begun;
  const other = holding();
  const { store: deaf, claimed } = silent(store);
  const second = runtime({
    app: 'follow',
    store: deaf,
    runnables: [other.runnable],
    recover: 'manual',
  });
  return { store, worker, running, other, second, claimed };
}

test(
  'an input that the holder has taken is answered by its run, also when that has ended ' +
    'before it was told',
  async () => {
    const { store, worker, running, other, second } = await twoProcesses();
    const told: string[] = [];
    const joining = second.run(other.runnable, {
      session: 's',
      input: 'And this',
      onStream: ({ type }) => void told.push(type),
    });
    for await (const event of store
      .for({ tenant: 'default', app: 'follow' })
      .follow('s', 0, new AbortController().signal)) {
      if (event.type === 'user' && event.text === 'And this') break;
    }
    worker.goOn();
    expect(await running).toMatchObject({ status: 'completed', output: 'held' });
    expect(await joining).toMatchObject({ status: 'completed', output: 'held', runId: 'run' });
    expect(told.at(-1)).toBe('invocation_end');
    expect(told.filter((type) => type === 'invocation_end')).toHaveLength(1);
    const { events } = await second.sessions.open({ id: 's' });
    expect(events.filter(({ type }) => type === 'invocation_start')).toHaveLength(1);
  },
);

test(
  'who continues a run that another process holds gets its result, also when it has ended ' +
    'before that was told',
  async () => {
    const { worker, running, second, claimed } = await twoProcesses();
    const joining = second.resume('s');
    await claimed;
    worker.goOn();
    expect(await running).toMatchObject({ status: 'completed', output: 'held' });
    expect(await joining).toMatchObject({ status: 'completed', output: 'held', runId: 'run' });
  },
);
