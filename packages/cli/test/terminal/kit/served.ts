import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { apiKeys } from '@adjutant/server';
import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { onTestFinished } from 'vitest';
import { type CuttingProxy, cuttingProxy } from '../../../../server/test/client/cutting-proxy.ts';
import { type AppBench, appBench } from './app-start.ts';

const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const fixture = fileURLToPath(new URL('../../fixtures/terminal/', import.meta.url));

export interface ServedBench extends AppBench {
  /** The way to the server, which can be cut. */
  readonly proxy: CuttingProxy;
  /** Keys by their roles. */
  readonly keys: { readonly operator: string; readonly viewer: string };
  /** Ends the server. */
  stop(): Promise<void>;
}

/** The agent `coder` behind `adjutant serve`, which asks for API keys. */
export async function servedBench(): Promise<ServedBench> {
  const bench = await appBench();
  const store = join(bench.folder, 'shop.db');
  const keys = await keysIn(store);
  const child = spawn(
    process.execPath,
    [main, 'serve', '--json', '--no-dashboard', '--port', '0'],
    {
      cwd: fixture,
      env: {
        ...process.env,
        HOME: bench.folder,
        WORLD: bench.world.address,
        SHOP_STORE: store,
        SHOP_RECOVERS: 'yes',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(stop);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { readonly url: string };
  const port = Number(new URL(url).port);
  const proxy = await cuttingProxy({ target: () => port, cutAfter: () => undefined });
  return { ...bench, proxy, keys, stop };
}

async function keysIn(store: string): Promise<ServedBench['keys']> {
  const app = runtime({ app: 'shop', store: sqlite(store), recover: 'manual' });
  try {
    const make = async (role: 'operator' | 'viewer'): Promise<string> =>
      (await apiKeys(app).create({ name: role, roles: [role] })).credential;
    return { operator: await make('operator'), viewer: await make('viewer') };
  } finally {
    await app.close();
  }
}
