import type { JsonObject } from '../../base/json.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Firing, TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { Event } from '../../ledger/event.ts';
import { type ConditionState, conditionEdge } from '../firings/condition-edge.ts';

/**
 * State of a trigger.
 * - `active`: it fires.
 * - `paused`, `disabled`: it does not, until it is resumed.
 * - `completed`: it has no further instant.
 * - `deleted`: it is no more; its ledger is kept.
 */
export type TriggerStatus = 'active' | 'paused' | 'disabled' | 'completed' | 'deleted';

/** Work of a firing that has not ended. */
export interface OpenWork {
  readonly firing: Firing;
  readonly task: string;
  readonly session: string;
  readonly cancelled?: boolean;
}

/** The last firing that started work, and its end. */
export interface LastFiring {
  readonly at: number;
  readonly instant: number;
  readonly task: string;
  readonly session: string;
  /** Missing while it goes on. */
  readonly status?: string;
}

/** State of a trigger, folded from its ledger, as plain JSON. */
export interface TriggerState {
  readonly declaration?: TriggerDeclaration;
  readonly hash?: string;
  /** Hashes of all revisions: no process goes back to an older one. */
  readonly hashes: readonly string[];
  readonly revision: number;
  /** Number of times that it was created: a deleted one that is made again is another one. */
  readonly life: number;
  readonly createdAt: number;
  /** Beginning of the revision, from which intervals are counted. */
  readonly anchor: number;
  readonly considered: number;
  readonly status: TriggerStatus;
  readonly open?: OpenWork;
  readonly queued: readonly Firing[];
  /** Instants at which the firings of the last hour started. */
  readonly firedAt: readonly number[];
  readonly condition?: ConditionState;
  readonly fired: number;
  readonly failed: number;
  readonly last?: LastFiring;
}

/** State before all events. */
export const noTrigger: TriggerState = {
  hashes: [],
  revision: 0,
  life: 0,
  createdAt: 0,
  anchor: 0,
  considered: 0,
  status: 'deleted',
  queued: [],
  firedAt: [],
  fired: 0,
  failed: 0,
};

const hourMs = 3_600_000;

/** Folds the events of a trigger's ledger, or those that come after a state. */
export function triggerState(events: Iterable<Event>, before = noTrigger): TriggerState {
  let state = before;
  for (const event of events) state = folded(state, event);
  return state;
}

function folded(state: TriggerState, event: Event): TriggerState {
  if (isDecision(event, 'service', 'begin'))
    return event.data?.state === undefined ? state : (event.data.state as unknown as TriggerState);
  if (!isDecision(event, 'trigger')) return state;
  const next = changed(state, event);
  const considered = (event.data as { readonly considered?: number } | undefined)?.considered;
  return considered === undefined ? next : { ...next, considered };
}

type TriggerEvent = Extract<Event, { readonly type: 'decision' }>;

function changed(state: TriggerState, event: TriggerEvent): TriggerState {
  if (isDecision(event, 'trigger', 'declare')) return declared(state, event.at, event.data);
  if (isDecision(event, 'trigger', 'fire')) return fired(state, event.at, event.data);
  if (isDecision(event, 'trigger', 'end')) return ended(state, event.data);
  if (isDecision(event, 'trigger', 'queue'))
    return event.data === undefined
      ? state
      : { ...state, queued: [...state.queued, event.data.firing] };
  if (isDecision(event, 'trigger', 'join')) return joined(state, event.data?.firing);
  if (isDecision(event, 'trigger', 'check') && event.data !== undefined) {
    const { at, failed, met = false, saw } = event.data;
    const check = failed === undefined ? { at, met, saw } : { at, failed };
    return { ...state, condition: conditionEdge(state.condition, check).state };
  }
  if (isDecision(event, 'trigger', 'refuse')) return withoutQueued(state, event.data?.firing);
  if (isDecision(event, 'trigger', 'cancel'))
    return state.open?.task === event.data?.task && state.open !== undefined
      ? { ...state, open: { ...state.open, cancelled: true } }
      : state;
  return { ...state, ...statusAfter(state, event) };
}

function statusAfter(state: TriggerState, { at, decision }: TriggerEvent): Partial<TriggerState> {
  switch (decision) {
    case 'pause':
      return { status: 'paused' };
    case 'disable':
      return { status: 'disabled' };
    case 'complete':
      return { status: 'completed' };
    case 'delete':
      return { status: 'deleted', queued: [] };
    case 'resume':
      // Nothing that came while it did not fire is made up for.
      return { status: 'active', considered: Math.max(at, state.considered) };
    default:
      return {};
  }
}

function declared(state: TriggerState, at: number, data: JsonObject | undefined): TriggerState {
  const { declaration, hash, isNew } = data as unknown as {
    readonly declaration: TriggerDeclaration;
    readonly hash: string;
    readonly isNew?: boolean;
  };
  const base = isNew === true ? { ...noTrigger, life: state.life + 1, createdAt: at } : state;
  const { condition: _, ...kept } = base;
  return {
    ...kept,
    ...{ declaration, hash, hashes: [...base.hashes, hash], revision: base.revision + 1 },
    ...{ anchor: at, considered: at },
    status: isNew === true || base.status === 'completed' ? 'active' : base.status,
  };
}

function fired(state: TriggerState, at: number, data: JsonObject | undefined): TriggerState {
  const { firing, session, task } = data as unknown as OpenWork;
  const recent = state.firedAt.filter((one) => Math.abs(at - one) < hourMs);
  return {
    ...withoutQueued(state, firing),
    open: { firing, session, task },
    firedAt: [...recent, at],
    fired: state.fired + 1,
    last: { at, instant: firing.instant, session, task },
  };
}

function ended(
  state: TriggerState,
  data: { readonly task: string; readonly status: string } | undefined,
): TriggerState {
  if (data === undefined) return state;
  const { open, ...rest } = state;
  const isOpen = open?.task === data.task;
  const { last } = state;
  // Work of a trigger of the same name that was deleted.
  if (!isOpen && last?.task !== data.task) return state;
  return {
    ...(isOpen ? rest : state),
    failed: state.failed + (data.status === 'completed' ? 0 : 1),
    ...(last?.task === data.task ? { last: { ...last, status: data.status } } : {}),
  };
}

/** The last one that waits stands for the new one too, and says of what came last. */
function joined(state: TriggerState, firing: Firing | undefined): TriggerState {
  const last = state.queued.at(-1);
  if (last === undefined || firing === undefined) return state;
  const standsFor = (last.standsFor ?? 1) + (firing.standsFor ?? 1);
  return { ...state, queued: [...state.queued.slice(0, -1), { ...firing, standsFor }] };
}

function withoutQueued(state: TriggerState, firing: Firing | undefined): TriggerState {
  return { ...state, queued: state.queued.filter(({ id }) => id !== firing?.id) };
}
