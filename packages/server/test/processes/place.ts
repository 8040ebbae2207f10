import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from 'adjutant';
import { expect, type TestContext } from 'vitest';
import { type Effect, readEffects } from '../../../core/test/crash/effect-file.ts';
import { reasonToSkip as noRedis, redisUrl } from '../../../core/test/redis/server.ts';
import {
  newSchema,
  reasonToSkip as noPostgres,
  serverUrl,
} from '../../../core/test/stores/postgres/server.ts';
import { type AdjutantClient, client } from '../../src/client/index.ts';
import type { ServerOrder } from './messages.ts';
import { ServerHandle } from './server-handle.ts';
import { Watcher } from './watcher.ts';

/** True when the tests with several processes cannot run here. */
export const isSkipped = noPostgres !== undefined || noRedis !== undefined;

/** Milliseconds for a test: processes take their time to begin where others work too. */
export const patience = { timeout: 120_000 };

/** A process with a client of it. */
export interface Served {
  readonly server: ServerHandle;
  readonly client: AdjutantClient;
  readonly url: string;
}

export interface PlaceSettings {
  /** Milliseconds that a process may be silent. @default that of the runtime */
  readonly lease?: number;
  /** @default true */
  readonly redis?: false;
}

/**
 * Places that the processes of one test share: a schema of the database, a part of Redis, and a
 * file of effects.
 */
export class Place {
  readonly #order: ServerOrder;
  readonly #servers: ServerHandle[] = [];
  readonly #watchers: Watcher[] = [];

  constructor(
    { onTestFailed, onTestFinished }: Pick<TestContext, 'onTestFailed' | 'onTestFinished'>,
    settings: PlaceSettings = {},
  ) {
    const directory = mkdtempSync(join(tmpdir(), 'adjutant-server-processes-'));
    const schema = newSchema();
    const { redis, ...others } = settings;
    const effects = join(directory, 'effects.jsonl');
    writeFileSync(effects, '');
    this.#order = {
      postgres: { url: serverUrl, schema: schema.name },
      ...(redis === false ? {} : { redis: { url: redisUrl, prefix: `${schema.name}:` } }),
      effects,
      ...others,
    };
    onTestFailed(() => this.#explain());
    onTestFinished(async () => {
      for (const watcher of this.#watchers) watcher.leave();
      await Promise.all(this.#servers.map((server) => server.kill()));
      await schema.drop();
      rmSync(directory, { recursive: true, force: true });
    });
  }

  /** Starts processes and waits until they listen. */
  async start<Count extends number>(
    count: Count,
  ): Promise<{ readonly [Index in 0 | 1 | 2]: Served }> {
    const servers = Array.from({ length: count }, () => new ServerHandle(this.#order));
    this.#servers.push(...servers);
    const served = servers.map(async (server): Promise<Served> => {
      const { url } = await server.listening();
      return {
        server,
        url,
        client: client({ url, retry: { initialDelayMs: 20, maxDelayMs: 200 } }),
      };
    });
    return (await Promise.all(served)) as never;
  }

  /** Follows a session. */
  watch(url: string, session: string): Watcher {
    const watcher = new Watcher(url, session);
    this.#watchers.push(watcher);
    return watcher;
  }

  get effects(): readonly Effect[] {
    return readEffects(this.#order.effects);
  }

  #explain(): void {
    for (const [index, server] of this.#servers.entries())
      if (server.complaints !== '') console.error(`process ${index}: ${server.complaints}`);
    for (const [index, { events }] of this.#watchers.entries())
      console.error(`watcher ${index}: ${events.map(({ type }) => type).join(', ')}`);
  }
}

export async function ledgerOf(served: Served, session: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of served.client.sessions.events(session)) events.push(event);
  return events;
}

/**
 * A watcher has the ledger: every event once over the wire, in order, with its content, and no text
 * that is none of the `answers` in between.
 */
export async function expectWhole(
  watcher: Watcher,
  served: Served,
  session: string,
  answers: readonly string[] = [],
): Promise<void> {
  const ledger = await ledgerOf(served, session);
  expect(watcher.ids).toEqual(ledger.map((_, i) => i + 1));
  expect(watcher.durable).toEqual(ledger);
  for (const text of watcher.texts)
    expect(
      answers.filter((answer) => answer.startsWith(text)),
      `“${text}” was never written`,
    ).not.toEqual([]);
}
