import type { EventDraft } from '../../../ledger/event.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import { type ResultDraft, resultDraft } from '../../result-draft.ts';
import { callFingerprint } from '../call-fingerprint.ts';
import type { Attempt } from './attempt.ts';

/**
 * Returns the event that an attempt begins.
 * @param fingerprint the fingerprint of the call, when the preparation has made it
 */
export function attemptDraft(attempt: Attempt, fingerprint: string | undefined): EventDraft {
  const { state, tool, key, deadline, ports } = attempt;
  const named =
    fingerprint ?? (isNamed(attempt) ? callFingerprint(tool.name, attempt.args) : undefined);
  return {
    type: 'tool_attempt',
    by: 'runtime',
    invocationId: ports.path,
    callId: state.call.callId,
    attempt: attempt.attempt,
    key,
    deadline,
    epoch: ports.ledger.lease.epoch,
    ...(named === undefined ? {} : { fingerprint: named }),
    ...(state.fallback === undefined ? {} : { tool: tool.name }),
  };
}

/** Returns the event that the attempt ends, with the version of the tool that ran. */
export function attemptResult(
  { call, tool, attempt, ports }: Attempt,
  result: ToolResult,
  more: Parameters<typeof resultDraft>[4],
): ResultDraft {
  const { version } = tool;
  return resultDraft(
    call,
    ports.path,
    attempt,
    result,
    version === undefined ? more : { ...more, toolVersion: version },
  );
}

/**
 * True for a call with an answer, and for one whose arguments are not the model's. The recorded
 * fingerprint names such a call, whether or not it may be run again.
 */
function isNamed({ state, args, call, ports }: Attempt): boolean {
  return state.answered.length > 0 || !isSameText(args, ports.ledger.resolve(call.args));
}

/**
 * True when two values have the same JSON text. Another order of keys counts as different, and so
 * does a value that cannot be compared at once.
 */
function isSameText(a: unknown, b: unknown): boolean {
  try {
    return JSON.stringify(a) === JSON.stringify(b);
  } catch {
    return false;
  }
}
