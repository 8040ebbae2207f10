import { isAdjutantError } from '../base/error.ts';
import { checkOptions } from '../base/invalid-option.ts';
import { deepFreeze, isPlainObject, type JsonValue } from '../base/json.ts';
import { isCount, isListOfText, type OptionChecks } from '../base/options.ts';
import { replaceReferences } from '../ledger/blobs/blob.ts';
import { type Event, eventVersions } from '../ledger/event.ts';
import { decodeEvent } from '../ledger/upcast.ts';
import { checkDrafts } from '../session/draft-check.ts';
import { InvalidLedgerFileError, LedgerFileTooNewError } from './errors.ts';
import {
  type LedgerFile,
  ledgerFileFormat,
  ledgerFileVersion,
  type RedactionRecord,
  type WrittenPattern,
} from './ledger-file.ts';
import { findBadRules, longestReplacement } from './redaction-rules.ts';

export interface ReadLedgerFileOptions {
  /** Bytes that a file may have at most. @default 268435456 (256 MB) */
  readonly maxBytes?: number;
}

const defaultMaxBytes = 256 * 1024 * 1024;
const deepest = 500;
const longestName = 1_000;

const optionChecks: OptionChecks<ReadLedgerFileOptions> = { maxBytes: isCount };

/**
 * Reads a ledger file. Events of older versions are brought up to date; what comes of a later
 * version is refused, and so is everything that no ledger can hold, before any of it is used.
 * @throws InvalidLedgerFileError, LedgerFileTooNewError, InvalidOptionError
 */
export async function readLedgerFile(
  path: string,
  options: ReadLedgerFileOptions = {},
): Promise<LedgerFile> {
  checkOptions('readLedgerFile', options, optionChecks);
  return parseLedgerFile(await textOf(path, options.maxBytes ?? defaultMaxBytes), path);
}

async function textOf(path: string, maxBytes: number): Promise<string> {
  const { open } = await import('node:fs/promises');
  const invalid = (reason: string, cause?: unknown): Error =>
    new InvalidLedgerFileError({ path, reason }, { cause });
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    throw invalid(cause.code === 'ENOENT' ? 'there is no such file' : cause.message, cause);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw invalid('it is not a file');
    if (stats.size > maxBytes)
      throw invalid(`it has ${stats.size} bytes, and at most ${maxBytes} are read (\`maxBytes\`)`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch (cause) {
    if (isAdjutantError(cause)) throw cause;
    throw invalid(
      (cause as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
        ? 'it is not UTF-8 text'
        : (cause as Error).message,
      cause,
    );
  } finally {
    await file.close();
  }
}

/**
 * The same from a text. @param path for messages
 * @throws InvalidLedgerFileError, LedgerFileTooNewError
 */
export function parseLedgerFile(text: string, path = 'The text'): LedgerFile {
  return new Reader(path).read(text);
}

/** Reads a text, and names the place of an error in it. */
class Reader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  read(text: string): LedgerFile {
    const value = this.#json(text);
    if (!isPlainObject(value)) this.#refuse('it is not a JSON object');
    if (value['format'] !== ledgerFileFormat)
      this.#refuse(`its "format" is not "${ledgerFileFormat}"`);
    const version = this.#version(value['version']);
    const app = this.#name(value, 'app');
    const tenant = this.#name(value, 'tenant');
    const session = this.#name(value, 'session');
    const redaction = this.#redaction(value['redaction']);
    const blobs = value['blobs'];
    if (!isPlainObject(blobs)) this.#refuse('its "blobs" are not an object');
    const events = this.#events(value['events'], session);
    this.#checkEvents(events, blobs as Record<string, JsonValue>);
    return deepFreeze({
      format: ledgerFileFormat,
      version,
      app,
      tenant,
      session,
      redaction,
      blobs: blobs as Record<string, JsonValue>,
      events,
    });
  }

  #refuse(reason: string, cause?: unknown): never {
    throw new InvalidLedgerFileError({ path: this.#path, reason }, { cause });
  }

  #json(text: string): unknown {
    if (isTooDeep(text)) this.#refuse(`it is nested more than ${deepest} levels deep`);
    try {
      return JSON.parse(text);
    } catch (cause) {
      return this.#refuse(`it is not JSON (${(cause as Error).message})`, cause);
    }
  }

  #version(version: unknown): number {
    if (!Number.isInteger(version) || (version as number) < 1)
      this.#refuse('its "version" is not a whole number from 1');
    if ((version as number) > ledgerFileVersion) {
      throw new LedgerFileTooNewError({
        path: this.#path,
        reason:
          `its format has version ${version}, and this one knows versions up to ` +
          `${ledgerFileVersion}`,
      });
    }
    return version as number;
  }

  #name(value: Readonly<Record<string, unknown>>, member: string): string {
    const name = value[member];
    if (typeof name === 'string' && name !== '' && name.length <= longestName) return name;
    return this.#refuse(`its "${member}" is not a text of 1 to ${longestName} characters`);
  }

  #redaction(value: unknown): RedactionRecord {
    if (!isPlainObject(value)) return this.#refuse('its "redaction" is not an object');
    const { fields, patterns, replacements, removed } = value;
    if (isListOfText(fields) !== undefined)
      this.#refuse('the "fields" of its "redaction" are not a list of texts');
    if (!Array.isArray(patterns) || !patterns.every(isWrittenPattern))
      this.#refuse('the "patterns" of its "redaction" are not a list of { source, flags }');
    if (
      !Array.isArray(replacements) ||
      !replacements.every(
        (one) =>
          (typeof one === 'string' && one !== '' && one.length <= longestReplacement) ||
          Number.isFinite(one),
      )
    ) {
      this.#refuse(
        'the "replacements" of its "redaction" are not a list of short texts and numbers',
      );
    }
    if (!isPlainObject(removed) || !Object.values(removed).every(Number.isInteger))
      this.#refuse('"removed" of its "redaction" does not hold whole numbers');
    const record = value as unknown as RedactionRecord;
    const reason = findBadRules(record);
    if (reason !== undefined) this.#refuse(reason);
    return {
      fields: record.fields,
      patterns: record.patterns,
      replacements: record.replacements,
      removed: record.removed,
    };
  }

  #events(value: unknown, session: string): readonly Event[] {
    if (!Array.isArray(value)) return this.#refuse('its "events" are not a list');
    const ids = new Set<unknown>();
    return value.map((raw: unknown, i) => {
      const { id } = this.#envelope(raw, i + 1);
      if (ids.has(id)) this.#refuse(`event ${i + 1} has the id of an event before it`);
      ids.add(id);
      return this.#event(raw, i + 1, session);
    });
  }

  /**
   * Checks that events have the members that readers rely on, with their large values in them. Of a
   * lost value there is its beginning.
   */
  #checkEvents(events: readonly Event[], blobs: Readonly<Record<string, JsonValue>>): void {
    const whole = (value: unknown): unknown =>
      replaceReferences(value, ({ $blob, preview }) =>
        Object.hasOwn(blobs, $blob) ? blobs[$blob] : preview,
      );
    try {
      checkDrafts(events.map(whole) as readonly Event[]);
    } catch (cause) {
      if (!isAdjutantError(cause)) throw cause;
      const { index, reason = cause.message } = cause.data;
      this.#refuse(
        `event ${Number(index ?? 0) + 1} is none that a ledger can hold: ${String(reason)}`,
        cause,
      );
    }
  }

  #envelope(raw: unknown, place: number): Readonly<Record<string, unknown>> {
    if (!isPlainObject(raw)) return this.#refuse(`event ${place} is not an object`);
    const { seq, id, at, type, v } = raw;
    if (seq !== place)
      this.#refuse(
        `event ${place} has the seq ${String(seq)}: events are numbered from 1, without gaps`,
      );
    if (typeof id !== 'string' || id === '') this.#refuse(`event ${place} has no id`);
    if (!Number.isFinite(at)) this.#refuse(`the time "at" of event ${place} is not a number`);
    if (typeof type !== 'string') this.#refuse(`event ${place} has no type`);
    if (!Number.isInteger(v) || (v as number) < 1)
      this.#refuse(`event ${place} has no version "v"`);
    const known = Object.hasOwn(eventVersions, type as string)
      ? eventVersions[type as keyof typeof eventVersions]
      : 0;
    if (known < (v as number)) {
      const reason =
        known === 0
          ? `event ${place} has the type "${String(type)}", which this one does not know`
          : `event ${place} has version ${String(v)} of the type "${String(type)}", and this ` +
            `one knows versions up to ${known}`;
      throw new LedgerFileTooNewError({ path: this.#path, reason });
    }
    return raw;
  }

  #event(raw: unknown, place: number, session: string): Event {
    try {
      return decodeEvent(raw, session);
    } catch (cause) {
      if (!isAdjutantError(cause, 'ledger_unreadable')) throw cause;
      return this.#refuse(`event ${place} cannot be read: ${String(cause.data['reason'])}`, cause);
    }
  }
}

function isWrittenPattern(value: unknown): value is WrittenPattern {
  return (
    isPlainObject(value) &&
    typeof value['source'] === 'string' &&
    typeof value['flags'] === 'string'
  );
}

/** Checks, without parsing, that JSON nests deeper than functions can follow. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isText) {
      if (code === 0x5c) at++;
      else if (code === 0x22) isText = false;
    } else if (code === 0x22) isText = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > deepest) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}
