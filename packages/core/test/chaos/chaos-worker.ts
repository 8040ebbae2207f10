/** A worker process of the chaos: `node chaos-worker.ts <WorkerOrder as JSON>`. */
import { chaosApp } from './chaos-app.ts';
import type { WorkerOrder } from './order.ts';

const order = JSON.parse(process.argv[2] ?? '') as WorkerOrder;
const now = Date.now;
// The clock of the machine is wrong; that of the store must decide.
Date.now = () => now() + order.skewMs;
const app = chaosApp(order, true);
process.stdout.write('ready\n');
// The timers of a worker alone do not keep its process alive.
setInterval(() => undefined, 1_000_000);
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));
