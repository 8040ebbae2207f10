import { memoryStore, runtime } from 'adjutant';
import { condition, every, trigger, triggers } from 'adjutant/triggers';
import { describe, expect, test } from 'vitest';
import { noting } from '../services/desk.ts';

/** Checks that never end by themselves, and the moment at which the first begins. */
function hangingCheck() {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  let checks = 0;
  const check = (): Promise<boolean> => {
    checks += 1;
    resolve();
    return new Promise(() => undefined);
  };
  return { begun, check, checks: () => checks };
}

function checkingApp(store = memoryStore(), recover: 'auto' | 'manual' = 'auto') {
  const { begun, check, checks } = hangingCheck();
  const drop = trigger({
    name: 'drop',
    on: condition(check, { every: '1m' }),
    start: noting().made,
  });
  const app = runtime({ app: 'desk', store, recover, triggers: triggers([drop]) });
  return { app, begun, checks };
}

describe('a trigger', () => {
  test('is paused when the call returns, also while its condition is being checked', async () => {
    const { app, begun, checks } = checkingApp();
    await begun;
    await app.triggers.pause('drop', { reason: 'Holidays' });
    expect(await app.triggers.get('drop')).toMatchObject({ status: 'paused' });
    // The check that was ended does not count.
    const history = await app.triggers.history('drop');
    expect(history.map(({ decision }) => decision)).toEqual(['pause', 'declare']);
    expect(checks()).toBe(1);
    await app.close();
  });

  test('is disabled or deleted in the same way', async () => {
    for (const [command, status] of [
      ['disable', 'disabled'],
      ['delete', 'deleted'],
    ] as const) {
      const { app, begun } = checkingApp();
      await begun;
      await app.triggers[command]('drop');
      expect(await app.triggers.get('drop')).toMatchObject({ status });
      await app.close();
    }
  });

  test('is resumed when the call returns, and its first check goes on after that', async () => {
    const { app, begun, checks } = checkingApp();
    await begun;
    await app.triggers.pause('drop');
    await app.triggers.resume('drop');
    expect(await app.triggers.get('drop')).toMatchObject({ status: 'active' });
    // Many callers, also when one of them ends the check that another one has caused.
    await Promise.all([app.triggers.disable('drop'), app.triggers.fire('drop')]);
    await app.triggers.resume('drop');
    await app.triggers.fire('drop', { key: 'now' });
    expect(await app.triggers.get('drop')).toMatchObject({ status: 'active' });
    const history = await app.triggers.history('drop');
    expect(history.map(({ decision }) => decision)).toContain('resume');
    expect(checks()).toBeGreaterThan(1);
    await app.close();
  });

  test('that code declares is there without its first check', async () => {
    const { app, checks } = checkingApp(memoryStore(), 'manual');
    expect(await app.triggers.get('drop')).toMatchObject({ status: 'active', revision: 1 });
    expect(checks()).toBe(1);
    await app.close();
  });

  test('is paused later when another process keeps it: the command is stored', async () => {
    const store = memoryStore();
    const kept = { ...store, close: async () => undefined };
    const { app, begun } = checkingApp(kept);
    await begun;
    const other = runtime({
      ...{ app: 'desk', store, recover: 'manual' },
      triggers: triggers([
        trigger({
          name: 'drop',
          on: condition(() => false, { every: '1m' }),
          start: noting().made,
        }),
      ]),
    });
    await other.triggers.pause('drop');
    expect(await other.triggers.get('drop')).toMatchObject({ status: 'active' });
    await app.close();
    await other.recovery.resumeStopped();
    expect(await other.triggers.get('drop')).toMatchObject({ status: 'paused' });
    await other.close();
  });

  test('is there and changed when the call returns, however many are made at once', async () => {
    const { made } = noting();
    const app = runtime({
      ...{ app: 'desk', store: memoryStore(), recover: 'auto' },
      ...{ runnables: [made], triggers: triggers() },
    });
    const names = Array.from({ length: 50 }, (_, i) => `trigger-${i}`);
    const statuses = await Promise.all(
      names.map(async (name) => {
        await app.triggers.create({ name, on: every('1h'), start: 'note' });
        await app.triggers.pause(name);
        const { revision, status } = await app.triggers.update(name, { on: every('2h') });
        return [revision, status];
      }),
    );
    expect(statuses).toEqual(names.map(() => [2, 'paused']));
    await app.close();
  });
});
