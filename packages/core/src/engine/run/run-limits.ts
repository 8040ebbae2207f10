import { decision, isDecision } from '../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../ledger/event.ts';
import { type ResolvedRunLimits, type RunLimits, resolveRunLimits } from '../frame/run-options.ts';

const kinds = ['rounds', 'tokens', 'cost', 'errors', 'depth'] as const;

/** The own limits of a run, as the ledger records them. */
function recordedLimits(events: readonly Event[], runId: string): RunLimits | undefined {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (isDecision(event, 'limits', 'set') && event.invocationId === runId) return event.data;
  }
  return undefined;
}

/**
 * The limits of a run. Limits of this request come first, then recorded ones, then those of the
 * runtime.
 */
export function limitsOfRun(
  events: readonly Event[],
  runId: string,
  limits: ResolvedRunLimits,
): ResolvedRunLimits {
  const recorded = recordedLimits(events, runId);
  return recorded === undefined
    ? limits
    : resolveRunLimits(limits.own, resolveRunLimits(recorded, limits));
}

/**
 * Records the own limits of a run, so that a process that continues it after a crash keeps them.
 */
export function limitDrafts(
  events: readonly Event[],
  runId: string,
  { own }: ResolvedRunLimits,
): readonly EventDraft[] {
  if (own === undefined) return [];
  const recorded = recordedLimits(events, runId);
  const changed = kinds.filter((kind) => own[kind] !== undefined && own[kind] !== recorded?.[kind]);
  if (changed.length === 0) return [];
  const limits: RunLimits = Object.fromEntries(
    kinds.flatMap((kind) =>
      (own[kind] ?? recorded?.[kind]) === undefined ? [] : [[kind, own[kind] ?? recorded?.[kind]]],
    ),
  );
  const listed = changed.map((kind) => `${kind} ${own[kind]}`).join(', ');
  return [
    decision('limits', 'set', {
      by: 'user',
      invocationId: runId,
      reasoning: `Limits were given for this run: ${listed}.`,
      data: limits,
    }),
  ];
}
