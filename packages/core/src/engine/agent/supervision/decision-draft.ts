import { defined } from '../../../base/defined.ts';
import type { SupervisedResult } from '../../../effects/tool-call/supervisor.ts';
import { type DecisionDraft, decision } from '../../../ledger/decisions/decision.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import type { GuardrailDecision } from '../../../supervision/guardrail.ts';

/**
 * Returns the draft of a guardrail's decision about the invocation at `path`.
 * @param more data that the decision has besides
 */
export function guardrailDraft(
  path: string,
  { decision: name, reasoning, alternatives, data, tell }: GuardrailDecision,
  more: Partial<GuardrailDecision['data']> = {},
): DecisionDraft {
  return decision('guardrail', name, {
    invocationId: path,
    reasoning,
    alternatives,
    data: { ...data, ...more },
    ...defined({ tell }),
  });
}

/** Returns a result that stands in the place of an attempt, with the decision for it. */
export function refusal(result: ToolResult, draft: DecisionDraft): SupervisedResult {
  return { result, notes: [], writes: { drafts: [draft], extras: undefined } };
}
