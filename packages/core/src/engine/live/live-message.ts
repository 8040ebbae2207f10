import type { JsonValue } from '../../base/json.ts';
import type { TransientEvent } from '../../ledger/event.ts';
import type { LivePart, LiveProgress } from './live-text.ts';

/** A message with live text of a session. */
export interface LiveMessage {
  readonly from: string;
  readonly parts: readonly LivePart[];
  readonly reports: readonly LiveProgress[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Largest number of levels in a tool's report. Code that writes it out calls itself for each level.
 */
const deepest = 200;

/**
 * Reads a message that any process on the channel may have sent. The result is made anew of the
 * expected fields. So nothing can pass for an event of the ledger, which followers would believe.
 * @returns `undefined` for a message that no process of this app has sent
 */
export function readLiveMessage(message: JsonValue): LiveMessage | undefined {
  const { from, parts, reports } = message as Fields;
  if (typeof from !== 'string' || !Array.isArray(parts) || !Array.isArray(reports))
    return undefined;
  const readParts = parts.map(readPart);
  const readReports = reports.map(readReport);
  const isWhole = !readParts.includes(undefined) && !readReports.includes(undefined);
  return isWhole
    ? { from, parts: readParts as LivePart[], reports: readReports as LiveProgress[] }
    : undefined;
}

function readPart(given: unknown): LivePart | undefined {
  const { invocationId, agent, generation, isReset, after, stream, head, offset, text } =
    fieldsOf(given);
  if (
    typeof invocationId !== 'string' ||
    typeof agent !== 'string' ||
    typeof generation !== 'string' ||
    typeof stream !== 'string'
  )
    return undefined;
  if (
    typeof text !== 'string' ||
    typeof isReset !== 'boolean' ||
    !isCount(after) ||
    !isCount(offset)
  )
    return undefined;
  const { type, providerCallId, name } = fieldsOf(head);
  const of = { invocationId, agent, delta: '' };
  const part = { invocationId, agent, generation, isReset, after, stream, offset, text };
  if (type === 'assistant_delta' || type === 'thought_delta')
    return { ...part, head: { type, ...of } };
  const isCall =
    type === 'tool_args_delta' && typeof providerCallId === 'string' && typeof name === 'string';
  return isCall ? { ...part, head: { type, ...of, providerCallId, name } } : undefined;
}

function readReport(given: unknown): LiveProgress | undefined {
  const { event, after, number } = fieldsOf(given);
  const { type, invocationId, callId, name, data = null } = fieldsOf(event);
  if (
    type !== ('tool_progress' satisfies TransientEvent['type']) ||
    !isCount(after) ||
    !isCount(number)
  )
    return undefined;
  if (
    typeof invocationId !== 'string' ||
    typeof callId !== 'string' ||
    typeof name !== 'string' ||
    isTooDeep(data)
  )
    return undefined;
  return { event: { type, invocationId, callId, name, data: data as JsonValue }, after, number };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}
