import { resolve } from 'node:path';
import type { ArchiveReport } from 'adjutant/replay';
import { openExisting, type ProjectFlags, withProject } from '../../app/project.ts';
import { exitCodes, UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import { formatCount } from '../../output/format.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine } from '../../output/plain-text.ts';

export interface ArchiveCommandOptions extends ProjectFlags {
  readonly json?: boolean;
}

/** `adjutant archive <session> -o <file>`: moves a session out of the store. */
export async function archive(
  host: Host,
  { file, session }: { readonly file: string; readonly session: string },
  { json = false, ...options }: ArchiveCommandOptions,
): Promise<number> {
  const path = resolve(host.cwd, file);
  const { archiveSession } = await import('adjutant/replay');
  const report = await withProject(openExisting(host, options), ({ app }) =>
    archiveSession(app, session, path).catch((error: unknown) => throwOfFile(error, path)),
  );
  host.stdout.write(told('archive', { report, path, json }));
  return exitCodes.ok;
}

/** `adjutant restore <file>`: brings an archived session back. */
export async function restore(
  host: Host,
  file: string,
  { json = false, ...options }: ArchiveCommandOptions,
): Promise<number> {
  const path = resolve(host.cwd, file);
  const { restoreArchive } = await import('adjutant/replay');
  const report = await withProject(openExisting(host, options), ({ app }) =>
    restoreArchive(app, path).catch((error: unknown) => throwOfFile(error, path)),
  );
  host.stdout.write(told('restore', { report, path, json }));
  return exitCodes.ok;
}

/** @throws UsageError for what the file system refuses */
function throwOfFile(error: unknown, path: string): never {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
  throw new UsageError({ reason: `${path} cannot be used: ${message}.` });
}

interface Told {
  readonly report: ArchiveReport;
  readonly path: string;
  readonly json: boolean;
}

function told(type: 'archive' | 'restore', { json, path, report }: Told): string {
  if (json) return jsonLine({ type, ...report, file: path });
  const { blobs, events, session } = report;
  const what = `${formatCount(events, 'event')}, ${formatCount(blobs, 'large value')}`;
  const done = type === 'archive' ? 'moved to' : 'brought back from';
  return `${plainLine(session)}: ${what} ${done} ${plainLine(path)}\n`;
}
