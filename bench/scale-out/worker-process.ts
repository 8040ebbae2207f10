/**
 * A worker process of the scale-out benchmark: `worker-process.ts <url> <schema>`. It begins at a
 * message, and tells what it has used when it is asked to end.
 */
import { once } from 'node:events';
import { runtime } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { appName, connections, nothing, slots, type Used } from './place.ts';

const [, , url = '', schema = ''] = process.argv;
let statements = 0;
const pool = new pg.Pool({ connectionString: url, max: connections });
const store = postgres({
  schema,
  pool: {
    query: (text, values) => {
      statements += 1;
      return pool.query(text, values);
    },
    connect: () => pool.connect(),
    on: (event, listener) => pool.on(event, listener),
    removeListener: (event, listener) => pool.removeListener(event, listener),
    options: { max: connections },
  },
});
await store.for({ tenant: 'default', app: appName }).list({ limit: 1 });
process.on('disconnect', () => process.exit());
process.send?.('ready');
await once(process, 'message');
const before = process.cpuUsage();
statements = 0;
runtime({ app: appName, store, runnables: [nothing], work: { slots } });
await once(process, 'message');
const { system, user } = process.cpuUsage(before);
const used: Used = {
  cpuMs: (system + user) / 1_000,
  statements,
  connections: pool.totalCount,
};
process.send?.(used);
