import { join } from 'node:path';
import { sqlite } from 'adjutant/sqlite';
import { email, shopApp } from './fixtures/shop/shop-app.ts';
import type { Outcome } from './in-process.ts';
import { bench, type RunningCli } from './run-cli.ts';

export const shopFolder = join(import.meta.dirname, 'fixtures/shop');

interface Shop {
  readonly store: string;
  /** A folder of this test. */
  readonly folder: string;
  /** Runs a command in the folder of the user's app. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Outcome>;
  /** Starts it in a process of its own. */
  start(args: readonly string[], env?: Record<string, string>): RunningCli;
}

/** A user's app with a session in its own store. */
export async function shop(): Promise<Shop> {
  const { folder, run, start } = bench();
  const store = join(folder, 'shop.db');
  const { app, clerk } = shopApp({ store: sqlite(store) });
  await app.run(clerk, { session: 'incident', input: `I am ${email}`, runId: 'run' });
  await app.close();
  const optionsFor = (env: Record<string, string>) => ({
    cwd: shopFolder,
    env: { SHOP_STORE: store, ...env },
  });
  return {
    store,
    folder,
    run: (args, env = {}) => run(args, optionsFor(env)),
    start: (args, env = {}) => start(args, optionsFor(env)),
  };
}
