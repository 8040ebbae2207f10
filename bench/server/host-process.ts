import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostAnswers, HostConfig, Memory, Turn } from './host-config.ts';
import { host } from './hosts.ts';

const url = await host(JSON.parse(process.argv[2] as string) as HostConfig);

const turns = monitorEventLoopDelay({ resolution: 1 });
turns.enable();

const answers: {
  readonly [Name in keyof HostAnswers]: () => HostAnswers[Name] | Promise<HostAnswers[Name]>;
} = { memory, cpu, longestTurn };

process.on('message', async ({ id, asked }: { id: number; asked: keyof HostAnswers }) => {
  process.send?.({ id, answer: await answers[asked]() });
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0, answer: url });

/** Objects that are referred to weakly go only after the turn in which it was last used. */
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

const sampleMs = 1;
let used = 0;
let mostUsed = 0;

/** Between two timers lie at most one turn and what else came within a millisecond. */
setInterval(() => {
  const { user, system } = process.threadCpuUsage();
  mostUsed = Math.max(mostUsed, user + system - used);
  used = user + system;
}, sampleMs).unref();

function longestTurn(): Turn {
  const longest = { wait: turns.max / 1_000_000, cpu: mostUsed / 1_000 };
  turns.reset();
  mostUsed = 0;
  return longest;
}
