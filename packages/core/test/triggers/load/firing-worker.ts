/**
 * A process that looks after triggers: `node firing-worker.ts <FiringOrder as JSON>`. Each line of
 * its input is an instant: it sets its clock, does all that is due, and answers with a line.
 */
import { createInterface } from 'node:readline';
import { firingApp } from './firing-app.ts';
import type { FiringOrder } from './firing-order.ts';

const { app, clock } = firingApp(JSON.parse(process.argv[2] ?? '') as FiringOrder);
process.stdout.write('ready\n');
const orders: number[] = [];
let isWorking = false;
createInterface({ input: process.stdin }).on('line', (line) => {
  // At once: work that waits for its time gets it.
  clock.set(Number(line));
  orders.push(Number(line));
  if (!isWorking) void workOff();
});

async function workOff(): Promise<void> {
  isWorking = true;
  while (orders.shift() !== undefined) {
    let done = 0;
    for (;;) {
      const runs = await app.recovery.resumeStopped();
      await Promise.all(runs.map((run) => run.settled()));
      if (runs.length === 0) break;
      done += runs.length;
    }
    process.stdout.write(`${done}\n`);
  }
  isWorking = false;
}
