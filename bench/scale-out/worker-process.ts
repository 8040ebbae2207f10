/**
 * A worker process of the scale-out benchmark: `worker-process.ts <url> <schema>
 * [<address of Temporal>]`. It works and rests by order, and answers each order with what it has used
 * since the one before.
 */
import { type Runtime, runtime } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { engineAt } from './engine.ts';
import { appName, connections, nothing, type Order, slots, type Used } from './place.ts';

const [, , url = '', schema = '', temporal = ''] = process.argv;
let statements = 0;
const pool = new pg.Pool({
  connectionString: url,
  max: connections,
  // A connection plans each function when it first calls it, so all stay as those of a busy worker.
  idleTimeoutMillis: 0,
});
// Statements within a transaction are sent by its client, so the clients count and not the pool.
pool.on('connect', (client) => {
  const send = client.query;
  const counted = (...given: readonly unknown[]): unknown => {
    statements += 1;
    return Reflect.apply(send, client, given);
  };
  Object.assign(client, { query: counted });
});
// One connection is made before anything is measured.
await pool.query('select 1');
let app: Runtime | undefined;
let before = process.cpuUsage();
process.on('disconnect', () => process.exit());
process.on('message', (order: Order) => void obey(order));
process.send?.('ready');

/** Obeys an order, and answers with what this process has used since the order before. */
async function obey(order: Order): Promise<void> {
  if (order === 'rest') await app?.close();
  const { system, user } = process.cpuUsage(before);
  const used: Used = {
    cpuMs: (system + user) / 1_000,
    statements,
    connections: pool.totalCount,
  };
  before = process.cpuUsage();
  statements = 0;
  if (order === 'work') {
    const store = postgres({ schema, pool });
    const engine = await engineAt(temporal, { worker: true });
    app = runtime({ app: appName, store, runnables: [nothing], work: { slots }, ...engine });
  }
  process.send?.(used);
}
