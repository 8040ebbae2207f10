import type { JsonValue } from '../../base/json.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { Intent } from '../../loop/intent.ts';
import type { Position } from '../../loop/position.ts';
import type { Agent } from '../../runnables/agent.ts';
import { createState } from '../../session/scoped-state.ts';
import {
  applyGuardrails,
  type Guardrail,
  guardrailsAt,
  type OutputCheck,
} from '../../supervision/guardrail.ts';
import type { BodyEnd } from '../frame/invocation.ts';
import type { BodyFrame } from '../frame/run-context.ts';
import { BodyState } from '../invoke/body-state.ts';
import { outputFailure, readResult } from './answer-judge.ts';

/** Whether an agent ends with a tool result that has to fit a schema. */
export function endsWithResult({ output }: Agent, { final }: Position): boolean {
  return final !== undefined && output?.schema !== undefined;
}

/**
 * The end of an agent whose answer is a tool result: what the schema makes of it, or an error when
 * it does not fit.
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

/** What an agent ends with when it has answered. */
export type AnswerEnd = Pick<Extract<Intent, { type: 'finish' }>, 'output' | 'stopReason'>;

/**
 * The end of an agent that has answered: the answer is written to session state where the agent
 * says so.
 */
export function answeredEnd(
  { run, record }: BodyFrame,
  agent: Agent,
  position: Position,
  { output, stopReason }: AnswerEnd,
): BodyEnd {
  const { key, schema } = agent.output ?? {};
  // What stands in the place of an answer is not what the key is for.
  if (stopReason === 'refused') return { status: 'completed', output, stopReason };
  if (schema !== undefined && position.parsed === undefined && position.final === undefined) {
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
  // What a schema has made is checked; that it need not take again.
  createState(writes, schema === undefined ? agent.stateSchema : undefined).update({
    [key]: output,
  });
  const { drafts, extras } = writes.take();
  return { status: 'completed', output, stopReason, before: drafts, extras };
}

/**
 * A tool result that is the answer goes out as what a model says does: through the guardrails of
 * answers. No other round follows in which anything could be mended, so guidance is only written
 * down.
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
  const drafts = decisions.map(({ tell: _told, ...decision }): EventDraft => {
    return { type: 'decision', by: 'runtime', invocationId: frame.record.path, ...decision };
  });
  if (denied !== undefined)
    return { output: denied.message, stopReason: 'refused', decisions: drafts };
  return { ...end, output: value, decisions: drafts };
}
