import type { IdSource } from '../../base/id.ts';
import type { JsonValue } from '../../base/json.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { defaultLane } from '../../ledger/folds/lanes.ts';
import type { TaskData } from '../../ledger/folds/task.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Session } from '../../session/session.ts';
import { InvalidRunError, RunnableMismatchError } from '../frame/errors.ts';
import type { TurnOfRun } from '../frame/run-context.ts';
import type { OnStep } from '../frame/run-options.ts';
import {
  type ResolvedRunLimits,
  type RunOptions,
  type RuntimeLimits,
  resolveRunLimits,
} from '../frame/run-options.ts';
import { assertSameRunnable } from '../invoke/input-contract.ts';

/** Milliseconds of active time that a run may take. */
const defaultTimeoutMs = 600_000;

/** The task of one run. */
export interface RunRequest {
  /** The runnable; missing when any interrupted run is to be continued. */
  readonly runnable: Runnable | undefined;
  /** The runnable whose run is continued. A run of another one is refused. */
  readonly continues?: Runnable | undefined;
  readonly input: string | undefined;
  /** Data that its root is started with, besides the input. */
  readonly data?: JsonValue | undefined;
  /** Name of the model that answers in the place of the agent's own. */
  readonly model?: string | undefined;
  readonly runId: string;
  /** Lane of the session. */
  readonly lane: string;
  /** True when the caller chose `runId`: the same request again then asks for nothing new. */
  readonly isNamed: boolean;
  /** Milliseconds of active time. */
  readonly timeoutMs: number | undefined;
  readonly limits: ResolvedRunLimits;
  readonly signal: AbortSignal | undefined;
  /** The point at which the caller wants the run back. @default 'idle' */
  readonly until?: 'idle' | 'round' | undefined;
  /** Milliseconds after which it begins nothing more. */
  readonly sliceMs?: number | undefined;
  /**
   * True when a worker for many sessions asks. A paused run then stays paused, and a run whose
   * answers are missing is left as it is.
   */
  readonly isWorker?: boolean | undefined;
  /** True when the caller means any lane, so that `lane` is chosen when the session is open. */
  readonly isOfAnyLane?: boolean | undefined;
  /** True when the runtime found the run by itself and no caller asks for it now. */
  readonly isFound?: boolean | undefined;
  /** Key under which its input was posted before, to the process that held the session then. */
  readonly posted?: string | undefined;
  /** Task that was posted to begin the run. */
  readonly task?: TaskData | undefined;
  /** Turn of the worker that carries the run out. */
  readonly turn?: TurnOfRun | undefined;
  readonly onStep: OnStep | undefined;
  /** Permissions of the run, besides those of the app and the session. */
  readonly permissions?: readonly string[] | undefined;
}

/** Makes the request of a run from its options and the settings of its runtime. */
export function runRequest(
  runnable: Runnable | undefined,
  options: RunOptions,
  app: { readonly ids: IdSource; readonly limits?: RuntimeLimits | undefined },
): RunRequest {
  const { limits: own = {}, model } = options;
  if (model !== undefined && runnable?.kind !== 'agent')
    throw new InvalidRunError({
      reason: `\`model\` is for agents, and "${runnable?.name}" is a ${runnable?.kind}`,
    });
  const { ids, limits: shared = {} } = app;
  return {
    runnable,
    input: options.input,
    data: options.data,
    model,
    runId: options.runId ?? `run_${ids.next()}`,
    lane: options.lane ?? defaultLane,
    isNamed: options.runId !== undefined,
    timeoutMs: options.timeoutMs ?? shared.timeoutMs ?? defaultTimeoutMs,
    limits: resolveRunLimits(own, shared),
    signal: options.signal,
    onStep: options.onStep,
    permissions: options.permissions,
  };
}

/**
 * Checks that a run is of the runnable and the lane that a request names.
 * @throws SessionBusyError when another one is to be run
 * @throws RunnableMismatchError when another one is to be continued
 * @throws InvalidRunError when the run is in another lane
 */
export function assertRequested(
  session: Pick<Session, 'id'>,
  root: Pick<InvocationRecord, 'path' | 'kind' | 'name'> & {
    readonly start?: InvocationRecord['start'];
  },
  { runnable, continues, lane }: Pick<RunRequest, 'runnable' | 'continues'> & { lane?: string },
): void {
  const recorded = root.start?.lane ?? defaultLane;
  if (root.start !== undefined && lane !== undefined && recorded !== lane)
    throw new InvalidRunError({
      reason: `the run "${root.path}" is in ${laneText(recorded)}, not in ${laneText(lane)}`,
    });
  if (runnable !== undefined) assertSameRunnable(session, root, runnable);
  if (continues === undefined || (root.name === continues.name && root.kind === continues.kind))
    return;
  throw new RunnableMismatchError({
    session: session.id,
    runId: root.path,
    recorded: `the ${root.kind} "${root.name}"`,
    given: `the ${continues.kind} "${continues.name}"`,
  });
}

function laneText(lane: string): string {
  return lane === defaultLane ? 'the default lane' : `the lane "${lane}"`;
}
