import { memoryStore, runtime } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { expect, test } from 'vitest';

test('a process that was stopped for a while learns by a claim that it has lost its session', async () => {
  let later = 0;
  const store = memoryStore({ clock: { ...systemClock, now: () => systemClock.now() + later } });
  const open = () => runtime({ app: 'shop', store }).sessions.open({ id: 'work' });
  const mine = await open();
  mine.addMessage('Hello');
  await mine.flush();
  await mine.claim();
  await mine.claim();
  const isBusy = { code: 'session_busy' };
  await expect((await open()).claim()).rejects.toMatchObject(isBusy);
  // An hour later the lease is over.
  later = 3_600_000;
  const theirs = await open();
  await theirs.claim();
  await expect(mine.claim()).rejects.toMatchObject({ code: 'ledger_conflict' });
});
