import { defined } from '../../base/defined.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { Firing, TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { Send } from '../../ledger/port.ts';
import { causeOf } from '../firings/cause.ts';
import { hourlyAllowance } from '../firings/hourly-limit.ts';
import { type OverlapPolicy, overlapDecision } from '../firings/overlap.ts';
import { type FiringTaskParts, firingTask } from './firing-task.ts';
import type { TriggerState } from './trigger-state.ts';

/** The events of a firing, with the messages that land with them. */
export interface PlacedFiring {
  readonly drafts: readonly EventDraft[];
  readonly sends: readonly Send[];
}

export interface PlaceParts extends Omit<FiringTaskParts, 'cause'> {
  /** True when the open work waits for a person. */
  readonly waitsForPerson: boolean;
  /** Last considered instant after the firing of a schedule. */
  readonly considered?: number | undefined;
}

type Considered = { readonly considered?: number };

/** Decides what becomes of a firing: it starts, waits, joins another, is skipped or refused. */
export function placeFiring(
  state: TriggerState,
  declaration: TriggerDeclaration,
  firing: Firing,
  parts: PlaceParts,
): PlacedFiring {
  const considered: Considered = defined({ considered: parts.considered });
  const { mostPerHour } = declaration;
  // Those of a schedule were counted when they were chosen.
  const { left } = hourlyAllowance({ firedAt: state.firedAt, now: parts.now, mostPerHour });
  if (left === 0 && firing.kind !== 'schedule')
    return refused(firing, considered, {
      reason: 'hourly_limit',
      reasoning: `The trigger has fired ${mostPerHour} times within an hour.`,
    });
  if (state.open === undefined && state.queued.length === 0)
    return start(declaration, firing, parts, considered);
  return placeBehind(state, declaration, firing, parts, considered);
}

/** Decides what becomes of a firing while the task of an earlier one goes on. */
function placeBehind(
  state: TriggerState,
  declaration: TriggerDeclaration,
  firing: Firing,
  parts: PlaceParts,
  considered: Considered,
): PlacedFiring {
  const { open, queued } = state;
  const { action, reason, reasoning } = overlapDecision(declaration.overlap as OverlapPolicy, {
    open: open && {
      ...{ instant: open.firing.instant, waitsForPerson: parts.waitsForPerson },
      cancelled: open.cancelled,
    },
    queued: queued.length,
  });
  // Missed firings of which all are wanted come one after another, whatever the overlap.
  const isOneOfAll = firing.missed === true && declaration.missed === 'all';
  const data = { firing, reason, ...considered };
  if (isOneOfAll) return { drafts: [decision('trigger', 'queue', { reasoning, data })], sends: [] };
  switch (action) {
    case 'start':
      return start(declaration, firing, parts, considered);
    case 'skip':
      return { drafts: [decision('trigger', 'skip', { reasoning, data })], sends: [] };
    case 'coalesce':
      return { drafts: [decision('trigger', 'join', { reasoning, data })], sends: [] };
    case 'queue':
      return { drafts: [decision('trigger', 'queue', { reasoning, data })], sends: [] };
    case 'cancel_first': {
      const drafts: EventDraft[] = [decision('trigger', 'queue', { reasoning, data })];
      if (open === undefined) return { drafts, sends: [] };
      drafts.push(decision('trigger', 'cancel', { reasoning, data: { task: open.task } }));
      return { drafts, sends: [cancelSend(open, reasoning, parts.now)] };
    }
  }
}

/** Starts the work of a firing, unless its chain of causes forbids it. */
export function start(
  declaration: TriggerDeclaration,
  firing: Firing,
  parts: Omit<FiringTaskParts, 'cause'>,
  considered: Considered = {},
): PlacedFiring {
  const { name, reentrant } = declaration;
  const found = causeOf(firing.cause, { id: `trigger:${name}`, reentrant });
  if (!found.accepted)
    return refused(firing, considered, {
      ...{ reason: found.reason, reasoning: found.reasoning, chain: found.chain },
    });
  const { send, session, task } = firingTask(declaration, firing, {
    ...parts,
    cause: found.cause,
  });
  const reasoning = reasonOf(firing);
  const data = { firing, task, session, ...considered };
  return { drafts: [decision('trigger', 'fire', { reasoning, data })], sends: [send] };
}

function reasonOf({ instant, kind, missed, standsFor = 1 }: Firing): string {
  const when = new Date(instant).toISOString();
  const late = missed === true ? ', late' : '';
  const many = standsFor > 1 ? `; it stands for ${standsFor}` : '';
  return `The trigger fires (${kind}) for ${when}${late}${many}.`;
}

function refused(
  firing: Firing,
  considered: Considered,
  why: { readonly reason: string; readonly reasoning: string; readonly chain?: readonly string[] },
): PlacedFiring {
  const { chain, reason, reasoning } = why;
  const data = { firing, reason, ...considered, ...(chain === undefined ? {} : { chain }) };
  return { drafts: [decision('trigger', 'refuse', { reasoning, data })], sends: [] };
}

/** The cancel of the open work of a trigger. */
export function cancelSend(
  { session, task }: { readonly session: string; readonly task: string },
  reason: string,
  at: number,
): Send {
  return {
    to: session,
    turn: { leave: true },
    item: {
      key: `cancel:${task}:trigger`,
      lane: 'control',
      by: 'trigger',
      at,
      type: 'cancel',
      data: { runId: task, isTask: true, reason },
    },
  };
}
