/** A worker process: `node worker-process.ts <QueuePlace as JSON>`. It begins at a message. */
import { once } from 'node:events';
import { runtime } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { bullMqWorker } from '../peers/bullmq-queue.ts';
import { pgBossWorker } from '../peers/pg-boss-queue.ts';
import { appName, nothing } from './adjutant-queue.ts';
import { type QueuePlace, slots } from './task-queue.ts';

const place = JSON.parse(process.argv[2] ?? '') as QueuePlace;
process.on('disconnect', () => process.exit());
const begin = await prepared(place);
process.send?.('ready');
await once(process, 'message');
await begin();

function prepared(place: QueuePlace): Promise<() => Promise<void>> {
  switch (place.kind) {
    case 'adjutant':
      return adjutantWorker(place);
    case 'pg-boss':
      return pgBossWorker(place);
    case 'bullmq':
      return bullMqWorker(place);
    case 'sqlite':
      throw new Error('A file has one process.');
  }
}

async function adjutantWorker({
  schema,
  url,
}: QueuePlace & { readonly kind: 'adjutant' }): Promise<() => Promise<void>> {
  const store = postgres(url, { schema });
  await store.for({ tenant: 'default', app: appName }).list({ limit: 1 });
  return async () => {
    runtime({ app: appName, store, runnables: [nothing], tenants: true, work: { slots } });
  };
}
