import assert from 'node:assert/strict';
import { step } from '../../../runnables/step.ts';
import type { DefineEngineTest } from './engine-under-test.ts';
import { asking, counted, question } from './work.ts';

export function wakeContract(define: DefineEngineTest): void {
  define('a submitted task is carried out', async ({ process }) => {
    const { executed, job } = counted();
    const { app } = await process(job);
    const task = await app.submit(job, 'a');
    assert.equal((await task.wait()).status, 'completed');
    assert.deepEqual(executed, ['a']);
  });

  define('an answer continues the run that waits for it', async ({ process }) => {
    const { app } = await process(asking);
    const task = await app.submit(asking, 'a');
    await app.requests.answer(await question(app, task.session), { input: 'Ann' });
    const { output, status } = await task.wait();
    assert.deepEqual([status, output], ['completed', 'Ann']);
  });

  define('wakes that come twice carry out nothing twice', async ({ process }) => {
    const { executed, job } = counted();
    const [one, two] = [await process(job), await process(job)];
    const tasks = [];
    for (let number = 0; number < 10; number++) {
      const task = await one.app.submit(job, `${number}`);
      const place = { tenant: one.app.tenant, session: task.session };
      for (const { engine } of [one, two, one, two]) {
        engine.wake(place);
        engine.wake(place, { level: 4, isQueued: true });
        engine.wake();
      }
      tasks.push(task);
    }
    for (const task of tasks) assert.equal((await task.wait()).status, 'completed');
    assert.deepEqual([...executed].sort(), [...'0123456789']);
  });

  define('a wake of what does not exist, or has nothing to do, is ignored', async ({ process }) => {
    const { executed, job } = counted();
    const { app, engine } = await process(job);
    const { session } = await (await app.submit(job, 'a')).wait();
    engine.wake({ tenant: app.tenant, session });
    engine.wake({ tenant: app.tenant, session: 'nobody' });
    engine.wake({ tenant: 'nobody', session: 'nobody' });
    engine.cancel({ tenant: app.tenant, session });
    assert.equal((await (await app.submit(job, 'b')).wait()).status, 'completed');
    assert.deepEqual(executed, ['a', 'b']);
    assert.equal((await engine.health()).status, 'ok');
  });
}

/** Work that is found, and times that come. */
export function timeContract(define: DefineEngineTest): void {
  define('work that no engine was told of is found', async ({ process, silent }) => {
    const { executed, job } = counted();
    await process(job);
    const task = await silent(job).submit(job, 'a');
    assert.equal((await task.wait()).status, 'completed');
    assert.deepEqual(executed, ['a']);
  });

  define('a run that sleeps goes on at its time', async ({ process }) => {
    const sleeper = step({
      name: 'sleeper',
      execute: async (ctx) => {
        await ctx.sleep('pause', 200);
        return ctx.complete('awake');
      },
    });
    const { app } = await process(sleeper);
    const { output, status } = await (await app.submit(sleeper, 'a')).wait();
    assert.deepEqual([status, output], ['completed', 'awake']);
  });

  define('times that have passed, and those of nothing, do no harm', async ({ process }) => {
    const { executed, job } = counted();
    const { app, engine } = await process(job);
    const task = await app.submit(job, 'a');
    const place = { tenant: app.tenant, session: task.session };
    engine.schedule(0);
    engine.schedule(0, place);
    engine.schedule(Date.now() + 50, { tenant: app.tenant, session: 'nobody' });
    assert.equal((await task.wait()).status, 'completed');
    assert.deepEqual(executed, ['a']);
  });
}
