import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isAdjutantError, type Session } from 'adjutant';
import type { LedgerFile } from 'adjutant/replay';
import { existingSession, type StoreOptions } from '../app/app.ts';
import { namedSession } from '../app/named-session.ts';
import { type Project, readerOf } from '../app/project.ts';
import { UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { ConfigOptions } from './find-config.ts';
import { type ConfiguredApp, loadApp, type Replaying, replayingFor } from './load-module.ts';

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
  let opened: Project | undefined;
  const session = async (id: string): Promise<Session> => {
    opened ??= readerOf(host, options, configured);
    if (opened === undefined) throw new UsageError({ reason: 'There are no sessions yet.' });
    return existingSession(opened.app, await namedSession(opened, id), { onlyLook: true });
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
    await opened?.close();
    await configured?.app.close().catch(() => undefined);
  }
}

function looksLikeFile(name: string): boolean {
  return /[\\/]|\.json$/i.test(name);
}

function isAbsent(error: unknown): boolean {
  return isAdjutantError(error, 'session_not_found') || isAdjutantError(error, 'usage');
}
