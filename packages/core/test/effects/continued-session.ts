import { type Event, memoryStore, type Runnable, runtime } from 'adjutant';
import { testClock } from 'adjutant/testing';

/**
 * A session that a process has left right after the last of these events, given to another process.
 */
export async function continueAfter(
  runnable: Runnable,
  events: readonly Event[],
  clock = testClock(Date.UTC(2026, 1, 1)),
) {
  const app = runtime({
    app: 'effects',
    store: memoryStore(),
    runnables: [runnable],
    ports: { clock },
  });
  await app.sessions.restore({ app: 'effects', id: 's', events });
  return { app, clock, running: app.resume('s') };
}

export const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));

export const http = (status: number) =>
  Promise.reject(Object.assign(new Error(`HTTP ${status}`), { status }));
