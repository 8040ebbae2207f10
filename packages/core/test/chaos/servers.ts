import { existsSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../../../scripts/local-service.ts';
import { type OwnPostgres, startPostgres } from '../../../../scripts/postgres-server.ts';
import { startRedis } from '../../../../scripts/redis-server.ts';
import { installTemporalPackages } from '../../../../scripts/temporal-packages.ts';
import { startTemporal } from '../../../../scripts/temporal-server.ts';
import type { EngineName } from './order.ts';

/** A server that can be gone for a time, and comes back at its address. */
export interface Fleeting {
  readonly url: string;
  away(ms: number): Promise<void>;
}

export interface Servers {
  readonly postgres: OwnPostgres;
  readonly redis: Fleeting;
  /** Server of the engine; `undefined` where it has none. */
  readonly engine: Fleeting | undefined;
  stop(): Promise<void>;
}

/** Starts servers of one's own: those of the machine must not be killed. */
export async function startServers(engine: EngineName, directory: string): Promise<Servers> {
  const postgres = await startPostgres();
  const redis = fleeting(await startRedis(), async (port) => startRedis(port));
  const temporal = engine === 'temporal' ? await startEngine(directory) : undefined;
  return {
    postgres,
    redis,
    engine: temporal,
    stop: async () => {
      await temporal?.stop();
      await redis.stop();
      await postgres.stop();
    },
  };
}

/** Memory that outlives the server, where there is some: its disk is not what is tested. */
const memory = '/dev/shm';

async function startEngine(directory: string): Promise<ReturnType<typeof fleeting>> {
  installTemporalPackages();
  const name = `${basename(directory)}.db`;
  const file = join(existsSync(memory) ? memory : directory, name);
  const server = fleeting(await startTemporal({ file }), (port) => startTemporal({ file, port }));
  return {
    ...server,
    stop: async () => {
      await server.stop();
      for (const left of globSync(`${file}*`)) rmSync(left);
    },
  };
}

/** A service that is ended as a failing machine ends it, where it can be. */
type Killable = Service & { kill?(): Promise<void> };

function fleeting(first: Killable, start: (port: number) => Promise<Killable>) {
  let service = first;
  const port = Number(first.url.split(':').at(-1));
  return {
    url: first.url,
    away: async (ms: number) => {
      await (service.kill?.() ?? service.stop());
      await wait(ms);
      service = await start(port);
    },
    stop: () => service.stop(),
  };
}
