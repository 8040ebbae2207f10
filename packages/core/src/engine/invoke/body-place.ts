import type { CancelScope } from '../../base/cancel-scope.ts';
import type { Actor } from '../../ledger/event.ts';
import type { StateSchema } from '../../session/state-types.ts';
import type { Activity } from '../frame/activity.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { StateBase } from './body-state.ts';

/**
 * Where a body stands. For a step both paths are its own; a tool's events carry its agent's path,
 * its children lie below its call.
 */
export interface BodyPlace {
  readonly run: RunContext;
  /** Path that the body's events carry. */
  readonly path: string;
  /** Path below which its children lie. */
  readonly childRoot: string;
  readonly by: Actor;
  /** Aborted when the body is to stop. */
  readonly scope: CancelScope;
  /** Gives what waits while its children wait; asked only when there are any. */
  readonly activity: () => Activity;
  /** That of the owner of spawned children. */
  readonly ownerActivity?: Activity | undefined;
  /**
   * What spawned children belong to, when they may outlive the body; otherwise the body does not
   * end before them.
   */
  readonly ownerScope: CancelScope | undefined;
  /** Epoch milliseconds at which it began, as recorded. */
  readonly startedAt: number;
  readonly stateSchema: StateSchema | undefined;
  /**
   * State that the body starts from; missing: what the ledger says at each moment, until the first
   * child.
   */
  readonly base: StateBase | undefined;
  /** Of the body of a tool: its call. */
  readonly callId?: string | undefined;
  /**
   * Whether what an earlier execution asked for, and this one does not, is left behind. @default
   * false
   */
  readonly acceptsDrift?: boolean | undefined;
  readonly onChild?: (() => void) | undefined;
}
