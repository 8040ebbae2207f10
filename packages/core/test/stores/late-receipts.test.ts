import { memoryStore, runtime, type Store, step } from 'adjutant';
import { systemHost } from 'adjutant/ports';
import { testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';

const scope = { tenant: 'default', app: 'receipts' };

/** A store whose answers to posts wait on their way for as long as `late` says. */
function lateStore(inner: Store, late: { ms: number }, pass: (ms: number) => void): Store {
  return {
    ...inner,
    for: (of) => {
      const ledgers = inner.for(of);
      return new Proxy(ledgers, {
        get: (target, name) => {
          const method = Reflect.get(target, name, target) as unknown;
          if (typeof method !== 'function') return method;
          if (name !== 'post') return method.bind(target) as unknown;
          return async (...asked: unknown[]) => {
            const receipt: unknown = await Reflect.apply(method, target, asked);
            pass(late.ms);
            return receipt;
          };
        },
      });
    },
  };
}

test('a late answer of the store does not set the clock of a process back', async () => {
  const clock = testClock();
  const inner = memoryStore({ clock });
  const late = { ms: 0 };
  const store = lateStore(inner, late, (ms) => clock.advance(ms));
  const done = step({ name: 'done', execute: (ctx) => ctx.complete('done') });
  const host = { ...systemHost, clock };
  const app = runtime({ ...scope, store, runnables: [done], recover: 'manual', ports: { host } });
  await app.run(done, { session: 's' });
  await app.send('s', 'one');
  late.ms = 55_000;
  await app.send('s', 'two');
  const now = clock.now();
  await app.send('s', 'three');
  const inbox = await inner.for(scope).inbox('s');
  expect(inbox.map(({ at }) => now - at)).toEqual([55_000, 55_000, 0]);
  await app.close();
});
