import type { JsonObject, JsonValue } from '../../base/json.ts';
import { secretsInUse } from '../../base/secret.ts';
import { type Event, eventVersions } from '../../ledger/event.ts';
import { defaultReplacement, escapePattern, KnownValues } from './known-values.ts';
import type { LedgerFile } from './ledger-file.ts';
import { lostFingerprint, redactEvent } from './redact-events.ts';
import { searching } from './redaction-rules.ts';
import { Redactor } from './redactor.ts';

/** What stands in the place of everything that is taken out when two sides are compared. */
const mark = '[redacted]';
// Code may have made capitals of it.
const defaultMarks = /\[redacted \d+\]/gi;

/**
 * Takes the same out of what the code under test does that was taken out of its ledger, so that the two can be compared: every value that the
 * rules take out, and everything that stands in the place of one, becomes the same mark.
 */
export function redactionNormalizer({ redaction, events }: Pick<LedgerFile, 'redaction' | 'events'>): (value: JsonValue) => JsonValue {
  const { fields, patterns, replacements } = redaction;
  const lost = callsWithoutFingerprint(events);
  const known = new KnownValues(defaultReplacement);
  const numbers = new Set<unknown>(replacements.filter((one) => typeof one === 'number'));
  const redactor = new Redactor({ fields, patterns: patterns.map(searching), replace: defaultReplacement }, known);
  // Secrets may be made while the code under test runs.
  const learn = (): void => {
    for (const secret of secretsInUse()) if (secret.reveal() !== '') known.add(secret.reveal(), `secret ${secret.name}`, true);
  };
  const marks = anyOf(replacements.map(String));
  const marked = (value: JsonValue | undefined): JsonValue | undefined => {
    if (typeof value === 'string') return value.replace(marks, mark).replace(defaultMarks, mark);
    if (typeof value === 'number') return numbers.has(value) || known.isNumberFor(value) ? mark : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((part) => marked(part) as JsonValue);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [String(marked(key)), marked(part)]));
  };
  return (value) => {
    learn();
    const { type } = value as { readonly type?: unknown };
    const isEvent = typeof type === 'string' && Object.hasOwn(eventVersions, type);
    const redacted = isEvent ? redactEvent(value as unknown as Event, redactor) : redactor.redact(value, { keys: [], isPrompt: true });
    return marked(withoutFingerprint(redacted as JsonValue, lost)) as JsonValue;
  };
}

/** The calls of whose attempts the file does not know what they were made with. */
function callsWithoutFingerprint(events: readonly Event[]): ReadonlySet<unknown> {
  const lost = events.filter((event) => event.type === 'tool_attempt' && event.fingerprint?.startsWith(lostFingerprint));
  return new Set(lost.map((event) => 'callId' in event && event.callId));
}

function withoutFingerprint(value: JsonValue, lost: ReadonlySet<unknown>): JsonValue {
  const { type, callId, fingerprint: _lost, ...rest } = value as JsonObject;
  return type === 'tool_attempt' && lost.has(callId) ? { type, callId, ...rest } : value;
}

/** Finds any of these texts, the longest first. */
function anyOf(texts: readonly string[]): RegExp {
  const sorted = [...new Set(texts)].sort((a, b) => b.length - a.length);
  return sorted.length === 0
    ? /(?!)/g
    : new RegExp(sorted.map((text) => (/^\d+$/.test(text) ? `(?<!\\d)${text}(?!\\d)` : escapePattern(text))).join('|'), 'gi');
}
