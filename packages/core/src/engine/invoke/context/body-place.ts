import type { CancelScope } from '../../../base/cancel-scope.ts';
import type { Actor } from '../../../ledger/event.ts';
import type { StateSchema } from '../../../session/state-types.ts';
import type { Activity } from '../../frame/activity.ts';
import type { RunContext } from '../../frame/run-context.ts';
import type { BodyState } from '../state/body-state.ts';
import type { StateBase } from '../state/state-base.ts';

/**
 * Place of a body in its run. Both paths of a step are its own. The events of a tool carry the path
 * of its agent, and its children lie below its call.
 */
export interface BodyPlace {
  readonly run: RunContext;
  /** Path that the body's events carry. */
  readonly path: string;
  /** Path below which its children lie. */
  readonly childRoot: string;
  readonly by: Actor;
  /** Scope that is aborted when the body is to stop. */
  readonly scope: CancelScope;
  /**
   * Returns the node that waits while the children of the body wait. It is called only when there
   * are any.
   */
  readonly activity: () => Activity;
  /** Activity of the owner of spawned children. */
  readonly ownerActivity?: Activity | undefined;
  /**
   * Scope of the owner of spawned children, when they may outlive the body. Without it the body
   * does not end before them.
   */
  readonly ownerScope: CancelScope | undefined;
  /** Recorded start of the body in epoch milliseconds. */
  readonly startedAt: number;
  readonly stateSchema: StateSchema | undefined;
  /**
   * State that the body starts from. Without it the body reads the present state of the ledger
   * until its first child.
   */
  readonly base: StateBase | undefined;
  /** Call id, for the body of a tool. */
  readonly callId?: string | undefined;
  /**
   * True when children and effects that only an earlier execution asked for are left behind.
   * @default false
   */
  readonly acceptsDrift?: boolean | undefined;
  readonly onChild?: (() => void) | undefined;
}

/** Body as its children, effects and refreshes need it. */
export interface BodyOwner {
  readonly place: BodyPlace;
  /** `seq` of the last event before this execution of the body. */
  readonly seqBefore: number;
  /** State of the body with its writes. */
  readonly writes: BodyState;
  /** @throws InvocationEndedError when the body has ended */
  assertOpen(method: string): void;
}
