import type { JsonObject, JsonValue } from '../base/json.ts';
import { secretsInUse } from '../base/secret.ts';
import { type Event, eventVersions } from '../ledger/event.ts';
import { lostFingerprint } from './hash-renames.ts';
import { anyOf, defaultReplacement, escapePattern, KnownValues } from './known-values.ts';
import type { LedgerFile } from './ledger-file.ts';
import { redactEvent } from './redact-events.ts';
import { searching } from './redaction-rules.ts';
import { Redactor } from './redactor.ts';

/** The replacement of every value that is taken out when two sides are compared. */
const mark = '[redacted]';
const standInNumbers = /(?<!\d)99\d{7}(?!\d)/g;
// Code may have made capitals of it.
const defaultMarks = /\[redacted \d+\]/gi;

/**
 * Takes the same out of what the code under test does that was taken out of its ledger, so that the
 * two can be compared: every value that the rules take out, and everything that stands in the place
 * of one, becomes the same mark.
 */
export function redactionNormalizer({
  redaction,
  events,
}: Pick<LedgerFile, 'redaction' | 'events'>): (value: JsonValue) => JsonValue {
  const { fields, patterns, replacements } = redaction;
  const lost = callsWithoutFingerprint(events);
  const known = new KnownValues(defaultReplacement);
  const numbers = new Set<unknown>(replacements.filter((one) => typeof one === 'number'));
  const redactor = new Redactor(
    { fields, patterns: patterns.map(searching), replace: defaultReplacement },
    known,
  );
  // Secrets may be made while the code under test runs.
  const learn = (): void => {
    for (const secret of secretsInUse())
      if (secret.reveal() !== '') known.add(secret.reveal(), `secret ${secret.name}`, true);
  };
  const texts = replacements.filter((one) => typeof one === 'string');
  const marks = [...anyOf(texts, escapePattern, 'gi'), defaultMarks];
  const isMarked = (number: number): boolean => numbers.has(number) || known.isNumberFor(number);
  const marked = (value: JsonValue | undefined): JsonValue | undefined => {
    if (typeof value === 'string') {
      const told = marks.reduce((text, pattern) => text.replace(pattern, mark), value);
      return told.replace(standInNumbers, (digits) => (isMarked(Number(digits)) ? mark : digits));
    }
    if (typeof value === 'number') return isMarked(value) ? mark : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((part) => marked(part) as JsonValue);
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [String(marked(key)), marked(part)]),
    );
  };
  return (value) => {
    learn();
    const { type } = value as { readonly type?: unknown };
    const isEvent = typeof type === 'string' && Object.hasOwn(eventVersions, type);
    const redacted = isEvent
      ? redactEvent(value as unknown as Event, redactor)
      : redactor.redact(value, { keys: [], isPrompt: true });
    const told = withoutFingerprint(redacted as JsonValue, lost);
    return marked(replacements.length === 0 ? told : withoutSizes(told)) as JsonValue;
  };
}

/** The calls of whose attempts the file does not know what they were made with. */
function callsWithoutFingerprint(events: readonly Event[]): ReadonlySet<unknown> {
  const lost = events.filter(
    (event) => event.type === 'tool_attempt' && event.fingerprint?.startsWith(lostFingerprint),
  );
  return new Set(lost.map((event) => 'callId' in event && event.callId));
}

function withoutFingerprint(value: JsonValue, lost: ReadonlySet<unknown>): JsonValue {
  const { type, callId, fingerprint: _lost, ...rest } = value as JsonObject;
  return type === 'tool_attempt' && lost.has(callId) ? { type, callId, ...rest } : value;
}

/**
 * Members of a decision with the size of prompts. They change with the values taken out of the
 * prompts.
 */
const sizes: ReadonlySet<string> = new Set(['tokensBefore', 'tokensAfter', 'needed']);

function withoutSizes(value: JsonValue): JsonValue {
  const { type, data, ...rest } = value as JsonObject;
  if (type !== 'decision' || typeof data !== 'object' || data === null || Array.isArray(data))
    return value;
  return {
    type,
    ...rest,
    data: Object.fromEntries(Object.entries(data).filter(([key]) => !sizes.has(key))),
  };
}
