import { setTimeout as sleep } from 'node:timers/promises';
import { ours, type Row, type Settings } from '../../row.ts';
import type { HostConfig } from '../../server/host-config.ts';
import { Paired } from '../../server/paired.ts';
import { HostProcess, ReaderProcess } from '../../server/processes.ts';
import { openStreams } from '../../server/talk.ts';

const bare = 'bare loop';
const count = 1_000;
const warmUp = 100;
const heartbeat = 500;

interface Idle {
  readonly heapKiB: number;
  readonly rssKiB: number;
  readonly beatMicroseconds: number;
}

/** The cost of a follower of a session in which nothing happens. */
export async function idleFollowers({ quick }: Settings): Promise<readonly Row[]> {
  const repetitions = quick ? 2 : 5;
  const hosts: readonly (readonly [string, HostConfig, HostConfig])[] = [
    [bare, { kind: 'bare' }, { kind: 'bare', heartbeat }],
    [
      ours,
      { kind: 'adjutant', store: { kind: 'memory' } },
      { kind: 'adjutant', store: { kind: 'memory' }, heartbeat },
    ],
  ];
  const values = new Map<string, Idle[]>(hosts.map(([name]) => [name, []]));
  for (let i = 0; i < repetitions; i++) {
    for (const [name, still, beating] of i % 2 === 0 ? hosts : hosts.toReversed()) {
      values.get(name)?.push({
        ...(await heldBy(still)),
        beatMicroseconds: await beatOf(beating, quick ? 3_000 : 6_000),
      });
    }
  }
  const figures = new Paired(values);
  return [
    figures.row(
      `heap of one of ${count.toLocaleString('en-US')} idle followers`,
      'KiB',
      ({ heapKiB }) => heapKiB,
    ),
    figures.row(`memory of the process for an idle follower`, 'KiB', ({ rssKiB }) => rssKiB),
    figures.against('heap of an idle follower against a bare stream', ({ heapKiB }) => heapKiB, {
      other: bare,
      limit: 2.5,
    }),
    figures.row(
      'processor time of an idle heartbeat',
      'µs',
      ({ beatMicroseconds }) => beatMicroseconds,
    ),
    figures.against(
      'an idle heartbeat against a bare one',
      ({ beatMicroseconds }) => beatMicroseconds,
      { other: bare, limit: 2 },
    ),
  ];
}

/** In a process of its own each time, since memory that was used once is not always given back. */
async function heldBy(config: HostConfig): Promise<Omit<Idle, 'beatMicroseconds'>> {
  await using host = await HostProcess.start(config);
  await using reader = await ReaderProcess.start();
  await openStreams(host, reader, warmUp);
  await reader.close();
  const before = await host.ask('memory');
  await openStreams(host, reader, count);
  const after = await host.ask('memory');
  return {
    heapKiB: (after.heapUsed - before.heapUsed) / count / 1_024,
    rssKiB: (after.rss - before.rss) / count / 1_024,
  };
}

/**
 * Processor time above that of the same process without readers, by the heartbeats that were read.
 */
async function beatOf(config: HostConfig, ms: number): Promise<number> {
  await using host = await HostProcess.start(config);
  await using reader = await ReaderProcess.start();
  await openStreams(host, reader, count);
  await sleep(heartbeat * 2);
  const [cpu, { frames }] = [await host.ask('cpu'), await reader.seen()];
  await sleep(ms);
  const [cpuAfter, { frames: framesAfter }] = [await host.ask('cpu'), await reader.seen()];
  return (cpuAfter - cpu) / (framesAfter - frames);
}
