import type { JsonValue } from '../../../base/json.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { Intent } from '../../../loop/intent.ts';
import type { Position } from '../../../loop/position.ts';
import type { Agent } from '../../../runnables/agent.ts';
import { createState } from '../../../session/scoped-state.ts';
import {
  applyGuardrails,
  type Guardrail,
  guardrailsAt,
  type OutputCheck,
} from '../../../supervision/guardrail.ts';
import type { BodyEnd } from '../../frame/invocation.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { BodyState } from '../../invoke/state/body-state.ts';
import { guardrailDraft } from '../supervision/decision-draft.ts';
import { outputFailure, readResult } from './answer-judge.ts';

/** True when an agent ends with a tool result that must fit a schema. */
export function endsWithResult({ output }: Agent, { ending }: Position): boolean {
  return ending.result !== undefined && output?.schema !== undefined;
}

/**
 * Returns the end of an agent whose answer is a tool result. It has the value that the schema makes
 * of the result, or an error when the result does not fit.
 */
export async function readFinal(
  agent: Agent,
  end: BodyEnd,
  finish: (output: JsonValue) => BodyEnd,
): Promise<BodyEnd> {
  const read = await readResult(agent, end.output ?? null);
  return 'error' in read
    ? { status: 'error', error: read.error, stopReason: end.stopReason }
    : finish(read.value);
}

/** Output and stop reason of an agent that has answered. */
export type AnswerEnd = Pick<Extract<Intent, { type: 'finish' }>, 'output' | 'stopReason'>;

/**
 * Returns the end of an agent that has answered. The answer is written to session state under
 * `output.key`, if there is one. Without an answer that fits the schema it is an error.
 */
export function answeredEnd(
  { run, record }: BodyFrame,
  agent: Agent,
  position: Position,
  { output, stopReason }: AnswerEnd,
): BodyEnd {
  const { key, schema } = agent.output ?? {};
  // A refusal in the place of an answer is not written under the key.
  if (stopReason === 'refused') return { status: 'completed', output, stopReason };
  if (
    schema !== undefined &&
    position.answer.parsed === undefined &&
    position.ending.result === undefined
  ) {
    const why = stopReason === undefined ? '' : `, and it was to stop (${stopReason})`;
    return {
      status: 'error',
      error: outputFailure(
        `"${agent.name}" has no answer that has the form that is asked for${why}`,
        agent.name,
      ),
      stopReason,
    };
  }
  if (key === undefined) return { status: 'completed', output, stopReason };
  const writes = new BodyState(run, {
    path: record.path,
    childRoot: record.path,
    by: 'runtime',
    startedAt: run.ledger.lastSeq,
  });
  // A value made by a schema is already checked, so the state schema does not check it again.
  createState(writes, schema === undefined ? agent.stateSchema : undefined).update({
    [key]: output,
  });
  const { drafts, extras } = writes.take();
  return { status: 'completed', output, stopReason, before: drafts, extras };
}

/**
 * Applies the output guardrails to a tool result that is the answer, as to a text of the model.
 * Guidance is only recorded: no other round follows for a correction.
 */
export function guardedResult(
  frame: BodyFrame,
  check: Pick<OutputCheck, 'agent' | 'round' | 'tools'>,
  guardrails: readonly Guardrail[],
  end: AnswerEnd,
): AnswerEnd & { readonly decisions: readonly EventDraft[] } {
  const guards = guardrailsAt(guardrails, 'output');
  if (guards.length === 0 || typeof end.output !== 'string' || end.output === '')
    return { ...end, decisions: [] };
  const { value, denied, decisions } = applyGuardrails('output', guards, {
    ...check,
    text: end.output,
  });
  const drafts = decisions.map(({ tell: _told, ...decided }) =>
    guardrailDraft(frame.record.path, decided),
  );
  if (denied !== undefined)
    return { output: denied.message, stopReason: 'refused', decisions: drafts };
  return { ...end, output: value, decisions: drafts };
}
