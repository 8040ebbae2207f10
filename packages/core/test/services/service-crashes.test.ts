import { memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import { type Channel, notifications } from 'adjutant/notifications';
import { crashingStore, testClock } from 'adjutant/testing';
import { action, event, every, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { hourMs, work } from './desk.ts';

/** Effects outside the app, which no stop of a process undoes. */
class Outside {
  readonly keys = new Set<string>();
  readonly instants: number[] = [];
  readonly notices = new Map<string, string>();
}

/** A process of the app, with definitions of its own. */
function processOn(store: Store, outside: Outside, clock: ReturnType<typeof testClock>): Runtime {
  const note = action({
    name: 'note',
    effect: { recovery: 'rerun' },
    execute: ({ instant }, { idempotencyKey }) => {
      if (!outside.keys.has(idempotencyKey)) outside.instants.push(instant);
      outside.keys.add(idempotencyKey);
      return 'noted';
    },
  });
  const channel: Channel = {
    name: 'mail',
    idempotent: true,
    send: async ({ title }, { idempotencyKey }) => {
      outside.notices.set(idempotencyKey, title);
      return { channel: 'mail' };
    },
  };
  const retry = { notify: { user: 'ann' } };
  return runtime({
    app: 'desk',
    store,
    recover: 'manual',
    ports: { clock },
    lease: { ttlMs: 30_000 },
    notifications: notifications({ channels: [channel], intervalMs: 0 }),
    triggers: triggers([
      trigger({ name: 'hourly', on: every('1h'), start: note, overlap: 'queue', ...retry }),
      trigger({ name: 'on-mail', on: event('mail.*'), start: note, overlap: 'queue' }),
    ]),
  });
}

const writes: ReadonlySet<string | symbol> = new Set([
  ...['append', 'post', 'sent', 'release', 'claim', 'take', 'settle'],
]);

/** A store whose process stops at one of its writes, of whatever kind, before or after it. */
function stoppingStore(given: Store, number: number, when: 'before' | 'after') {
  const line = crashingStore(given);
  let count = 0;
  const over = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function' || !writes.has(name)) return method;
        return async (...args: readonly unknown[]) => {
          const isLast = ++count === number;
          if (isLast && when === 'before') void line.crash();
          const answer = (await Reflect.apply(method, target, args)) as unknown;
          if (isLast) await line.crash();
          return line.isGone ? new Promise<never>(() => undefined) : answer;
        };
      },
    });
  const { store } = line;
  const stopping: Store = {
    description: store.description,
    admin: over(store.admin),
    for: (scope) => over(store.for(scope)),
    close: async () => undefined,
  };
  return { line, store: stopping };
}

/** Lets a process stop at one of its writes, and another one do what is left. */
async function stoppedAt(number: number, when: 'before' | 'after') {
  const clock = testClock(Date.UTC(2026, 0, 5, 8));
  const store = memoryStore({ clock });
  const outside = new Outside();
  const front = processOn(store, outside, clock);
  await work(front);
  const { line, store: stopping } = stoppingStore(store, number, when);
  const first = processOn(stopping, outside, clock);
  clock.advance(hourMs);
  const whole = async (): Promise<void> => {
    await first.publish({ type: 'mail.received', id: 'mail-1' });
    await work(first);
  };
  // A process that has stopped is never answered.
  await Promise.race([line.crashed, whole()]);
  const wasStopped = line.isGone;
  clock.advance(60_000);
  // The publisher, who got no answer, publishes again.
  await front.publish({ type: 'mail.received', id: 'mail-1' });
  await work(front);
  clock.advance(hourMs - 60_000);
  await work(front);
  const started = Date.UTC(2026, 0, 5, 8);
  const hourly = outside.instants.filter((at) => (at - started) % hourMs === 0 && at > started);
  const history = await front.triggers.history('hourly');
  const fired = history.filter(({ decision }) => decision === 'fire');
  const onMail = await front.triggers.get('on-mail');
  await front.close();
  return { fired, hourly, onMail, outside, started, wasStopped };
}

test.each(['before', 'after'] as const)(
  'each firing, event and notice happens once, wherever a process stops %s a write',
  async (when) => {
    let stops = 0;
    for (let number = 1; ; number++) {
      const { fired, hourly, onMail, outside, started, wasStopped } = await stoppedAt(number, when);
      if (!wasStopped) break;
      stops += 1;
      const place = `${when} write ${number}`;
      expect([place, ...new Set(hourly)]).toEqual([place, started + hourMs, started + 2 * hourMs]);
      expect([place, fired.length, onMail.fired]).toEqual([place, 2, 1]);
      // Two of the hourly one, one of the mail: none twice under another key.
      expect([place, outside.keys.size]).toEqual([place, 3]);
      expect([place, [...outside.notices.values()]]).toEqual([
        place,
        ['"hourly" is done', '"hourly" is done'],
      ]);
    }
    expect(stops).toBeGreaterThan(40);
  },
);
