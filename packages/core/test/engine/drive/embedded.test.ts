import { runtime } from 'adjutant';
import { type EnginePlace, type EngineWork, embeddedEngine } from 'adjutant/ports';
import { engineContract } from 'adjutant/testing';
import { expect, test } from 'vitest';

await engineContract('embedded', async () => ({
  make: embeddedEngine,
  cleanup: async () => undefined,
}));

test('an app without the option has the embedded engine, which works once it is started', async () => {
  const app = runtime({ app: 'shop' });
  const health = { engine: 'embedded', status: 'stopped', message: 'it was not started' };
  expect(await app.recovery.health()).toEqual(health);
  await app.recovery.start();
  expect(await app.recovery.health()).toEqual({ engine: 'embedded', status: 'ok' });
  await app.close();
});

test.each([
  ['text', 'temporal'],
  ['an object without methods', { name: 'mine' }],
  ['an engine without a name', { ...embeddedEngine(), name: undefined }],
])('%s is no engine', (_, engine) => {
  expect(() => runtime({ app: 'shop', engine: engine as never })).toThrow(
    expect.objectContaining({
      code: 'invalid_runtime',
      message: expect.stringContaining('an engine such as temporalEngine()'),
    }),
  );
});

test('an app that takes no work by itself starts no engine', async () => {
  const app = runtime({ app: 'shop', recover: 'manual' });
  await app.recovery.start(embeddedEngine());
  expect(app.recovery.isAutomatic).toBe(false);
  expect((await app.recovery.health()).status).toBe('stopped');
  await app.close();
});

test('an engine that could not be started is started again', async () => {
  const inner = embeddedEngine();
  let starts = 0;
  const engine = {
    name: 'late',
    wake: () => inner.wake(),
    schedule: (at: number) => inner.schedule(at),
    cancel: (place: EnginePlace) => inner.cancel(place),
    health: () => inner.health(),
    stop: () => inner.stop(),
    start: async (work: EngineWork) => {
      starts += 1;
      if (starts === 1) throw new Error('The server is away.');
      await inner.start(work);
    },
  };
  const app = runtime({ app: 'shop', engine });
  await expect(app.recovery.start()).rejects.toThrow('The server is away.');
  expect(app.recovery.isAutomatic).toBe(false);
  await app.recovery.start();
  expect(app.recovery.isAutomatic).toBe(true);
  expect((await app.recovery.health()).status).toBe('ok');
  await app.close();
});
