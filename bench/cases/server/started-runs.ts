import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import pg from 'pg';
import { ours, type Row, type Settings } from '../../row.ts';
import type { HostConfig } from '../../server/host-config.ts';
import { paired } from '../../server/paired.ts';
import { planText } from '../../server/plan.ts';
import { HostProcess } from '../../server/processes.ts';
import { postgresUrl } from '../../stores.ts';

const connections = 16;
const bare = 'bare loop';

type Place = Extract<HostConfig, { kind: 'adjutant' }>['store'];

/**
 * Runs that a server takes in a second, with runs of one instant answer that go on behind the
 * requests.
 */
export async function startedRuns(settings: Settings): Promise<readonly Row[]> {
  const memory = await startedOn({ kind: 'memory' }, 'memory', 25, settings);
  const sqlite = await startedOn(
    { kind: 'sqlite', path: join(settings.folder, 'server.db') },
    'SQLite FULL',
    30,
    settings,
  );
  return [
    ...memory,
    ...sqlite,
    ...(postgresUrl === undefined ? [] : await startedOnPostgres(postgresUrl, settings)),
  ];
}

async function startedOnPostgres(url: string, settings: Settings): Promise<readonly Row[]> {
  const schema = `adjutant_bench_${randomBytes(6).toString('hex')}`;
  try {
    return await startedOn({ kind: 'postgres', url, schema }, 'PostgreSQL', 60, settings);
  } finally {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`drop schema if exists "${schema}" cascade`);
    await client.end();
  }
}

interface Started {
  readonly perSecond: number;
  readonly ended: number;
}

async function startedOn(
  store: Place,
  name: string,
  limit: number,
  { quick }: Settings,
): Promise<readonly Row[]> {
  await using own = await HostProcess.start({ kind: 'adjutant', store });
  await using floor = await HostProcess.start({ kind: 'bare' });
  const amount = quick ? 300 : 1_000;
  const figures = await paired<Started>(
    [
      {
        name: bare,
        measure: async () => ({
          perSecond: (amount * 4_000) / (await ask(floor, amount * 4)),
          ended: 0,
        }),
      },
      { name: ours, measure: () => startAndEnd(own, amount) },
    ],
    quick ? 4 : 10,
  );
  return [
    figures.row(
      `runs started over HTTP, ${connections} at a time, ${name}`,
      'runs/s',
      ({ perSecond }) => perSecond,
    ),
    {
      work: `runs started and ended, ${name}`,
      unit: 'runs/s',
      figures: figures.only(({ ended }) => ended),
    },
    figures.against(
      `time of a started run against a bare answer, ${name}`,
      ({ perSecond }) => 1 / perSecond,
      { other: bare, limit },
    ),
  ];
}

async function startAndEnd(host: HostProcess, amount: number): Promise<Started> {
  const before = await endedRuns(host);
  const begin = performance.now();
  const asked = ask(host, amount);
  while ((await endedRuns(host)) < before + amount) await sleep(20);
  const ended = (amount * 1_000) / (performance.now() - begin);
  return { perSecond: (amount * 1_000) / (await asked), ended };
}

/** Milliseconds until so many requests are answered. */
function ask({ url }: HostProcess, amount: number): Promise<number> {
  const body = JSON.stringify({ agent: 'worker', input: planText({ rounds: 0 }) });
  const options = {
    url: `${url}/v1/runs`,
    method: 'POST' as const,
    headers: { 'content-type': 'application/json' },
    body,
    connections,
    amount,
  };
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    let answered = 0;
    let ms = 0;
    const load = autocannon(options, (error, result) => {
      if (error !== null || result['2xx'] !== amount)
        reject(
          error ?? new Error(`Of ${amount} requests, ${result['2xx']} were answered with success.`),
        );
      // It says that it has ended at full seconds.
      else resolve(ms);
    });
    load.on('response', () => {
      if (++answered === amount) ms = performance.now() - begin;
    });
  });
}

async function endedRuns({ url }: HostProcess): Promise<number> {
  const text = await (await fetch(`${url}/v1/metrics`)).text();
  return Number(
    /^adjutant_runs_ended_total\{[^}]*status="completed"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0,
  );
}
