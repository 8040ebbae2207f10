import { AdjutantError, toErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import { describeValue, isFunction, type OptionChecks } from '../../base/options.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import { leavesOpen } from '../../ledger/errors.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { childPath, isRootOf, parentOf } from '../../ledger/path.ts';
import type { Step, StepContext } from '../../runnables/step.ts';
import type { Session } from '../../session/session.ts';
import type { StateSchema } from '../../session/state-types.ts';
import { type BodyEnd, isWait } from '../frame/invocation.ts';
import { isPartOfLifecycle, type Lifecycle } from '../frame/lifecycle.ts';
import type { AnyRunnable } from '../frame/registry.ts';
import type { BodyFrame, RunBody } from '../frame/run-context.ts';
import { invoke, isReleased } from '../invoke/invoke.ts';
import { endBehind, type RunEnd, withPostProcess } from './post-process.ts';

/** The run that a lifecycle belongs to. */
export interface LifecycleRun {
  readonly runId: string;
  /** Name of the runnable. */
  readonly runnable: string;
  /** Text that the run was started with. */
  readonly input: string | undefined;
  /** Data that the run was started with. */
  readonly data: JsonValue | undefined;
}

/** A run that has completed or failed. */
export interface EndedRun extends LifecycleRun, RunEnd {}

/**
 * Answer of `admit`: nothing and `true` let the run go on; `refuse` is the message for its user.
 */
export type Admission = true | { readonly refuse: string };

// biome-ignore lint/suspicious/noConfusingVoidType: an `admit` that admits a run returns nothing
type AdmissionAnswer = void | Admission | Promise<void | Admission>;

/**
 * Work of an app around each of its runs. Each part runs once for a run, even when the run is
 * resumed.
 */
export interface LifecycleOptions<Schema extends StateSchema = StateSchema> {
  /**
   * Runs before the rest of the run and loads the data that it needs into `ctx.state`. Like a step,
   * it runs again from the top when it was interrupted. When it throws, the run ends as an error.
   */
  readonly prepare?: (ctx: StepContext<Schema>, run: LifecycleRun) => void | Promise<void>;
  /**
   * Runs after `prepare` and tells if the run may go on. A refused run ends as completed, with the
   * message as its output and `stopReason: 'refused'`, and no model is called. When it throws, the
   * run ends as an error.
   */
  readonly admit?: (ctx: StepContext<Schema>, run: LifecycleRun) => AdmissionAnswer;
  /**
   * Runs in the background after an admitted run has completed or failed, which `status` tells, and
   * its result was handed out. Another process continues it after a crash. Its failure is recorded
   * and changes nothing else. A cancelled run has none.
   */
  readonly postProcess?: (ctx: StepContext<Schema>, run: EndedRun) => void | Promise<void>;
}

/** Checks of the option `lifecycle` of a runtime. */
export const lifecycleChecks: OptionChecks<LifecycleOptions> = {
  prepare: isFunction,
  admit: isFunction,
  postProcess: isFunction,
};

/** `admit` returned neither a yes nor a refusal. The run is not admitted. */
export class InvalidAdmissionError extends AdjutantError {
  constructor(data: { found: string }) {
    super(
      'invalid_admission',
      `\`admit\` must return nothing, true or { refuse: 'message' }, not ${data.found}.`,
      data,
    );
  }
}

/** Makes the steps of a lifecycle. */
export function lifecycleOf({ prepare, admit, postProcess }: LifecycleOptions): Lifecycle {
  return {
    prepare: prepare && stepOf('~prepare', async (ctx) => void (await prepare(ctx, runOf(ctx)))),
    admit:
      admit &&
      stepOf('~admit', async (ctx) => ctx.complete(checkedAdmission(await admit(ctx, runOf(ctx))))),
    postProcess:
      postProcess &&
      stepOf('~postProcess', async (ctx) => void (await postProcess(ctx, endedRunOf(ctx)))),
  };
}

function stepOf(name: string, execute: Step['execute']): Step {
  const options = {
    version: undefined,
    description: undefined,
    input: undefined,
    inputSchema: undefined,
    stateSchema: undefined,
    onDrift: 'fail' as const,
  };
  return Object.freeze({ kind: 'step' as const, name, ...options, execute });
}

function checkedAdmission(given: unknown): JsonValue {
  if (given === undefined || given === true) return true;
  const refuse = (given as { refuse?: unknown } | null)?.refuse;
  if (typeof refuse !== 'string' || refuse === '')
    throw new InvalidAdmissionError({ found: describeValue(given) });
  return { refuse };
}

function placeOf({ invocationId, session }: StepContext): {
  readonly ledger: Ledger;
  readonly root: InvocationRecord;
} {
  const { ledger } = session as Session;
  return {
    ledger,
    root: ledger.invocations.byPath.get(parentOf(invocationId)) as InvocationRecord,
  };
}

function runOf(ctx: StepContext): LifecycleRun {
  const { ledger, root } = placeOf(ctx);
  const said = ledger.events.find(
    (event) => event.type === 'user' && event.invocationId === root.path,
  );
  const input = said?.type === 'user' ? String(ledger.resolve(said.text)) : undefined;
  return {
    runId: root.path,
    runnable: root.name,
    input,
    data: ledger.resolve(root.input?.data) as JsonValue | undefined,
  };
}

function endedRunOf(ctx: StepContext): EndedRun {
  const { ledger, root } = placeOf(ctx);
  return { ...runOf(ctx), ...endBehind(ledger, ctx.invocationId, root.path) };
}

/** Runs bodies, with the lifecycle around the body of a run's root. */
export function withLifecycle(runBody: RunBody, lifecycle: Lifecycle | undefined): RunBody {
  if (lifecycle === undefined) return runBody;
  return async (runnable, frame) => {
    const { run, record } = frame;
    if (isWait(runnable) || !isRootOf(record.path, run.runId)) return runBody(runnable, frame);
    if (record.mode === 'root' && !frame.scope.aborted) {
      const before = await runBefore(lifecycle, frame, runnable);
      if (before !== 'admitted') return before;
    }
    const end = await endOf(runBody, runnable, frame);
    return end === undefined ? undefined : withPostProcess(lifecycle, frame, end);
  };
}

/** Runs a body whose error is its end: the follow-up starts together with it. */
async function endOf(
  runBody: RunBody,
  runnable: AnyRunnable,
  frame: BodyFrame,
): Promise<BodyEnd | undefined> {
  try {
    return await runBody(runnable, frame);
  } catch (thrown) {
    if (leavesOpen(thrown) || isReleased(frame.run, frame.scope)) throw thrown;
    return { status: 'error', error: toErrorRecord(thrown) };
  }
}

/**
 * Prepares a run and asks if it may go on. Returns `admitted`, or the end of the run instead;
 * `undefined` when the run was released.
 */
async function runBefore(
  { prepare, admit }: Lifecycle,
  frame: BodyFrame,
  runnable: AnyRunnable,
): Promise<BodyEnd | undefined | 'admitted'> {
  const { run, record, resumed } = frame;
  for (const step of [prepare, admit]) {
    if (step === undefined) continue;
    const path = childPath(record.path, step.name);
    // A run that began in a process without a lifecycle goes on without.
    if (resumed && !run.ledger.invocations.byPath.has(path) && hasBegun(record)) continue;
    const ended = await invoke(run, {
      path,
      runnable: step,
      mode: 'child',
      scope: frame.scope,
      activity: frame.activity,
    });
    if (ended === undefined) return undefined;
    if (ended.status !== 'completed')
      return { status: ended.status === 'cancelled' ? 'cancelled' : 'error', error: ended.error };
    const { refuse } = (run.ledger.resolve(ended.output) ?? {}) as { refuse?: string };
    if (step === admit && refuse !== undefined) return refusedEnd(record, runnable, refuse);
  }
  return 'admitted';
}

/** Event types that only a body leaves. */
const bodyTypes: ReadonlySet<string> = new Set([
  'model_start',
  'assistant',
  'tool_attempt',
  'state_change',
]);

function hasBegun({ children, events }: InvocationRecord): boolean {
  return (
    children.some((path) => !isPartOfLifecycle(path)) ||
    events.some(({ type }) => bodyTypes.has(type))
  );
}

function refusedEnd({ path }: InvocationRecord, { name }: AnyRunnable, message: string): BodyEnd {
  const before: readonly EventDraft[] = [
    decision('lifecycle', 'refuse', {
      invocationId: path,
      reasoning: `The run was not let in: ${message}`,
      alternatives: ['admit'],
    }),
    { type: 'assistant', by: 'runtime', invocationId: path, agent: name, text: message },
  ];
  return { status: 'completed', output: message, stopReason: 'refused', before };
}
