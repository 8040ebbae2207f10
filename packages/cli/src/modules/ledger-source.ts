import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isAdjutantError, type Runtime, runtime, type Session } from 'adjutant';
import type { LedgerFile } from 'adjutant/replay';
import { sqlite } from 'adjutant/sqlite';
import {
  existingSession,
  openExistingLedgers,
  openLedgers,
  type StoreOptions,
} from '../app/app.ts';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { readableStorePath } from '../host/store-location.ts';
import {
  type ConfigOptions,
  type ConfiguredApp,
  loadApp,
  type Replaying,
  replayingFor,
  shownName,
} from './load-module.ts';

export interface SourceOptions extends StoreOptions, ConfigOptions {}

/** Ledgers that a command reads: those of the user's app, of a store, or of files. */
export interface LedgerSources {
  readonly configured: ConfiguredApp | undefined;
  readonly replaying: Replaying;
  session(id: string): Promise<Session>;
  /** Returns a session, or the content of a ledger file. */
  ledger(name: string): Promise<Session | LedgerFile>;
}

/** Opens the ledgers that a command reads, and closes them when the command is done. */
export async function withLedgers<Result>(
  host: Host,
  options: SourceOptions,
  use: (sources: LedgerSources) => Promise<Result>,
): Promise<Result> {
  const configured = await loadApp(host, options);
  const replaying = await replayingFor(host, configured);
  let opened: Runtime | undefined;
  const session = async (id: string): Promise<Session> => {
    opened ??= openReader(host, options, configured);
    return existingSession(opened, id, { ...options, app: opened.app, onlyLook: true });
  };
  const ledger = async (name: string): Promise<Session | LedgerFile> => {
    const file = resolve(host.cwd, name);
    if (looksLikeFile(name) && existsSync(file)) return replaying.readLedgerFile(file);
    return session(name).catch((error: unknown) => {
      if (looksLikeFile(name) && isAbsent(error))
        throw new UsageError({
          reason: `There is no file ${file}, and no session "${name}" either.`,
        });
      throw error;
    });
  };
  try {
    return await use({ configured, replaying, session, ledger });
  } finally {
    await opened?.close().catch(() => undefined);
    if (configured !== undefined && configured.app !== opened)
      await configured.app.close().catch(() => undefined);
  }
}

/**
 * Opens the app that a command reads, and closes it when the command is done. It is the user's app
 * where there is one, else a store, if there is one yet. `ownStore`: only the module knows the
 * store.
 */
export async function withReader<Result>(
  host: Host,
  options: SourceOptions,
  use: (app: Runtime | undefined, ownStore: boolean) => Promise<Result>,
): Promise<Result> {
  const configured = await loadApp(host, options);
  let app: Runtime | undefined;
  try {
    app =
      configured === undefined ? openLedgers(host, options) : openReader(host, options, configured);
    return await use(app, app !== undefined && app === configured?.app);
  } finally {
    await app?.close().catch(() => undefined);
    if (configured !== undefined && configured.app !== app)
      await configured.app.close().catch(() => undefined);
  }
}

function looksLikeFile(name: string): boolean {
  return /[\\/]|\.json$/i.test(name);
}

function isAbsent(error: unknown): boolean {
  return isAdjutantError(error, 'session_not_found') || isAdjutantError(error, 'usage');
}

/**
 * Opens the user's app with its own store, or with the store that is named. Without an app, it
 * opens the store of the command line.
 */
function openReader(
  host: Host,
  options: SourceOptions,
  configured: ConfiguredApp | undefined,
): Runtime {
  if (configured === undefined) return openExistingLedgers(host, options);
  const { app, tenant } = configured.app;
  if (options.store === undefined) {
    if (options.app === undefined || options.app === app) return configured.app;
    throw new UsageError({
      reason:
        `--app ${options.app}: ${shownName(configured)} exports the app "${app}". Name its ` +
        'store with --store, or leave the file out with --no-config.',
    });
  }
  const path = readableStorePath(host, options.store);
  if (path === undefined) throw new UsageError({ reason: 'There are no sessions yet.' });
  return runtime({ app: options.app ?? app, tenant, store: sqlite(path), recover: 'manual' });
}
