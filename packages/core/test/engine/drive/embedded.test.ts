import { runtime } from 'adjutant';
import { embeddedEngine } from 'adjutant/ports';
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
