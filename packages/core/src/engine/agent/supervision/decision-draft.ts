import { defined } from '../../../base/defined.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { SupervisedResult } from '../../../effects/tool-call/supervisor.ts';
import { type DecisionDraft, decision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import type { GuardrailDecision } from '../../../supervision/guardrail.ts';

/** Content of one `decision` event of the supervision. */
export interface SupervisionDecision {
  /** Part of the supervision that decided, as `loop_detector`. */
  readonly component: string;
  readonly decision: string;
  readonly reasoning: string;
  /** Choices that were not taken. */
  readonly alternatives: readonly string[];
  readonly data: Readonly<Record<string, JsonValue>>;
}

/** Returns the draft of a `decision` event of the invocation at `path`. */
export function decisionDraft(path: string, decided: SupervisionDecision): EventDraft {
  const { component, decision, reasoning, alternatives, data } = decided;
  return {
    type: 'decision',
    by: 'runtime',
    invocationId: path,
    component,
    decision,
    reasoning,
    alternatives,
    data,
  };
}

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
export function refusal(
  path: string,
  result: ToolResult,
  decided: SupervisionDecision,
): SupervisedResult {
  return {
    result,
    notes: [],
    writes: { drafts: [decisionDraft(path, decided)], extras: undefined },
  };
}
