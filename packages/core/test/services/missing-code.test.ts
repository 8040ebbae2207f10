import { memoryStore, type Runtime, runtime, type Store } from 'adjutant';
import { testClock } from 'adjutant/testing';
import { condition, event, every, type Trigger, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { noting, work } from './desk.ts';

/** Processes of one app over one store, with triggers of their own. */
function fleet() {
  const clock = testClock(Date.UTC(2026, 0, 5));
  const store = memoryStore({ clock });
  const kept: Store = { ...store, close: async () => undefined };
  const note = noting();
  const made: Runtime[] = [];
  const processWith = (...declared: readonly Trigger[]): Runtime => {
    const app = runtime({
      ...{ app: 'desk', store: kept, recover: 'manual', ports: { clock } },
      ...{ runnables: [note.made], triggers: triggers(declared) },
    });
    made.push(app);
    return app;
  };
  const close = async (): Promise<void> => {
    for (const app of made) await app.close();
  };
  return { clock, close, processWith, seen: note.seen, start: note.made };
}

const seenData = (seen: readonly { readonly about?: unknown }[]): unknown[] =>
  seen.map(({ about }) => (about as { readonly data?: unknown } | undefined)?.data);

test('a process of older code, which has no check, leaves a condition to others', async () => {
  const { clock, close, processWith, seen, start } = fleet();
  const old = processWith(trigger({ name: 'x', on: event('a.*', () => true), start }));
  await work(old);
  const now = processWith(
    trigger({ name: 'x', on: condition(() => true, { every: '1m' }), start }),
  );
  await work(now);
  expect(seen).toHaveLength(1);
  clock.advance(60_000);
  // Comes to an end, and does nothing.
  await work(old);
  const checks = async (): Promise<number> =>
    (await now.triggers.history('x')).filter(({ decision }) => decision === 'check').length;
  expect(await checks()).toBe(1);
  clock.advance(60_000);
  await work(now);
  expect(await checks()).toBe(2);
  // Commands need no code.
  await old.triggers.pause('x');
  expect(await now.triggers.get('x')).toMatchObject({ status: 'paused' });
  await close();
});

test('an event waits for a process that has the filter of its trigger', async () => {
  const { clock, close, processWith, seen, start } = fleet();
  const on = { name: 'x', start, overlap: 'queue' } as const;
  const old = processWith(trigger({ ...on, on: event('a.*') }));
  const none = processWith();
  await work(old);
  const now = processWith(trigger({ ...on, on: event('a.*', ({ data }) => data !== 'no') }));
  await work(now);
  for (const data of ['no', 'yes']) await now.publish({ type: 'a.b', data });
  await work(none);
  await work(old);
  expect(seen).toEqual([]);
  clock.advance(60_000);
  await work(now);
  expect(seenData(seen)).toEqual(['yes']);
  await close();
});

test('a trigger whose functions are taken away goes on without them', async () => {
  const { clock, close, processWith, seen, start } = fleet();
  const on = { name: 'x', start, overlap: 'queue' } as const;
  const old = processWith(trigger({ ...on, on: event('a.*', () => true) }));
  await work(old);
  await old.publish({ type: 'a.b', data: 1 });
  await old.recovery.resumeStopped();
  // The work of the firing ends in another process, which has another revision.
  const now = processWith(trigger({ ...on, on: event('a.*') }));
  await work(now);
  await now.publish({ type: 'a.b', data: 2 });
  await work(now);
  expect(seenData(seen)).toEqual([1, 2]);
  const scheduled = processWith(trigger({ ...on, on: every('1h') }));
  await work(scheduled);
  clock.advance(3_600_000);
  await work(scheduled);
  expect(seen).toHaveLength(3);
  await close();
});

test('a filter that gives no answer at once has failed', async () => {
  const { close, processWith, seen, start } = fleet();
  const slow = (async () => false) as unknown as () => boolean;
  const app = processWith(trigger({ name: 'x', on: event('a.*', slow), start }));
  await work(app);
  await app.publish({ type: 'a.b' });
  await work(app);
  expect(seen).toEqual([]);
  expect((await app.triggers.history('x'))[0]).toMatchObject({
    decision: 'refuse',
    reasoning: expect.stringContaining('true or false'),
    data: { reason: 'filter_failed' },
  });
  await close();
});
