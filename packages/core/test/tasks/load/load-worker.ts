/** A worker process of the load: `node load-worker.ts <WorkerOrder as JSON>`. */
import { loadApp } from './load-app.ts';
import type { WorkerOrder } from './load-order.ts';

const app = loadApp(JSON.parse(process.argv[2] ?? '') as WorkerOrder, true);
process.stdout.write('ready\n');
// The timers of a worker alone do not keep its process alive.
setInterval(() => undefined, 1_000_000);
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));
