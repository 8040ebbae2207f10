import { resolve } from 'node:path';
import { isAdjutantError } from 'adjutant';
import type { LedgerFile } from 'adjutant/replay';
import { isRemote, type ServerFlags } from '../access/server-flags.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { type SourceOptions, withLedgers } from '../modules/ledger-source.ts';
import type { Replaying } from '../modules/load-module.ts';
import { formatCount } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { notice } from '../output/notice.ts';
import { plainLine } from '../output/plain-text.ts';

export interface ExportCommandOptions extends SourceOptions, ServerFlags {
  /** Path of the file to write. @default standard output */
  readonly output?: string;
  /** Keys, or paths of keys, whose values are removed besides secrets. */
  readonly redact?: readonly string[];
  /** Regular expressions for the parts of texts that are removed. */
  readonly redactPattern?: readonly string[];
  readonly json?: boolean;
}

/** `adjutant export [session]`: writes a ledger file, without secrets and chosen fields. */
export function exportSession(
  host: Host,
  named: string,
  options: ExportCommandOptions,
): Promise<number> {
  if (options.json === true && options.output === undefined) {
    throw new UsageError({
      reason:
        '--json says what was written to a file: name the file with -o. Without it the ' +
        'ledger itself, which is JSON, is printed.',
    });
  }
  const patterns = (options.redactPattern ?? []).map(patternOf);
  const redact = { fields: options.redact ?? [], patterns };
  return withExported(host, named, { options, redact }, async ({ file, id, replaying }) => {
    const { output } = options;
    const record = {
      type: 'export',
      session: id,
      events: file.events.length,
      removed: file.redaction.removed,
    };
    const { removed } = file.redaction;
    const says =
      `${plainLine(id)}: ${formatCount(file.events.length, 'event')}` +
      `${removedText(removed)}${idleText(options, removed)}`;
    if (output === undefined) {
      host.stdout.write(replaying.ledgerFileText(file));
      notice(host, says);
      return exitCodes.ok;
    }
    const path = resolve(host.cwd, output);
    await writeFile(() => replaying.writeLedgerFile(path, file), path);
    host.stdout.write(
      options.json === true
        ? jsonLine({ ...record, file: path })
        : `${says}, written to ${plainLine(path)}\n`,
    );
    return exitCodes.ok;
  });
}

interface Exported {
  /** Id of the session, which the file may have without a part of it. */
  readonly id: string;
  readonly file: LedgerFile;
  readonly replaying: Replaying;
}

interface Exporting {
  readonly options: ExportCommandOptions;
  readonly redact: { readonly fields: readonly string[]; readonly patterns: readonly RegExp[] };
}

/** Makes the file of a session: of a server, or of a store of this machine. */
async function withExported(
  host: Host,
  named: string,
  { options, redact }: Exporting,
  use: (exported: Exported) => Promise<number>,
): Promise<number> {
  if (isRemote(options)) {
    const { eventsOf, namedOnServer, sessionOf } = await import('../access/server-session.ts');
    const { openClient } = await import('../access/open-client.ts');
    const replaying = await import('adjutant/replay');
    const client = await openClient(host, options);
    const id = await namedOnServer(client, named);
    // A server runs no patterns of others: they are looked for here.
    if (redact.patterns.length > 0) {
      const session = await sessionOf(id, await eventsOf(client, id));
      const file = await replaying.exportLedger(session, { redact }).catch(throwInFlags);
      return use({ id, file, replaying });
    }
    const text = await client.sessions.export(id, { redact: redact.fields });
    return use({ id, file: replaying.parseLedgerFile(text, 'The export'), replaying });
  }
  return withLedgers(host, options, async ({ session, replaying }) => {
    const opened = await session(named);
    const file = await replaying.exportLedger(opened, { redact }).catch(throwInFlags);
    return use({ id: opened.id, file, replaying });
  });
}

/** Returns the pattern for `/source/flags`, or for a source alone. @throws UsageError */
function patternOf(text: string): RegExp {
  const [, source = text, flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new UsageError({ reason: `--redact-pattern ${text}: ${(error as Error).message}.` });
  }
}

/** Throws the error for invalid rules, in the words of the command line. @throws UsageError */
function throwInFlags(error: unknown): never {
  if (!isAdjutantError(error, 'invalid_option')) throw error;
  const reason = String(error.data['reason'])
    .replace('`fields`', '--redact')
    .replace('`patterns`', '--redact-pattern');
  throw new UsageError({ reason: `${reason}.` });
}

function removedText(removed: Readonly<Record<string, number>>): string {
  const counts = Object.entries(removed);
  if (counts.length === 0) return ', nothing was taken out';
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  return (
    `, ${formatCount(total, 'value')} taken out ` +
    `(${counts.map(([rule, count]) => `${plainLine(rule)}: ${count}`).join(', ')})`
  );
}

/**
 * Text that names the `--redact` rules without a match. A misspelt rule would leave in the file the
 * values that it should remove.
 */
function idleText(
  { redact = [] }: ExportCommandOptions,
  removed: Readonly<Record<string, number>>,
): string {
  const idle = redact.filter((field) => !Object.hasOwn(removed, `field ${field}`));
  return idle.length === 0 ? '' : `; nothing more by --redact ${idle.map(plainLine).join(', ')}`;
}

async function writeFile(write: () => Promise<void>, path: string): Promise<void> {
  try {
    await write();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
    throw new UsageError({ reason: `-o ${path} cannot be written: ${(error as Error).message}.` });
  }
}
