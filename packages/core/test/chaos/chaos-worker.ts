/** A worker process of the chaos: `node chaos-worker.ts <WorkerOrder as JSON>`. */
import { chaosApp } from './chaos-app.ts';
import { engineOfWorker } from './engine-of-order.ts';
import type { WorkerOrder } from './order.ts';

const order = JSON.parse(process.argv[2] ?? '') as WorkerOrder;
const now = Date.now;
// The clock of the machine is wrong; that of the store must decide.
Date.now = () => now() + order.skewMs;
const app = chaosApp(order, await engineOfWorker(order));
process.stdout.write('ready\n');
// Keeps the process alive, and ends it with the one that started it.
process.stdin.resume().on('end', () => process.exit(1));
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));
