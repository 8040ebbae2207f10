import { memoryStore, runtime } from 'adjutant';
import { expect, test } from 'vitest';
import { charging, cutOff, noCharges } from '../../effects/cut-off-effect.ts';

/** An app whose run has failed because an effect was cut off in another process. */
async function failed() {
  const store = memoryStore();
  await cutOff(store);
  const app = runtime({
    app: 'shop',
    store,
    runnables: [charging(noCharges())],
    recover: 'manual',
  });
  return { app, result: await app.resume('s') };
}

test('the error of an effect that was cut off says how to go on', async () => {
  const { result } = await failed();
  expect(result.error?.message).toBe(
    'It is not known whether the effect "charge" took place: the process stopped ' +
      'while it was under way. Find out under its idempotency key and tell it with ' +
      "`app.sessions.resolveUnknown(session, 'run/charge', { happened })`, or give the effect a " +
      '`recovery`. Then reopen the run.',
  );
  expect(result.error?.data).toMatchObject({
    callId: 'run/charge',
    idempotencyKey: expect.any(String),
  });
});

test('what it says works: told, reopened, continued', async () => {
  const { app, result } = await failed();
  const callId = String(result.error?.data?.['callId']);
  await app.sessions.resolveUnknown('s', callId, { happened: true, result: 'ch_1' });
  await app.sessions.reopen('s', { reason: 'The provider was asked.' });
  expect(await app.resume('s')).toMatchObject({ status: 'completed', output: 'ch_1' });
});

test('telling it again is refused with the reason', async () => {
  const { app } = await failed();
  const tell = () => app.sessions.resolveUnknown('s', 'run/charge', { happened: true });
  await tell();
  await expect(tell()).rejects.toThrow(
    'somebody has told it already: reopen the run, and it counts',
  );
});

test('an id that is that of no effect is refused, not taken in silence', async () => {
  const { app } = await failed();
  await expect(app.sessions.resolveUnknown('s', 'run/mail', { happened: true })).rejects.toThrow(
    'the session has no call or effect with this id',
  );
});

test('reopening needs a reason, and says so where nothing checks types', async () => {
  const { app } = await failed();
  const reopen = app.sessions.reopen.bind(app.sessions) as (id: string) => Promise<unknown>;
  await expect(reopen('s')).rejects.toThrow(
    'The session cannot be reopened: `reason` is missing, and the ledger says why: ' +
      'reopen(session, { reason }).',
  );
});
