/**
 * Records the histories that `replay.test.ts` replays, one file for each way through the workflow:
 * `npm run with-temporal -- node --conditions=adjutant-source
 * packages/temporal/test/record-histories.ts <version>`. Run once for each version of the
 * workflows, before its first release; recorded files are never made again.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { burstWorkflow, wakeSignal, workflowVersion } from '../src/names.ts';
import type { BurstActivities } from '../src/workflows/burst.ts';
import { address } from './server.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });
const client = new Client({ connection: await Connection.connect({ address }) });
const connection = await NativeConnection.connect({ address });
const input = { app: 'shop', tenant: 'acme', session: 's' };

/** Ways through the workflow: the first calls of the activity. */
const ways: Readonly<Record<string, (call: number, workflowId: string) => Promise<void>>> = {
  done: async () => undefined,
  woken: async (call, workflowId) => {
    if (call < 3) await client.workflow.getHandle(workflowId).signal(wakeSignal);
  },
  retried: async (call) => {
    if (call === 1) throw new Error('The store is away.');
  },
};

async function record(name: string, worker: Worker | undefined, taskQueue: string): Promise<void> {
  const workflowId = `record-${name}-${Date.now()}`;
  const options = { workflowId, taskQueue, args: [input] };
  const handle = await client.workflow.start(burstWorkflow, options);
  const waited = handle.result();
  await (worker === undefined ? waited : worker.runUntil(waited));
  const file = join(import.meta.dirname, `histories/v${workflowVersion}-${name}.json`);
  if (existsSync(file)) throw new Error(`${file} exists; recorded histories stay as they are.`);
  writeFileSync(file, `${historyToJSON(await handle.fetchHistory())}\n`);
  console.log(`recorded ${file}`);
}

async function workerOf(taskQueue: string, activities?: BurstActivities): Promise<Worker> {
  const workflowsPath = fileURLToPath(new URL('../src/workflows/burst.ts', import.meta.url));
  const own = activities === undefined ? {} : { activities: { ...activities } };
  return Worker.create({ connection, taskQueue, workflowsPath, ...own });
}

for (const [name, way] of Object.entries(ways)) {
  const taskQueue = `record-${name}-${Date.now()}`;
  let calls = 0;
  const worker = await workerOf(taskQueue, {
    async advance() {
      calls += 1;
      await way(calls, Context.current().info.workflowExecution?.workflowId ?? '');
      return { began: 1 };
    },
  });
  await record(name, worker, taskQueue);
}
// Without activities, the call waits until nobody has taken it for 30 seconds.
await record('no-worker', await workerOf('record-nobody'), 'record-nobody');
await client.connection.close();
await connection.close();
