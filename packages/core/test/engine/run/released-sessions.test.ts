import { setImmediate as turn } from 'node:timers/promises';
import { agent, memoryStore, type PubSub, runtime, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { pubSub } from '../../pub-sub.ts';

/** Less than the time between two looks of recovery. */
const mostMs = 900;

/**
 * Lets time pass until something holds. Returns whether it came before recovery looks by itself.
 */
async function comes(holds: () => boolean): Promise<boolean> {
  for (let ms = 0; ms < mostMs; ms++) {
    if (holds()) return true;
    vi.advanceTimersByTime(1);
    await turn();
  }
  return holds();
}

/** Two processes of an app: the tool of the first one waits until the run is stopped. */
function twoProcesses(pubsub: () => { readonly pubsub?: PubSub }) {
  const store = memoryStore();
  const process = (recover: 'auto' | 'manual') => {
    const wait = tool({
      name: 'wait',
      description: 'Waits',
      schema: z.object({}),
      execute: ({ signal }) =>
        new Promise<string>((resolve) =>
          signal.addEventListener('abort', () => resolve('stopped')),
        ),
    });
    const model = roundModel([{ toolCalls: [{ name: 'wait' }] }, { text: 'Done.' }]);
    const waiter = agent({ name: 'waiter', model, tools: [wait] });
    return {
      waiter,
      model,
      app: runtime({ app: 'test', store, runnables: [waiter], recover, ...pubsub() }),
    };
  };
  return { first: process('manual'), second: process('auto') };
}

test.each([
  ['with a pub/sub at once', true],
  ['without one when it looks again', false],
])('a run that one process gives back is taken up by another one, %s', async (_when, hasPubSub) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const shared = pubSub();
  // Each process has its own connection.
  const { first, second } = twoProcesses(() => (hasPubSub ? { pubsub: { ...shared } } : {}));
  try {
    // The first look of the second process finds nothing.
    expect(await comes(() => false)).toBe(false);
    vi.advanceTimersByTime(5_000);
    await turn();
    const run = first.app.run(first.waiter, { session: 's', input: 'Go' });
    run.catch(() => undefined);
    const seen: string[] = [];
    run.listen(({ type }) => void seen.push(type));
    expect(await comes(() => seen.includes('tool_attempt'))).toBe(true);
    run.stop();
    expect(await comes(() => second.model.calls.length === 1)).toBe(hasPubSub);
    vi.advanceTimersByTime(5_000);
    while (second.model.calls.length === 0) await turn();
  } finally {
    vi.useRealTimers();
    await second.app.close();
    await first.app.close();
  }
});
