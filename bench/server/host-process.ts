import { setTimeout as sleep } from 'node:timers/promises';
import type { HostAnswers, HostConfig, Memory } from './host-config.ts';
import { host } from './hosts.ts';

const url = await host(JSON.parse(process.argv[2] as string) as HostConfig);

process.on('message', async ({ id, asked }: { id: number; asked: keyof HostAnswers }) => {
  process.send?.({ id, answer: asked === 'memory' ? await memory() : cpu() });
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0, answer: url });

/** What is referred to weakly goes only after the turn in which it was last used. */
async function memory(): Promise<Memory> {
  for (let times = 0; times < 4; times++) {
    await sleep(50);
    globalThis.gc?.();
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heapUsed };
}

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
