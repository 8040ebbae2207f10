import { sha256 } from '../base/hash.ts';
import { canonicalJson, type JsonValue } from '../base/json.ts';
import { unknownToolType, unreadableAction } from '../ledger/tool-name.ts';
import { isSuccess, type ToolResult } from '../ledger/tool-result.ts';
import { resultKey } from './result-key.ts';

/** A settled call, as the loop detector sees it. */
export interface CallEvidence {
  readonly name: string;
  readonly args: JsonValue;
  readonly result: ToolResult;
  /** Counts the messages from outside that the model had read when it made the call. */
  readonly turn: number;
  /**
   * The position of the call in its invocation. Calls of one round count in the order in which the
   * model asked for them, independent of their ends.
   */
  readonly round?: number;
  readonly index?: number;
}

/** Calls that are remembered at most; the window of the loop detector is never wider. */
export const mostEvidence = 100;

/** `errorType` of calls that the loop detector did not let through. */
export const vetoType = 'loop_blocked';

/** `errorType` of calls of tools that there are not, and of actions that could not be read. */
const toollessTypes: ReadonlySet<string | undefined> = new Set([unknownToolType, unreadableAction]);

/** True for the error of a call without a tool: such calls are equal with any arguments. */
export function isToolless(errorType: string | undefined): boolean {
  return toollessTypes.has(errorType);
}

/** `errorType` of a thrown error without a kind of its own. */
export const vagueType = 'tool_error';

/** True when a result is the loop detector's own: a veto is no progress and no evidence. */
export function isVeto({ errorType, status }: ToolResult): boolean {
  return errorType === vetoType && status === 'error_blocked';
}

/** Results that a person or the process caused; they are no evidence about the call. */
const exemptTypes: ReadonlySet<string | undefined> = new Set([
  'rejected',
  'expired',
  'cancelled',
  'unknown_unresolved',
  'interrupted',
]);

/** True when a call counts as a possible repetition. */
export function isEvidence({ result }: CallEvidence): boolean {
  return result.status !== 'unknown' && !exemptTypes.has(result.errorType) && !isVeto(result);
}

/**
 * Returns how many calls in a row were of tools that do not exist, under any names, since the last
 * success and the last message from outside.
 */
export function inventedInARow(evidence: readonly CallEvidence[], turn: number): number {
  let count = 0;
  for (let i = evidence.length - 1; i >= 0; i--) {
    const earlier = evidence[i] as CallEvidence;
    if (earlier.turn !== turn || isSuccess(earlier.result)) break;
    if (earlier.result.errorType === unknownToolType) count++;
  }
  return count;
}

/** Arguments up to this length are compared as they stand. */
const longestKey = 1_000;

const keys = new WeakMap<CallEvidence, string>();

/** Returns arguments as a text that is the same for equal arguments in any order of members. */
export function argsKey(args: JsonValue): string {
  const text = canonicalJson(args);
  return text.length <= longestKey ? text : sha256(text);
}

/** `argsKey` of a settled call, computed once. */
export function evidenceKey(evidence: CallEvidence): string {
  let key = keys.get(evidence);
  if (key === undefined) {
    key = argsKey(evidence.args);
    keys.set(evidence, key);
  }
  return key;
}

/** The kind of a failure in one word; `undefined` for a success. */
export function failureType(result: ToolResult): string | undefined {
  return isSuccess(result) && result.errorType === undefined
    ? undefined
    : (result.errorType ?? result.status);
}

/**
 * Returns the failures of one cause in a row: the same call ended with the same type of error, up
 * to the newest one. A new kind of call between them may have changed something outside and so
 * removed the cause. Failures before it do not count.
 * @param mayChange true for a tool that may change something outside @default none does
 */
export function failuresInARow(
  evidence: readonly CallEvidence[],
  { name, args }: { readonly name: string; readonly args: JsonValue },
  errorType: string,
  mayChange?: (tool: string, errorType: string) => boolean,
): number {
  const byName = isToolless(errorType);
  let wanted: string | undefined;
  let words: string | undefined;
  let count = 0;
  for (let i = evidence.length - 1; i >= 0; i--) {
    const earlier = evidence[i] as CallEvidence;
    if (!isEvidence(earlier)) continue;
    if (!byName) wanted ??= argsKey(args);
    if (earlier.name !== name || (!byName && evidenceKey(earlier) !== wanted)) {
      if (
        mayChange !== undefined &&
        isSuccess(earlier.result) &&
        mayChange(earlier.name, errorType) &&
        isFirst(evidence, i)
      )
        return count;
      continue;
    }
    if (failureType(earlier.result) !== errorType) return count;
    // An error that says nothing of its kind is told from others by its words.
    if (errorType === vagueType) {
      words ??= resultKey(earlier.result);
      if (resultKey(earlier.result) !== words) return count;
    }
    count++;
  }
  return count;
}

/** True when no call before it was the same. */
function isFirst(evidence: readonly CallEvidence[], index: number): boolean {
  const one = evidence[index] as CallEvidence;
  for (let i = 0; i < index; i++) {
    const earlier = evidence[i] as CallEvidence;
    if (earlier.name === one.name && evidenceKey(earlier) === evidenceKey(one)) return false;
  }
  return true;
}
