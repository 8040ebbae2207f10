import { every, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, hourMs, noting, work } from './desk.ts';

test('a question about a trigger of code makes none for another tenant', async () => {
  const { made, seen } = noting();
  const { app, clock } = desk({
    tenants: true,
    triggers: triggers([trigger({ name: 'hourly', on: every('1h'), start: made })]),
  });
  await work(app);
  const other = app.tenants.get('other').triggers;
  const unknown = { code: 'trigger_not_found' };
  await expect(other.get('hourly')).rejects.toMatchObject(unknown);
  await expect(other.history('hourly')).rejects.toMatchObject(unknown);
  await expect(other.fire('hourly')).rejects.toMatchObject(unknown);
  await app.tenants.get('other').recovery.resumeStopped();
  clock.advance(hourMs);
  await work(app);
  expect(seen).toHaveLength(1);
  expect(await other.list()).toEqual([]);
  await app.close();
});
