import { at, every, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, hourMs, noting, work } from './desk.ts';

test('firings by hand that wait start in turn, also when the trigger has completed', async () => {
  const { made, seen } = noting();
  const start = Date.UTC(2026, 0, 5);
  const { app, clock } = desk(
    {
      triggers: triggers([
        trigger({ name: 'once', on: at(start + 1_000), start: made, overlap: 'queue' }),
      ]),
    },
    start,
  );
  await work(app);
  clock.advance(1_000);
  await work(app);
  for (let fired = 0; fired < 3; fired++) await app.triggers.fire('once');
  await work(app);
  expect(await app.triggers.get('once')).toMatchObject({ status: 'completed', queued: 0 });
  expect(seen).toHaveLength(4);
  await app.close();
});

test('a paused trigger starts what is fired by hand, and nothing else that waits', async () => {
  const { made, seen } = noting();
  const { app, clock } = desk({
    triggers: triggers([
      trigger({ name: 'hourly', on: every('1h'), start: made, overlap: 'queue' }),
    ]),
  });
  await work(app);
  await app.triggers.fire('hourly');
  clock.advance(hourMs);
  // Both wait: this one, and that which has become due.
  await app.triggers.fire('hourly');
  await app.triggers.pause('hourly');
  expect(await app.triggers.get('hourly')).toMatchObject({ status: 'paused', queued: 2 });
  await work(app);
  expect(seen.map(({ kind }) => kind)).toEqual(['manual', 'manual']);
  await app.triggers.resume('hourly');
  await work(app);
  expect(seen.map(({ kind }) => kind)).toEqual(['manual', 'manual', 'schedule']);
  await app.close();
});

test('work of a deleted trigger is no failure of another one of its name', async () => {
  const { made } = noting();
  const { app } = desk({ runnables: [made], triggers: triggers() });
  const hourly = { name: 'hourly', on: every('1h'), start: 'note' } as const;
  await app.triggers.create(hourly);
  await app.triggers.fire('hourly');
  await app.triggers.delete('hourly');
  await app.triggers.create(hourly);
  await work(app);
  expect(await app.triggers.get('hourly')).toMatchObject({ fired: 0, failed: 0 });
  await app.close();
});

test('a key that has fired a deleted trigger fires another one of its name', async () => {
  const { made, seen } = noting();
  const { app, clock } = desk({ runnables: [made], triggers: triggers() });
  const hourly = { name: 'hourly', on: every('1h'), start: 'note' } as const;
  for (let lives = 0; lives < 2; lives++) {
    await app.triggers.create(hourly);
    for (let asked = 0; asked < 2; asked++) await app.triggers.fire('hourly', { key: 'one' });
    await work(app);
    await app.triggers.delete('hourly');
    clock.advance(1_000);
  }
  expect(seen).toHaveLength(2);
  await app.close();
});
