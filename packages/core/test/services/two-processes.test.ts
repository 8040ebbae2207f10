import { memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { every, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { noting } from './desk.ts';

type Methods = Partial<Record<keyof LedgerStore, (given: readonly unknown[]) => Promise<unknown>>>;

/** A store whose methods do something else before or after their own work. */
function storeWith(store: Store, replaced: (own: LedgerStore) => Methods): Store {
  return {
    ...store,
    close: async () => undefined,
    for: (scope) => {
      const own = store.for(scope);
      const methods = replaced(own);
      return new Proxy(own, {
        get: (target, name) => {
          const method = Reflect.get(target, name) as unknown;
          const other = methods[name as keyof LedgerStore];
          if (other !== undefined) return (...given: readonly unknown[]) => other(given);
          return typeof method === 'function' ? (method.bind(target) as unknown) : method;
        },
      });
    },
  };
}

test('a trigger that another process has taken is made when the call returns', async () => {
  const store = memoryStore();
  const { made } = noting();
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const { promise: goOn, resolve: release } = Promise.withResolvers<void>();
  const options = { app: 'desk', runnables: [made], triggers: triggers() };
  const other: Runtime = runtime({
    ...options,
    recover: 'manual',
    store: storeWith(store, (own) => ({
      append: async (given) => {
        take();
        await goOn;
        return own.append(...(given as Parameters<LedgerStore['append']>));
      },
    })),
  });
  let working: Promise<unknown> | undefined;
  const app = runtime({
    ...options,
    recover: 'manual',
    store: storeWith(store, (own) => ({
      post: async (given) => {
        const receipt = await own.post(...(given as Parameters<LedgerStore['post']>));
        working ??= other.recovery.resumeStopped();
        await taken;
        return receipt;
      },
      turn: async ([session]) => {
        const found = await own.turn(session as string);
        release();
        return found;
      },
    })),
  });
  const found = await app.triggers.create({ name: 'hourly', on: every('1h'), start: 'note' });
  expect(found).toMatchObject({ name: 'hourly', status: 'active', revision: 1 });
  await working;
  await app.close();
  await other.close();
});

/** An app, and another one that does something right before the declaration of the first lands. */
function interrupted(act: (other: Runtime) => Promise<unknown>) {
  const store = memoryStore();
  const { made } = noting();
  const options = { app: 'desk', recover: 'manual', runnables: [made] } as const;
  const other = runtime({ ...options, store: storeWith(store, () => ({})), triggers: triggers() });
  let isArmed = false;
  const app = runtime({
    ...options,
    triggers: triggers(),
    store: storeWith(store, (own) => ({
      post: async (given) => {
        if (isArmed) await act(other);
        isArmed = false;
        return own.post(...(given as Parameters<LedgerStore['post']>));
      },
    })),
  });
  const arm = (): void => {
    isArmed = true;
  };
  const close = async (): Promise<void> => {
    await app.close();
    await other.close();
  };
  return { app, arm, close };
}

const hourly = { name: 'x', on: every('1h'), start: 'note' } as const;

test('a change does not make a trigger again that was deleted meanwhile', async () => {
  const { app, arm, close } = interrupted((other) => other.triggers.delete('x'));
  await app.triggers.create(hourly);
  arm();
  await expect(app.triggers.update('x', { input: 'new' })).rejects.toMatchObject({
    code: 'trigger_state',
    data: { status: 'deleted' },
  });
  expect(await app.triggers.list()).toEqual([]);
  await close();
});

test('of two changes at once, or two creations, one is refused', async () => {
  const changed = interrupted((other) => other.triggers.update('x', { queue: 'slow' }));
  await changed.app.triggers.create(hourly);
  changed.arm();
  const update = changed.app.triggers.update('x', { input: 'new' });
  await expect(update).rejects.toMatchObject({ code: 'trigger_state' });
  expect(await changed.app.triggers.get('x')).toMatchObject({ queue: 'slow', revision: 2 });
  await changed.close();
  const created = interrupted((other) => other.triggers.create({ ...hourly, queue: 'slow' }));
  created.arm();
  await expect(created.app.triggers.create(hourly)).rejects.toMatchObject({
    code: 'trigger_state',
  });
  expect(await created.app.triggers.get('x')).toMatchObject({ queue: 'slow', revision: 1 });
  await created.close();
});

test('the author and the reason of a creation are checked and recorded', async () => {
  const { app, close } = interrupted(async () => undefined);
  const wrong = { by: 'ann' };
  await expect(app.triggers.create(hourly, wrong)).rejects.toMatchObject({
    code: 'invalid_trigger',
  });
  await app.triggers.create(hourly, { by: 'user:ann', reason: 'For the report.' });
  await expect(app.triggers.update('x', { input: 'new' }, wrong)).rejects.toMatchObject({
    code: 'invalid_trigger',
  });
  expect((await app.triggers.history('x'))[0]).toMatchObject({
    by: 'user:ann',
    reasoning: 'The trigger "x" was created. For the report.',
  });
  await close();
});
