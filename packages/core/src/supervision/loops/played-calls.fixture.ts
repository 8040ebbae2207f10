import type { JsonValue } from '../../base/json.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { CallEvidence } from '../evidence.ts';
import { resolveSupervision } from '../options.ts';
import { type JudgedCall, judgeCall, judgeResult } from './loop-detector.ts';
import type { LoopVerdict } from './loop-verdict.ts';

/** The thresholds that apply without any setting. */
export const options = resolveSupervision(undefined, undefined, []).loops as NonNullable<
  ReturnType<typeof resolveSupervision>['loops']
>;
/** A check for exhausted calls that finds none. */
export const never = () => false;

/** A result with `content`. */
export const success = (content: JsonValue): ToolResult => ({ status: 'success', content });
/** A failed result with this type of error. */
export const failed = (
  errorType: string,
  status: ToolResult['status'] = 'error_permanent',
): ToolResult => ({ status, content: 'no', errorType });

/** A call as the detector sees it. */
export function call(
  name: string,
  args: JsonValue = {},
  more: Partial<JudgedCall> = {},
): JudgedCall {
  return { name, args, turn: 1, isKnown: true, ...more };
}

interface Judged {
  readonly ran: boolean;
  readonly block: LoopVerdict | undefined;
  readonly warn: LoopVerdict | undefined;
}

/** Judges calls that are made one after the other; a blocked call has no result. */
export function play(
  calls: readonly { readonly call: JudgedCall; readonly result: ToolResult }[],
  given = options,
  isExhausted = never as never,
): Judged[] {
  const evidence: CallEvidence[] = [];
  return calls.map(({ call: made, result }) => {
    const block = judgeCall(evidence, made, given, isExhausted);
    if (block !== undefined) return { ran: false, block, warn: undefined };
    const warn = judgeResult(evidence, made, result, given);
    evidence.push({ name: made.name, args: made.args, result, turn: made.turn });
    return { ran: true, block, warn };
  });
}

/** One sign for each call: `.` ran, `w` was warned of, `x` was not made. */
export const shown = (judged: readonly Judged[]): string =>
  judged.map(({ ran, warn }) => (ran ? (warn === undefined ? '.' : 'w') : 'x')).join('');

/** Makes `count` calls with their results. */
export const times = (
  count: number,
  make: (i: number) => { call: JudgedCall; result: ToolResult },
) => Array.from({ length: count }, (_, i) => make(i));
