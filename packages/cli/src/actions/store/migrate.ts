import type { Store } from 'adjutant';
import { exitCodes, UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import type { ConfigOptions } from '../../modules/find-config.ts';
import { loadApp } from '../../modules/load-module.ts';
import { formatCount } from '../../output/format.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine } from '../../output/plain-text.ts';

export interface MigrateCommandOptions extends ConfigOptions {
  /** A number of partitions, as it was typed; true for the usual one. */
  readonly partition?: string | true;
  readonly json?: boolean;
  readonly server?: string;
}

/** `adjutant migrate`: brings the tables of a store up to date, and partitions its events. */
export async function migrateStore(
  host: Host,
  { json = false, partition, server, ...options }: MigrateCommandOptions,
): Promise<number> {
  if (server !== undefined)
    throw new UsageError({
      reason:
        'adjutant migrate works on a store that this machine can open. Leave --server out, and ' +
        'call it with a configuration that names the database.',
    });
  const configured = await loadApp(host, options);
  if (configured === undefined)
    throw new UsageError({
      reason:
        'adjutant migrate works on the store of your app: write adjutant.config.ts, or name it ' +
        'with --config.',
    });
  const { app } = configured;
  try {
    const { store } = app;
    // The first use brings the tables up to date.
    await store.admin.due({ limit: 1 });
    const done = partition === undefined ? undefined : await partitionsOf(store, partition);
    host.stdout.write(
      json
        ? jsonLine({ type: 'migrate', store: store.description, ...done })
        : `${plainLine(store.description)}: ${said(done)}\n`,
    );
    return exitCodes.ok;
  } finally {
    await app.close().catch(() => undefined);
  }
}

type Done = Awaited<ReturnType<NonNullable<Store['admin']['partition']>>>;

async function partitionsOf({ admin, description }: Store, asked: string | true): Promise<Done> {
  if (admin.partition === undefined)
    throw new UsageError({
      reason: `${description} has no partitions: only a store in PostgreSQL can have them.`,
    });
  if (asked !== true && !/^\d{1,4}$/.test(asked))
    throw new UsageError({ reason: `--partition takes a whole number, and "${asked}" is none.` });
  return admin.partition(asked === true ? undefined : Number(asked));
}

function said(done: Done | undefined): string {
  if (done === undefined) return 'up to date';
  const { moved, partitions } = done;
  return moved === 0
    ? `up to date, with its events in ${partitions} partitions`
    : `${formatCount(moved, 'event')} moved into ${partitions} partitions`;
}
