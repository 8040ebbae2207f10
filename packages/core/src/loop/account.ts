import type { StopReason } from '../ledger/event.ts';
import { isSuccess } from '../ledger/tool-result.ts';
import type { Position } from './position.ts';

const reasons: { readonly [Reason in StopReason]: string } = {
  round_limit: 'the rounds that it may take are used up',
  token_limit: 'the tokens that it may use are used up',
  cost_limit: 'the money that it may spend is used up',
  error_limit: 'too many attempts failed',
  output_limit: 'the answer may not be longer',
  loop: 'the same calls led nowhere again and again',
  goal_unmet: 'no answer did what was asked',
  refused: 'it was not let in',
};

const longestDetail = 200;

/**
 * Returns an account made without a model: the reason for the missing answer, and the calls tried.
 * It is meant for people and for the agent that asked for the answer.
 */
export function accountOf({ supervision }: Position, reason: StopReason): string {
  const lines = new Map<string, number>();
  for (const { name, result } of supervision.evidence) {
    const content =
      typeof result.content === 'string' ? result.content : JSON.stringify(result.content);
    const detail =
      content.length <= longestDetail ? content : `${content.slice(0, longestDetail)}…`;
    const outcome = isSuccess(result)
      ? `gave ${detail}`
      : `failed (${result.errorType ?? result.status}): ${detail}`;
    const line = `${name} ${outcome}`;
    lines.set(line, (lines.get(line) ?? 0) + 1);
  }
  const tried = [...lines].map(
    ([line, times]) => `- ${line}${times === 1 ? '' : ` (${times} times)`}`,
  );
  const intro = `There is no answer: ${reasons[reason]}.`;
  return tried.length === 0 ? intro : `${intro} What was tried:\n${tried.join('\n')}`;
}
