import { memoryStore, type Runtime, type RuntimeOptions, runtime } from 'adjutant';
import { onTestFinished } from 'vitest';
import { type AdjutantClient, type ClientOptions, client } from '../../src/client/index.ts';
import { type ListeningServer, type ServeOptions, serve } from '../../src/index.ts';

/** A server and what it serves. */
export interface Served {
  readonly app: Runtime;
  readonly listening: ListeningServer;
  readonly url: string;
}

/** Serves an app on a free port until the test ends. */
export async function serving(
  options: Omit<RuntimeOptions, 'app'>,
  serveOptions: ServeOptions = {},
): Promise<Served> {
  // With a store of its own an app goes on with what was answered.
  const app = runtime({ app: 'served', store: memoryStore(), ...options });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 }, ...serveOptions });
  onTestFinished(() => listening.close({ closeApp: true }));
  return { app, listening, url: listening.url };
}

/** A client that does not wait long. */
export function impatient(url: string, options: Partial<ClientOptions> = {}): AdjutantClient {
  return client({
    url,
    retry: { initialDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 20_000 },
    ...options,
  });
}
