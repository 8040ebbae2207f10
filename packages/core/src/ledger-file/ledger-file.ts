import { InvalidOptionError } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import { describeValue } from '../base/options.ts';
import type { Event } from '../ledger/event.ts';

export const ledgerFileFormat = 'adjutant-ledger';
/** The version of the format that this build writes, and the latest that it reads. */
export const ledgerFileVersion = 1;

/** A pattern, as text. */
export interface WrittenPattern {
  readonly source: string;
  readonly flags: string;
}

/**
 * The record of the values that were taken out of a ledger. Replay takes the same out of the events
 * of the code under test.
 */
export interface RedactionRecord {
  /** Keys and paths of keys whose values were taken out. */
  readonly fields: readonly string[];
  /** The patterns that were taken out of every text. */
  readonly patterns: readonly WrittenPattern[];
  /** The replacement of each value that was taken out. */
  readonly replacements: readonly (string | number)[];
  /** Number of different values that each rule took out. */
  readonly removed: Readonly<Record<string, number>>;
}

/** A ledger by itself, as `exportLedger` gives it and a ledger file has it. */
export interface LedgerFile {
  readonly format: typeof ledgerFileFormat;
  readonly version: number;
  readonly app: string;
  readonly tenant: string;
  readonly session: string;
  readonly redaction: RedactionRecord;
  /** Values of more than 64 KB that the events refer to, by address. */
  readonly blobs: Readonly<Record<string, JsonValue>>;
  readonly events: readonly Event[];
}

/** @throws InvalidOptionError for what is no ledger file, such as the session itself */
export function checkLedgerFile(name: string, file: unknown): void {
  if ((file as Partial<LedgerFile> | null | undefined)?.format === ledgerFileFormat) return;
  const found =
    typeof (file as { readonly then?: unknown } | null | undefined)?.then === 'function'
      ? 'a promise: await it first'
      : describeValue(file);
  throw new InvalidOptionError({
    function: name,
    reason: `it needs a ledger file, as exportLedger() and readLedgerFile() give it, not ${found}`,
  });
}

/**
 * The text of a ledger file: JSON with an event on each line, so that changes can be read in a
 * diff.
 * @throws InvalidOptionError for what is no ledger file
 */
export function ledgerFileText(file: LedgerFile): string {
  checkLedgerFile('ledgerFileText', file);
  const { format, version, app, tenant, session, redaction, blobs, events } = file;
  const head = Object.entries({ format, version, app, tenant, session, redaction }).map(
    ([key, value]) => `${json(key)}: ${json(value)}`,
  );
  const held = Object.entries(blobs).map(([address, value]) => `${json(address)}: ${json(value)}`);
  const members = [
    ...head,
    `"blobs": ${block('{', held, '}')}`,
    `"events": ${block('[', events.map(json), ']')}`,
  ];
  return `{\n${members.join(',\n')}\n}\n`;
}

/**
 * Characters that terminals obey and marks that turn the direction of writing, as far as JSON does
 * not escape them.
 */
const obeyed = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** JSON that shows as what it is, in terminals and in reviews. */
function json(value: unknown): string {
  return JSON.stringify(value).replace(
    obeyed,
    (symbol) => `\\u${symbol.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function block(open: string, lines: readonly string[], close: string): string {
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${close}`;
}
