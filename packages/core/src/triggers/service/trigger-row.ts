import { defined } from '../../base/defined.ts';
import type { JsonObject } from '../../base/json.ts';
import type { TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { ListedRow, StoredRow } from '../../ledger/port.ts';
import type { LastFiring, OpenWork, TriggerState, TriggerStatus } from './trigger-state.ts';

/** Kind of the rows by which triggers are listed. */
export const triggerKind = 'trigger';

/** A trigger, as it is listed. */
export interface TriggerInfo {
  readonly name: string;
  readonly description?: string;
  readonly status: TriggerStatus;
  /** Cause of its firings: a schedule, or another kind with the part of it that is data. */
  readonly on: JsonObject;
  /** Name of the runnable that a firing starts. */
  readonly start: string;
  readonly input?: string;
  /** User on whose behalf the tasks run. @default 'system' */
  readonly requester?: string;
  /** @default 'low' */
  readonly priority?: string;
  /** @default 'default' */
  readonly queue?: string;
  /** User who is told how the task of a firing ended. */
  readonly notify?: TriggerDeclaration['notify'];
  readonly missed: string;
  /** Missing when it follows from the schedule. */
  readonly toleranceMs?: number;
  readonly overlap: string;
  readonly mostPerHour: number;
  /** Times that it may occur in its own chain of causes. */
  readonly reentrant: number;
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Next instant or check; missing when there is none. */
  readonly nextAt?: number;
  /** Task of the last firing, while it goes on. */
  readonly open?: Pick<OpenWork, 'task' | 'session'> & { readonly instant: number };
  /** Number of firings that wait for its end. */
  readonly queued: number;
  readonly fired: number;
  readonly failed: number;
  readonly last?: LastFiring;
}

/** The row of a trigger. */
export function triggerRow(state: TriggerState, nextAt: number | null, session: string): ListedRow {
  const { anchor, createdAt, declaration, fired, failed, hashes, last, open, queued, revision } =
    state;
  const { name, requester } = declaration as TriggerDeclaration;
  return {
    kind: triggerKind,
    id: name,
    status: state.status,
    at: createdAt,
    ...(requester === undefined ? {} : { user: requester }),
    body: {
      ...{ declaration, hashes, revision, anchor, fired, failed, session },
      queued: queued.length,
      ...(nextAt === null ? {} : { nextAt }),
      ...(last === undefined ? {} : { last }),
      ...(open === undefined
        ? {}
        : { open: { task: open.task, session: open.session, instant: open.firing.instant } }),
    } as unknown as JsonObject,
  };
}

/** Reads the row of a trigger. */
export function triggerInfo({ at, body, status }: StoredRow): TriggerInfo {
  const {
    anchor: _,
    declaration,
    hashes: __,
    session: ___,
    ...facts
  } = body as unknown as {
    readonly declaration: TriggerDeclaration;
    readonly anchor: number;
    readonly hashes: readonly string[];
    readonly session: string;
    readonly revision: number;
    readonly fired: number;
    readonly failed: number;
    readonly queued: number;
  };
  const { missed, mostPerHour, name, on, overlap, reentrant, start, toleranceMs } = declaration;
  const { description, input, notify, priority, queue, requester } = declaration;
  return {
    name,
    ...defined({ description }),
    status: status as TriggerStatus,
    ...{ on, start },
    ...defined({ input, requester, priority, queue, notify }),
    ...defined({ toleranceMs }),
    ...{ missed, overlap, mostPerHour, reentrant, createdAt: at },
    ...facts,
  };
}

/** Returns the declaration in the row of a trigger. */
export function declarationOf(row: StoredRow): TriggerDeclaration {
  return row.body['declaration'] as unknown as TriggerDeclaration;
}

/** Pattern of the events that a trigger subscribes to; `undefined` when it does not. */
export function patternOf({ declaration, status }: TriggerState): string | undefined {
  const { kind, pattern } = (declaration?.on ?? {}) as {
    readonly kind?: string;
    readonly pattern?: string;
  };
  return kind === 'event' && (status === 'active' || status === 'paused' || status === 'disabled')
    ? pattern
    : undefined;
}
