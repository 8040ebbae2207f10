import { checkOptions } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import { isObject, type OptionChecks } from '../base/options.ts';
import { secretsInUse } from '../base/secret.ts';
import { isBlobReference, replaceReferences } from '../ledger/blobs/blob.ts';
import { blobAddress } from '../ledger/blobs/blob-address.ts';
import { recordable } from '../ledger/blobs/large-values.ts';
import type { Event } from '../ledger/event.ts';
import { ledgerOf, type RecordedLedger } from '../replay/recorded-ledger.ts';
import type { AnySession } from '../session/session.ts';
import { RedactionIncompleteError } from './errors.ts';
import { findRenames, findRequestRenames, renameHashes } from './hash-renames.ts';
import { KnownValues } from './known-values.ts';
import {
  type LedgerFile,
  ledgerFileFormat,
  ledgerFileText,
  ledgerFileVersion,
  type RedactionRecord,
} from './ledger-file.ts';
import { redactEvent } from './redact-events.ts';
import { type RedactionRules, type RedactOptions, redactionRules } from './redaction-rules.ts';
import { Redactor } from './redactor.ts';

export interface ExportOptions {
  /**
   * The values that are taken out besides secrets. Secrets are always taken out: values with the
   * form of a secret, values under a key such as `password`, and values made by `secret()`.
   */
  readonly redact?: RedactOptions;
}

const optionChecks: OptionChecks<ExportOptions> = { redact: isObject };

/**
 * A session's ledger by itself, to be kept as a file and replayed as a test. Secrets and chosen
 * values are taken out wherever they stand, also where something has encoded them; what is left can
 * be read, folded and replayed, and its prompts can be rebuilt.
 * @throws InvalidOptionError, RedactionIncompleteError; what the store said when events of the
 * session could not be stored
 */
export async function exportLedger(
  source: AnySession | RecordedLedger,
  options: ExportOptions = {},
): Promise<LedgerFile> {
  checkOptions('exportLedger', options, optionChecks);
  const rules = redactionRules(options.redact ?? {});
  const ledger = ledgerOf('exportLedger', source);
  if (!('ledger' in source)) return redactLedger(ledger, rules);
  await source.ledger.durable();
  return redactLedger(ledgerOf('exportLedger', source), rules);
}

function redactLedger(ledger: RecordedLedger, rules: RedactionRules): LedgerFile {
  const known = new KnownValues(rules.replace);
  for (const secret of secretsInUse())
    if (secret.reveal() !== '') known.add(secret.reveal(), `secret ${secret.name}`, true);
  const redactor = new Redactor(rules, known);
  const lost = new Set<string>();
  const whole = ledger.events.map((event) => wholeEvent(event, ledger.blobs, lost));
  redactor.learn(() => whole.map((event) => redactEvent(event, redactor)));
  const redacted = whole.map((event) => redactEvent(event, redactor));
  const name = (text: string): string => String(redactor.redact(text, { keys: [], isName: true }));
  const place = {
    app: name(ledger.app),
    tenant: name(ledger.tenant),
    session: name(ledger.session),
  };
  const renamed = renameHashes(redacted, findRenames(whole, redacted));
  const events = renameHashes(renamed, findRequestRenames(whole, ledger, renamed, place));
  const file: LedgerFile = {
    format: ledgerFileFormat,
    version: ledgerFileVersion,
    ...place,
    redaction: redactionRecord(rules, known),
    ...withoutLarge(events, place, lost),
  };
  const left = known.rulesFoundIn(ledgerFileText(file));
  if (left.length > 0) throw new RedactionIncompleteError({ session: file.session, rules: left });
  return file;
}

/**
 * An event with its large values in it. Of one that is lost the beginning goes too: it may end in
 * the middle of a secret.
 * @param lost gets the addresses of those
 */
function wholeEvent(event: Event, blobs: RecordedLedger['blobs'], lost: Set<string>): Event {
  return replaceReferences(event, (reference) => {
    if (Object.hasOwn(blobs, reference.$blob)) return blobs[reference.$blob];
    lost.add(reference.$blob);
    return { ...reference, preview: '' };
  }) as Event;
}

/** Large values beside their events again. */
function withoutLarge(
  events: readonly Event[],
  scope: { readonly app: string; readonly tenant: string },
  lost: ReadonlySet<string>,
): Pick<LedgerFile, 'blobs' | 'events'> {
  const isLost = (value: object): boolean =>
    isBlobReference(value) && value.preview === '' && lost.has(value.$blob);
  const blobs: Record<string, JsonValue> = {};
  const small = events.map((event) => {
    const { draft, large } = recordable(event, (bytes) => blobAddress(scope, bytes), isLost);
    for (const { address, value } of large) blobs[address] = value as JsonValue;
    return draft;
  });
  return { blobs, events: small };
}

/** Rules that have a value that was taken out are not written down. */
function redactionRecord(
  { fields, patterns }: RedactionRules,
  known: KnownValues,
): RedactionRecord {
  const isClean = (text: string): boolean => !known.isFoundIn(text);
  const removed: Record<string, number> = {};
  for (const [rule, count] of [...known.counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = isClean(rule) ? rule : `${rule.split(' ')[0]} [redacted]`;
    removed[name] = (removed[name] ?? 0) + count;
  }
  return {
    fields: fields.filter(isClean),
    patterns: patterns
      .filter(({ source }) => isClean(source))
      .map(({ source, flags }) => ({ source, flags })),
    replacements: known.replacements,
    removed,
  };
}
