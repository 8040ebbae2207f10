import {
  agent,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  runtime,
  step,
  tool,
} from 'adjutant';
import { roundModel, testClock } from 'adjutant/testing';

/** Milliseconds by which each level counts as older than the next one. */
export const levelMs = 300_000;

/** Jobs that note their messages, and wait while these are held. */
export function jobs(onRun: () => unknown = () => undefined) {
  const ran: string[] = [];
  const held = new Map<string, PromiseWithResolvers<void>>();
  const job = step({
    name: 'job',
    execute: async (ctx) => {
      const message = ctx.message ?? '';
      ran.push(message);
      onRun();
      await held.get(message)?.promise;
      return ctx.complete(`did ${message}`);
    },
  });
  return {
    job,
    ran,
    hold: (message: string): void => void held.set(message, Promise.withResolvers()),
    free: (message: string): void => held.get(message)?.resolve(),
  };
}

/** An agent of so many rounds, which calls back in each but the last. */
export function rounds(name: string, count: number, onRound: (round: number) => unknown) {
  let round = 0;
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    recovery: 'rerun',
    execute: async () => {
      round += 1;
      await onRound(round);
      return 'seen';
    },
  });
  const calls = Array.from({ length: count - 1 }, (_, i) => ({
    toolCalls: [{ name: 'look', args: { i } }],
  }));
  return agent({ name, model: roundModel([...calls, { text: `${name} is done` }]), tools: [look] });
}

/** An app of one place, on a clock that the test moves. */
export function desk(options: Partial<RuntimeOptions> = {}) {
  const clock = testClock();
  const store = memoryStore({ clock });
  const app = runtime({
    app: 'desk',
    store,
    ports: { clock },
    lease: { ttlMs: 100 * levelMs },
    work: { slots: 1 },
    ...options,
  });
  return { app, clock, store };
}

export async function reaches(app: Runtime, id: string, state: string): Promise<void> {
  while ((await app.tasks.get(id)).state !== state) await new Promise(setImmediate);
}

/** Scheduler decisions of a session, by their names. */
export async function decisionsOf(app: Runtime, session: string): Promise<readonly string[]> {
  const { events } = await app.sessions.open({ id: session });
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'scheduler' ? [event.decision] : [],
  );
}
