import { every, trigger, triggers } from 'adjutant/triggers';
import { expect, test } from 'vitest';
import { desk, hourMs, noting, work } from './desk.ts';

test('no door opens the session of a service', async () => {
  const { made } = noting();
  const { app, clock, store } = desk({
    runnables: [made],
    triggers: triggers([trigger({ name: 'hourly', on: every('1h'), start: made })]),
  });
  await work(app);
  clock.advance(hourMs);
  await work(app);
  const listed = await store.for({ tenant: 'default', app: 'desk' }).list();
  const [service] = listed.filter(({ id }) => id.startsWith('service:'));
  const id = service?.id ?? '';
  expect(id).not.toBe('');
  const doors: readonly (() => unknown)[] = [
    () => app.run(made, { session: id, input: 'x' }),
    () => app.resume(id),
    () => app.submit(made, 'x', { session: id }),
    () => app.send(id, 'x'),
    () => app.cancel(id),
    () => app.pause(id),
    () => app.sessions.open({ id }),
    () => app.sessions.create({ id }),
    () => app.sessions.find(id),
    () => app.sessions.stateAt(id),
    () => app.sessions.fork(id),
    () => app.sessions.delete(id),
    () => app.sessions.grant(id, ['fs:write']),
    () => app.sessions.events(id).next(),
    () => app.follow(id).next(),
  ];
  await expect(app.submit(made, 'x', { queue: 'service:' })).rejects.toThrow('another name');
  for (const door of doors)
    await expect((async () => door())()).rejects.toMatchObject({ code: 'reserved_session' });
  const { sessions } = await app.sessions.list();
  expect(sessions.map((one) => one.id.split('-')[0])).toEqual(['task']);
  await app.close();
});
