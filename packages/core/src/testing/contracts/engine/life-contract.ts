import assert from 'node:assert/strict';
import type { DefineEngineTest } from './engine-under-test.ts';
import { counted, held } from './work.ts';

export function lifeContract(define: DefineEngineTest): void {
  define('health tells that wakes arrive, and that it was stopped', async ({ process }) => {
    const { app, engine } = await process(counted().job);
    assert.deepEqual(await engine.health(), { engine: engine.name, status: 'ok' });
    assert.deepEqual(await app.recovery.health(), await engine.health());
    await app.close();
    const { engine: name, message, status } = await engine.health();
    assert.deepEqual([name, status], [engine.name, 'stopped']);
    assert.equal(typeof message, 'string');
  });

  define('an engine that was stopped takes no wakes, and can be stopped again', async (test) => {
    const { app, engine } = await test.process(counted().job);
    await app.close();
    engine.wake();
    engine.wake({ tenant: 'default', session: 's' });
    engine.schedule(0);
    engine.cancel({ tenant: 'default', session: 's' });
    await engine.stop();
    assert.equal((await engine.health()).status, 'stopped');
  });

  define('what one process leaves open goes on in another', async ({ process, silent }) => {
    const { begun, job, letEnd } = held();
    const other = silent(job);
    const one = await process(job);
    const task = await other.submit(job, 'a');
    await begun;
    await one.app.close();
    letEnd();
    await process(job);
    assert.equal((await task.wait()).status, 'completed');
  });

  define('another engine is refused once one has started', async ({ process }) => {
    const [one, two] = [await process(counted().job), await process(counted().job)];
    await assert.rejects(one.app.recovery.start(two.engine), { code: 'invalid_runtime' });
    await one.app.recovery.start(one.engine);
  });
}
