import { AbortReason } from '../../../base/cancel-scope.ts';
import { toErrorRecord } from '../../../base/error.ts';
import { findJsonDefect, type JsonValue } from '../../../base/json.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import { leavesOpen, NotJsonError, StateOrderError } from '../../../ledger/errors.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { slotOf } from '../../../ledger/path.ts';
import type {
  Step,
  StepCompletion,
  StepContext,
  StepFailure,
  StepResponse,
  StepReturn,
  StepSkip,
  StepTransfer,
} from '../../../runnables/step.ts';
import type { SleepUntil } from '../../../runnables/waits.ts';
import { isRunnable, type Runnable } from '../../../session/runnable.ts';
import { type BodyEnd, isWait } from '../../frame/invocation.ts';
import { isPartOfLifecycle, seqBeforeBody } from '../../frame/lifecycle.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { Body } from '../context/body-context.ts';
import { askPeople, sleepUntil } from '../context/waits.ts';
import { planHandoff } from '../handoff.ts';
import { inputOf } from '../input-contract.ts';
import { cancelledEnd, endLeftWaits, isReleased } from '../invoke.ts';
import { messageFor } from '../run-message.ts';
import { stateAfter } from '../state/state-base.ts';

/** Milliseconds in which an aborted body may stop before its invocation ends without it. */
const graceMs = 1_000;

const noWrites = Object.freeze({ drafts: [], extras: undefined });

class StepBody extends Body implements StepContext {
  input: StepContext['input'];
  readonly #frame: BodyFrame;
  readonly #name: string;

  constructor(step: Step, frame: BodyFrame) {
    const { run, record, scope, resumed } = frame;
    const seq = seqBeforeBody(run.ledger, record);
    super({
      run,
      path: record.path,
      childRoot: record.path,
      by: 'runtime',
      scope,
      activity: () => frame.activity,
      ownerScope: undefined,
      startedAt: record.start.at,
      stateSchema: step.stateSchema,
      acceptsDrift: step.onDrift === 'accept',
      base: {
        state:
          resumed || run.ledger.lastSeq !== seq ? stateAfter(run.ledger, seq) : run.ledger.state,
        seq,
      },
    });
    this.input = record.input;
    this.#frame = frame;
    this.#name = step.name;
  }

  /** Returns the writes that land with the end. */
  takeLast(): ReturnType<StepBody['writes']['take']> {
    return this.hasWrites ? this.writes.take(undefined, { isLast: true }) : noWrites;
  }

  /** Returns the keys of recorded writes that were not made again. */
  leftOver(): ReturnType<StepBody['writes']['leftOver']> {
    return this.hasWrites ? this.writes.leftOver() : [];
  }

  get message(): string | undefined {
    return messageFor(this.#frame.run.ledger, this.#frame.record);
  }

  ask(key: string, question: Parameters<typeof askPeople>[3]): Promise<never> {
    return this.#waiting(askPeople(this.asking, this.#name, key, question)) as Promise<never>;
  }

  sleep(key: string, time: number | SleepUntil): Promise<void> {
    return this.#waiting(sleepUntil(this.asking, key, time));
  }

  /** A wait that nothing awaits must not end the process when it is cancelled. */
  #waiting<Value>(waiting: Promise<Value>): Promise<Value> {
    waiting.catch(() => undefined);
    return waiting;
  }

  skip(): StepSkip {
    return { signal: 'skip' };
  }

  respond(text: string): StepResponse {
    return { signal: 'respond', text };
  }

  fail(message: string): StepFailure {
    return { signal: 'fail', message };
  }

  complete<Value>(value: Value, key?: string): StepCompletion<Value> {
    return { signal: 'complete', value, key };
  }

  transfer<Target extends Runnable>(target: Target, message?: string): StepTransfer<Target> {
    return { signal: 'transfer', target, message };
  }
}

/**
 * Runs the code of a step, from the top each time. Recorded results of its children are returned to
 * it without running them again.
 */
export async function runStep(step: Step, frame: BodyFrame): Promise<BodyEnd | undefined> {
  const body = new StepBody(step, frame);
  const { scope } = frame;
  try {
    // A step that is cancelled before it began, or that is continued only to end, is not run.
    if (scope.aborted) return stoppedEnd(frame);
    // A step that is run without data has not been checked yet.
    if (step.input !== undefined && body.input?.data === undefined)
      body.input = { ...body.input, ...(await inputOf(step, {})) };
    const returned = await settle(step, body, frame);
    if (returned === stopped) {
      body.close();
      if (scope.reason !== undefined) await body.stopChildren(scope.reason);
      return stoppedEnd(frame);
    }
    await body.endWaits();
    await body.childrenEnded();
    body.assertNothingWaits();
    await body.landed();
    if (scope.aborted || isReleased(frame.run, scope)) return stoppedEnd(frame);
    return findDrift(step, body, frame) ?? endOf(step, body, frame, returned);
  } catch (thrown) {
    body.close();
    const staysOpen = leavesOpen(thrown);
    await body.stopChildren(
      scope.reason ??
        new AbortReason(
          staysOpen ? 'stopped' : 'cancelled',
          `"${frame.record.path}" failed, and its children were stopped.`,
        ),
    );
    if (scope.aborted) return stoppedEnd(frame);
    if (staysOpen) throw thrown;
    return { status: 'error', error: toErrorRecord(thrown, 'step_error') };
  } finally {
    body.close();
  }
}

/** Returns the end of a step that was stopped early; `undefined` when it can still be continued. */
function stoppedEnd({ run, scope }: BodyFrame): BodyEnd | undefined {
  return isReleased(run, scope) || !scope.aborted ? undefined : cancelledEnd(scope);
}

const stopped: unique symbol = Symbol('stopped');

/**
 * Waits for the first of three: the body's end, the release of the run by a child, or an abort and
 * a second of grace.
 */
async function settle(
  step: Step,
  body: StepBody,
  frame: BodyFrame,
): Promise<StepReturn | typeof stopped> {
  const executing = step.execute(body as StepContext);
  if (!(executing instanceof Promise)) return executing;
  const { promise: graceOver, resolve } = Promise.withResolvers<void>();
  let cancelGrace: (() => void) | undefined;
  const forget = frame.scope.onAbort(() => {
    cancelGrace = frame.run.app.clock.setTimer(graceMs, resolve);
  });
  try {
    const first = await Promise.race([
      executing.then((returned) => ({ returned })),
      graceOver,
      body.released,
    ]);
    if (first !== undefined && !frame.scope.aborted) return first.returned;
    executing.catch(() => undefined);
    return stopped;
  } finally {
    forget();
    cancelGrace?.();
  }
}

/**
 * Returns the end of a step whose code has changed: it no longer asks for a recorded child or
 * effect.
 */
function findDrift(step: Step, body: StepBody, frame: BodyFrame): BodyEnd | undefined {
  const notAsked = frame.record.children.filter(
    (path) => !body.asked.has(slotOf(path)) && !isPartOfLifecycle(path),
  );
  const { byPath } = frame.run.ledger.invocations;
  const isLeftWait = (path: string): boolean => {
    const child = byPath.get(path);
    return child !== undefined && isWait(child);
  };
  endLeftWaits(
    frame.run,
    notAsked.filter((path) => isLeftWait(path) && byPath.get(path)?.end === undefined),
    `"${frame.record.path}" does not ask for it any more.`,
  );
  const children = notAsked.filter((path) => !isLeftWait(path));
  const effects = body.forgottenEffects(() => true);
  return (
    driftEnd(step, frame, 'child', children) ??
    driftEnd(step, frame, 'effect', effects) ??
    leftOverWrites(step, body, frame)
  );
}

/**
 * Checks for recorded writes that the step has not made again. With `onDrift: 'accept'` it only
 * records a decision.
 * @throws StateOrderError when there are any
 */
function leftOverWrites(step: Step, body: StepBody, { run, record }: BodyFrame): undefined {
  const keys = body.leftOver();
  const [first] = keys;
  if (first === undefined) return;
  if (step.onDrift !== 'accept')
    throw new StateOrderError({ path: record.path, ...first, reason: 'left_over' });
  run.ledger.append([
    decision('invoke', 'accept_state_order', {
      invocationId: record.path,
      reasoning:
        'The ledger has writes of this step that its code no longer makes: ' +
        `${keys.map(({ scope, key }) => `${scope}.${key}`).join(', ')}.`,
      alternatives: ['accept', 'fail'],
    }),
  ]);
}

function driftEnd(
  step: Step,
  { run, record }: BodyFrame,
  what: 'child' | 'effect',
  orphans: readonly string[],
): BodyEnd | undefined {
  if (orphans.length === 0) return undefined;
  const code = what === 'child' ? 'orphaned_child' : 'orphaned_effect';
  run.ledger.append([
    decision('invoke', `${step.onDrift}_${code}`, {
      invocationId: record.path,
      reasoning:
        `The ledger has ${what === 'child' ? 'children' : 'effects'} of this step that its ` +
        `code no longer asks for: ${orphans.join(', ')}.`,
      alternatives: ['accept', 'fail'],
    }),
  ]);
  if (step.onDrift === 'accept') return undefined;
  return {
    status: 'error',
    error: {
      name: 'LedgerMismatchError',
      code,
      message: `The step no longer asks for ${orphans.join(', ')}.`,
    },
  };
}

function endOf(step: Step, body: StepBody, frame: BodyFrame, returned: StepReturn): BodyEnd {
  if (returned === undefined || returned === null) return withWrites(body, { status: 'completed' });
  if (isRunnable(returned)) return transferEnd(body, frame, returned, undefined);
  switch (returned.signal) {
    case 'skip':
      return withWrites(body, { status: 'completed' });
    case 'fail':
      return withWrites(body, {
        status: 'error',
        error: { name: 'StepError', code: 'step_failed', message: returned.message },
      });
    case 'respond':
      return withWrites(body, { status: 'completed', output: returned.text }, [
        {
          type: 'assistant',
          by: 'runtime',
          invocationId: frame.record.path,
          agent: step.name,
          text: returned.text,
        },
      ]);
    case 'complete':
      return completeEnd(step, body, returned.value, returned.key);
    case 'transfer':
      return transferEnd(body, frame, returned.target, returned.message);
    default:
      return unusableReturn(step, returned);
  }
}

function unusableReturn(step: Step, returned: unknown): BodyEnd {
  const kind =
    typeof returned === 'object'
      ? 'an object that is neither a signal nor a runnable'
      : `a ${typeof returned}`;
  return {
    status: 'error',
    error: {
      name: 'StepError',
      code: 'step_return',
      message:
        `The step "${step.name}" returned ${kind}. Return nothing, ctx.complete(value), ` +
        'ctx.respond(text) or a runnable.',
    },
  };
}

function completeEnd(
  step: Step,
  body: StepBody,
  value: JsonValue,
  key: string | undefined,
): BodyEnd {
  const defect = value === undefined ? undefined : findJsonDefect(value);
  if (defect !== undefined)
    throw new NotJsonError({ what: `The output of step "${step.name}"`, ...defect });
  if (key !== undefined) body.state.update({ [key]: value });
  return withWrites(body, {
    status: 'completed',
    ...(value === undefined ? {} : { output: structuredClone(value) }),
  });
}

function transferEnd(
  body: StepBody,
  frame: BodyFrame,
  target: Runnable,
  message: string | undefined,
): BodyEnd {
  const plan = planHandoff(frame.run, frame.record.path, target, { message });
  if ('refused' in plan)
    return {
      status: 'error',
      error: { name: 'HandoffRefusedError', code: 'handoff_refused', message: plan.refused },
    };
  return withWrites(body, { status: 'transferred', next: plan.next }, plan.drafts);
}

function withWrites(body: StepBody, end: BodyEnd, more: readonly EventDraft[] = []): BodyEnd {
  const { drafts, extras } = body.takeLast();
  return { ...end, before: [...drafts, ...more], extras };
}
