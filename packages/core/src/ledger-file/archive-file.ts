import { createHash } from 'node:crypto';
import type { JsonValue } from '../base/json.ts';
import type { Event } from '../ledger/event.ts';
import { InvalidLedgerFileError, LedgerFileTooNewError } from './errors.ts';

const format = 'adjutant archive';
const version = 1;

/** A ledger as it was, with the large values that it refers to. */
export interface ArchivedLedger {
  readonly session: string;
  readonly events: readonly Event[];
  /** Stored bytes of the large values, by their addresses. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** Returns the text of an archive: a head, a line for each large value and event, and an end. */
export function archiveText({ session, events, blobs }: ArchivedLedger): string {
  const lines = [
    JSON.stringify({ format, version, session, events: events.length, blobs: blobs.size }),
    ...[...blobs].map(([blob, bytes]) =>
      JSON.stringify({ blob, base64: Buffer.from(bytes).toString('base64') }),
    ),
    ...events.map((event) => JSON.stringify({ event })),
  ];
  const body = lines.map((line) => `${line}\n`).join('');
  return `${body}${JSON.stringify({ sha256: hashOf(body) })}\n`;
}

/**
 * Reads the text of an archive.
 * @param path the name of the file, for messages
 * @throws InvalidLedgerFileError, LedgerFileTooNewError
 */
export function parseArchive(text: string, path: string): ArchivedLedger {
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const head = recordOf(text.slice(0, text.indexOf('\n')), path);
  if (head['format'] !== format) throw invalid(path, 'it is no archive of a session');
  if (head['version'] !== version)
    throw new LedgerFileTooNewError({ path, reason: `its version is ${head['version']}` });
  const body = text.slice(0, end);
  if (recordOf(text.slice(end), path)['sha256'] !== hashOf(body))
    throw invalid(path, 'it was changed, or cut off, after it was written');
  const events: Event[] = [];
  const blobs = new Map<string, Uint8Array>();
  for (const line of body.trimEnd().split('\n').slice(1)) {
    const record = recordOf(line, path);
    if ('event' in record) events.push(record['event'] as unknown as Event);
    else blobs.set(String(record['blob']), Buffer.from(String(record['base64']), 'base64'));
  }
  return { session: String(head['session']), events, blobs };
}

function recordOf(line: string, path: string): Readonly<Record<string, JsonValue>> {
  try {
    const record: unknown = JSON.parse(line);
    if (typeof record === 'object' && record !== null)
      return record as Readonly<Record<string, JsonValue>>;
  } catch {
    // Told below.
  }
  throw invalid(path, 'it is no archive of a session');
}

function invalid(path: string, reason: string): InvalidLedgerFileError {
  return new InvalidLedgerFileError({ path, reason });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
