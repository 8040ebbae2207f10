// Works on a store that this process may only read; prints what came of it.
import { runtime, step } from 'adjutant';
import { exportLedger } from 'adjutant/replay';
import { sqlite } from 'adjutant/sqlite';

const noop = step({ name: 'noop', execute: (ctx) => ctx.complete(1) });
const app = runtime({
  app: 'reading',
  store: sqlite(process.argv[2]),
  runnables: [noop],
  recover: 'manual',
});
const said = {};
const attempt = async (name, work) => {
  said[name] = await work().then(
    (value) => value,
    (error) => ({ code: error.code, message: error.message }),
  );
};
await attempt('list', async () => (await app.sessions.list()).sessions.length);
await attempt('read', async () => (await app.sessions.open({ id: 's' })).events.length);
await attempt(
  'export',
  async () => typeof (await exportLedger(await app.sessions.open({ id: 's' }))),
);
await attempt('write', async () => (await app.run(noop, { session: 's', runId: 'again' })).status);
await app.close().catch(() => undefined);
console.log(JSON.stringify(said));
