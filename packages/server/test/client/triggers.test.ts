import { memoryStore } from 'adjutant';
import { action, cron, triggers as declared } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { impatient, serving } from './serving.ts';

test('a client makes a trigger, controls it, and reads its history', async () => {
  const tidy = action({ name: 'tidy', execute: () => 'tidied' });
  const { app, url } = await serving({
    store: memoryStore(),
    recover: 'manual',
    runnables: [tidy],
    triggers: declared(),
  });
  const { triggers } = impatient(url);
  const on = cron('0 8 * * *', { timeZone: 'Europe/Berlin' });
  const made = await triggers.create({ name: 'morning', on, start: 'tidy' });
  expect(made).toMatchObject({ name: 'morning', status: 'active', on });
  expect(await triggers.preview(on, { count: 1 })).toEqual([made.nextAt]);
  expect(await triggers.preview('morning', { count: 1 })).toEqual([made.nextAt]);
  expect(await triggers.update('morning', { input: 'Quietly.' })).toMatchObject({ revision: 2 });
  await triggers.pause('morning', { reason: 'Holidays' });
  await app.recovery.resumeStopped();
  expect(await triggers.list({ status: ['paused'] })).toMatchObject([{ name: 'morning' }]);
  await triggers.resume('morning');
  await triggers.fire('morning', { key: 'now' });
  await app.recovery.resumeStopped();
  await triggers.disable('morning');
  await app.recovery.resumeStopped();
  expect(await triggers.get('morning')).toMatchObject({ status: 'disabled', fired: 1 });
  await triggers.delete('morning');
  await app.recovery.resumeStopped();
  const history = await triggers.history('morning', { limit: 100 });
  expect(history.map(({ decision }) => decision)).toEqual(
    expect.arrayContaining(['delete', 'disable', 'fire', 'resume', 'pause', 'declare']),
  );
  await expect(triggers.get('none')).rejects.toMatchObject({ code: 'trigger_not_found' });
  await expect(triggers.preview({ kind: 'cron', pattern: 'often' })).rejects.toMatchObject({
    code: 'invalid_trigger',
  });
});
