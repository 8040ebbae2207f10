import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtime, step } from 'adjutant';
import { eventually } from 'adjutant/testing';
import { expect, test, vi } from 'vitest';
import { startTemporal } from '../../../scripts/temporal-server.ts';
import { temporalEngine } from '../src/index.ts';

test('wakes survive a server that is killed, and health says what is wrong', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'temporal-')), 'server.db');
  const server = await startTemporal({ file });
  const executed: string[] = [];
  const job = step({
    name: 'job',
    execute: (ctx) => {
      executed.push(ctx.message ?? '');
      return ctx.complete('done');
    },
  });
  const engine = temporalEngine({ address: server.url, sweepMs: 1_000, connectTimeoutMs: 1_000 });
  const app = runtime({ app: 'shop', runnables: [job] });
  await app.recovery.start(engine);
  await (await app.submit(job, 'before')).wait();

  await server.kill();
  const tasks = [await app.submit(job, 'one'), await app.submit(job, 'two')];
  await eventually(() => engine.metrics.waiting > 0, { what: 'A wake that waits' });
  const { message, status, waiting } = await engine.health();
  expect(status).toBe('degraded');
  expect(message).toContain(`the Temporal server at ${server.url} does not answer`);
  expect(waiting).toBeGreaterThan(0);
  expect(executed).toEqual(['before']);

  const again = await startTemporal({ file, port: server.port });
  for (const task of tasks) expect((await task.wait()).status).toBe('completed');
  expect([...executed].sort()).toEqual(['before', 'one', 'two']);
  await vi.waitFor(async () => expect((await engine.health()).status).toBe('ok'), 30_000);
  await app.close();
  await again.stop();
});
