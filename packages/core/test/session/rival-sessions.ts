import { memoryStore, type Runnable, runtime, type Store } from 'adjutant';
import { z } from 'zod';

export const stateSchema = {
  session: {},
  user: { n: z.number(), limit: z.number(), notes: z.array(z.string()) },
};

/**
 * A session that knows the shared n = 1, and another one that adds 10 to it without the first one
 * seeing that.
 */
export async function rivals(store: Store = memoryStore(), runnables: readonly Runnable[] = []) {
  const app = runtime({ app: 'updates', store, stateSchema, runnables });
  const mine = await app.sessions.open({ id: 'mine', userId: 'u', stateSchema });
  mine.state.user.n = 1;
  await mine.flush();
  const other = await app.sessions.open({ id: 'other', userId: 'u', stateSchema });
  const interfere = async (): Promise<void> => {
    await other.observeShared();
    other.state.user.n = (other.state.user.n ?? 0) + 10;
    await other.flush();
  };
  const stored = async (): Promise<number | undefined> =>
    (await store.for({ tenant: 'default', app: 'updates' }).readShared('user', 'u'))['n']
      ?.value as number;
  return { app, mine, other, interfere, stored };
}

export const increment = (n = 0): number => n + 1;
