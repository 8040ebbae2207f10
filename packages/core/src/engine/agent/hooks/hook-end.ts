import { decision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { BatchExtras } from '../../../ledger/ledger-writer.ts';
import type { Agent } from '../../../runnables/agent.ts';
import type { BodyEnd } from '../../frame/invocation.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { planHandoff } from '../../invoke/handoff.ts';
import type { BeforeAgent } from './agent-hooks.ts';

/**
 * True when a model call has ended with an answer or an error. Only such an end records earlier
 * writes of hooks.
 */
export function hasEndedModelCall({ events }: InvocationRecord): boolean {
  return events.some(
    (event) =>
      event.type === 'model_end' && (event.status === 'completed' || event.status === 'error'),
  );
}

/**
 * Returns the end of an agent for which a `beforeAgent` hook gave an answer or a handoff before any
 * step.
 */
export function hookEnd(
  { run, record }: BodyFrame,
  agent: Agent,
  given: BeforeAgent,
  {
    drafts,
    extras,
  }: { readonly drafts: readonly EventDraft[]; readonly extras: BatchExtras | undefined },
): BodyEnd {
  const noted = (name: 'answer' | 'transfer', reasoning: string): EventDraft =>
    decision('hooks', name, {
      invocationId: record.path,
      reasoning,
      alternatives: ['let the agent do its work'],
      data: { owner: given.by },
    });
  if ('answer' in given) {
    // The `round` marks the text as one of an agent, not of the app: other agents read it as such.
    const said: EventDraft = {
      type: 'assistant',
      by: 'runtime',
      invocationId: record.path,
      agent: agent.name,
      text: given.answer,
      round: 0,
    };
    const note = noted('answer', `beforeAgent of ${given.by} answered in the place of the agent.`);
    // The text replaces a value of the requested form.
    const stopReason = agent.output?.schema === undefined ? undefined : ('refused' as const);
    return {
      status: 'completed',
      output: given.answer,
      stopReason,
      before: [...drafts, note, said],
      extras,
    };
  }
  const plan = planHandoff(run, record.path, given.target);
  if ('refused' in plan) {
    const error = { name: 'HandoffRefusedError', code: 'handoff_refused', message: plan.refused };
    return { status: 'error', error, before: drafts, extras };
  }
  const note = noted(
    'transfer',
    `beforeAgent of ${given.by} handed over to "${given.target.name}".`,
  );
  return {
    status: 'transferred',
    next: plan.next,
    before: [...drafts, note, ...plan.drafts],
    extras,
  };
}

/** Joins the extras of two appends into those of one. */
export function joined(
  one: BatchExtras | undefined,
  other: BatchExtras | undefined,
): BatchExtras | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { ...one, ...other, shared: [...(one.shared ?? []), ...(other.shared ?? [])] };
}
