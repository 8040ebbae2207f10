import assert from 'node:assert/strict';
import type { DefineEngineTest } from './engine-under-test.ts';
import { asking, held, question } from './work.ts';

export function controlContract(define: DefineEngineTest): void {
  define('a cancel ends a run that waits', async ({ process }) => {
    const { app } = await process(asking);
    const task = await app.submit(asking, 'a');
    await question(app, task.session);
    await app.cancel(task.session);
    assert.equal((await task.wait()).status, 'cancelled');
  });

  define('a cancel ends a run that another process carries out', async ({ process, silent }) => {
    const { begun, job } = held();
    await process(job);
    const other = silent(job);
    const task = await other.submit(job, 'a');
    await begun;
    await other.cancel(task.session);
    assert.equal((await task.wait()).status, 'cancelled');
  });

  define('a cancel of a task that has not begun ends it', async ({ process, silent }) => {
    const { begun, job } = held();
    const other = silent(job);
    const task = await other.submit(job, 'a');
    await task.cancel();
    await process(job);
    assert.equal((await task.wait()).status, 'cancelled');
    let hasBegun = false;
    void begun.then(() => {
      hasBegun = true;
    });
    await Promise.resolve();
    assert.equal(hasBegun, false);
  });
}
