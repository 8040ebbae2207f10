import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import { deepFreeze, type JsonValue } from '../../base/json.ts';
import { leavesOpen } from '../../ledger/errors.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import type { TapedOutcome } from '../../ledger/tape.ts';
import { isSuccess, type ToolResult, type ToolResultStatus } from '../../ledger/tool-result.ts';
import type { AnsweredRequest, AttemptState, CallState } from '../../loop/call-state.ts';
import { isRunnable, type Runnable } from '../../session/runnable.ts';
import { classifyThrown } from '../../tools/classify.ts';
import { ChildInPrepareError } from '../../tools/errors.ts';
import { PendingOperation } from '../../tools/request-options.ts';
import { isToolResult, toolResult, toolResultWith, toToolResult } from '../../tools/result.ts';
import type { FinalizeContext, Tool } from '../../tools/tool.ts';
import { validateOutput } from '../../tools/validate.ts';
import { executionChannel, tellExecution } from '../execution-channel.ts';
import { idempotencyKey } from '../idempotency-key.ts';
import { isReleased } from '../released.ts';
import { resultDraft } from '../result-draft.ts';
import { untilAborted } from '../until-aborted.ts';
import { noWrites } from '../writes.ts';
import { AttemptRecorder } from './attempt-recorder.ts';
import { callFingerprint } from './call-fingerprint.ts';
import type { Ending } from './ending.ts';
import type { ToolAttempt, ToolBody, ToolCallPorts } from './ports.ts';
import { CallPreparation } from './preparation.ts';
import { refusalDraft } from './refusal-draft.ts';
import {
  cancelledBefore,
  cancelledWhileRunning,
  doneButNotFinished,
  operationExpired,
  timedOut,
  timedOutBefore,
  unknownOutcome,
} from './result-texts.ts';

/** Milliseconds for one attempt of a tool, and for one of a tool that has called an agent. */
const defaultToolTimeoutMs = 30_000;
const defaultAgentToolTimeoutMs = 120_000;

/**
 * Stage of an attempt. `prepare`: nothing is recorded yet. `finish`: the tool has done its work,
 * and its result is checked and finalized.
 */
type Stage = 'prepare' | 'execute' | 'finish';

/** One attempt of a tool call, from its prepared arguments to its recorded result. */
export class AttemptRun implements ToolAttempt {
  readonly tool: Tool;
  readonly attempt: number;
  readonly scope: CancelScope;
  args: unknown;
  input: unknown;
  result: unknown;
  deadline = 0;
  readonly #state: CallState;
  readonly #ports: ToolCallPorts;
  #stage: Stage = 'prepare';
  #body: ToolBody | undefined;
  readonly #recorder: AttemptRecorder;
  #key: string;
  readonly #preparation: CallPreparation;
  #timeoutMs: number;
  #cancelTimer: () => void = () => undefined;
  /** Monotonic times in milliseconds at which the time of the attempt, and the tool, began. */
  #timedFrom = 0;
  #startedAt = 0;

  constructor(state: CallState, tool: Tool, attempt: number, args: unknown, ports: ToolCallPorts) {
    this.tool = tool;
    this.attempt = attempt;
    this.args = args;
    this.#key = idempotencyKey(ports.ledger, state);
    this.scope = new CancelScope(ports.scope);
    this.#state = state;
    this.#ports = ports;
    this.#timeoutMs = tool.timeout ?? defaultToolTimeoutMs;
    this.#recorder = new AttemptRecorder(this);
    this.#preparation = new CallPreparation(this);
  }

  get state(): CallState {
    return this.#state;
  }

  get ports(): ToolCallPorts {
    return this.#ports;
  }

  get body(): ToolBody | undefined {
    return this.#body;
  }

  get guidance(): readonly string[] {
    return this.#preparation.guidance;
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get key(): string {
    return this.#key;
  }

  get call(): EventOf<'tool_call'> {
    return this.#state.call;
  }

  async run(): Promise<void> {
    const { ledger, clock, scope } = this.#ports;
    const { recovery } = this.tool;
    try {
      if (!(await this.#preparation.isReady())) return;
      this.#key = this.#preparation.key ?? this.#key;
      this.#appendAttempt();
      const durable = recovery === 'rerun' ? undefined : ledger.durable();
      if (durable !== undefined) await durable;
      // Last check before the tool runs. A process that was suspended may have lost the session to
      // another process, which runs the tool itself.
      if (!ledger.leaseIsLive() && !(await this.#renewLease())) return;
      if (scope.aborted) return this.#recordNotExecuted();
      const replayed = this.#replayed(this.attempt, {
        mayRun: recovery === 'rerun',
        takesRaw: true,
      });
      if (replayed !== undefined) return await this.#recordReplayed(await replayed);
      this.#startedAt = clock.monotonic();
      if (this.#timeLeft() <= 0) return await this.#record(this.#endedBefore());
      this.#startTimer();
      this.#stage = 'execute';
      if (executionChannel.hasSubscribers) {
        tellExecution({
          ledger,
          callId: this.call.callId,
          attempt: this.attempt,
          key: this.#key,
          recovery,
        });
      }
      const { around } = this.#ports;
      await (around === undefined
        ? this.#execute(this.context())
        : around(this, () => this.#execute(this.context())));
    } finally {
      this.#cancelTimer();
      this.scope.close();
      // An abandoned tool may go on for as long as it likes. Its context refuses further calls.
      this.#body?.close();
    }
  }

  /** Records the outcome of an attempt whose process stopped, by the `recovery` of the tool. */
  async recover({ attempt, deadline = 0, epoch }: AttemptState): Promise<void> {
    const { ledger } = this.#ports;
    const replayed = typeof this.tool.recovery === 'function' ? this.#replayed(attempt) : undefined;
    if (replayed !== undefined) return void (await replayed);
    try {
      // An attempt of another owner may still be running: its outcome is sought after its deadline.
      if (typeof this.tool.recovery === 'function' && epoch !== ledger.epoch)
        await this.#ports.sleepUntil(deadline);
      if (this.#isReleased() || !(await this.#preparedAgain())) return;
      const unknown: Ending = {
        result: unknownOutcome('the process stopped while the tool was running'),
        effect: 'unknown',
        retryAfterMs: undefined,
        next: undefined,
      };
      if (attempt === this.attempt) await this.#record(unknown);
    } finally {
      this.scope.close();
      this.#body?.close();
    }
  }

  /**
   * Restores the prepared arguments of an attempt. If they cannot be prepared again, the requested
   * arguments are used. Returns false when the run was released.
   */
  async #preparedAgain(): Promise<boolean> {
    const { prepare } = this.tool;
    const last = this.#state.answered.findLast(
      ({ request }) => request.attempt === undefined && request.name === this.tool.name,
    );
    if (last !== undefined && last.answer.decision !== 'edit')
      this.args = deepFreeze(this.#ports.ledger.resolve(last.request.args));
    else if (prepare !== undefined) {
      if (last !== undefined) this.args = this.#ports.ledger.resolve(last.answer.input);
      const prepared = await this.#untilAborted((async () => prepare(this.context()))()).catch(
        () => undefined,
      );
      if (prepared !== undefined) this.args = deepFreeze(prepared.value);
    }
    return !this.#isReleased();
  }

  /**
   * Carries out an answer about an attempt: its result from elsewhere, or a decision on its
   * outcome.
   */
  async resolve({ request, answer }: AnsweredRequest): Promise<void> {
    const { ledger } = this.#ports;
    const replayed = this.#replayed(this.attempt);
    if (replayed !== undefined) return void (await replayed);
    const { onExpire, operationId } = request.request;
    const given =
      answer.decision === 'expire' && typeof onExpire === 'object'
        ? onExpire.default
        : ledger.resolve(answer.input);
    try {
      this.args = deepFreeze(ledger.resolve(request.args));
      this.#startedAt = this.#ports.clock.monotonic();
      if (answer.decision === 'retry') return this.#recorder.retry();
      const isGiven =
        answer.decision === undefined ||
        answer.decision === 'answer' ||
        answer.decision === 'succeeded' ||
        given !== undefined;
      if (answer.decision === 'reject' && request.kind === 'result')
        return await this.#record(this.#rejectedOperation(answer.reason));
      const known = escalatedResult(request);
      if (!isGiven && known !== undefined) return this.#recorder.settle(known, 'none');
      if (!isGiven)
        return this.#recorder.settle(
          operationId === undefined
            ? unknownOutcome('nobody could say')
            : operationExpired(operationId),
        );
      await this.finishGiven(given ?? null);
    } finally {
      this.scope.close();
      this.#body?.close();
    }
  }

  /**
   * Ending of an operation that was rejected, which reports a failure. A rejection counts as
   * without effect.
   */
  #rejectedOperation(reason: string | undefined): Ending {
    const result = toolResult.permanent(reason ?? 'The operation failed.', {
      errorType: 'operation_failed',
    });
    return { result, effect: 'none', retryAfterMs: undefined, next: undefined };
  }

  /** Resolves when the recorded end is next, in a replay. `undefined`: the attempt must be made. */
  #replayed(
    attempt: number,
    { mayRun = false, takesRaw = false } = {},
  ): Promise<TapedOutcome> | undefined {
    const { callId } = this.call;
    const landing = (events: readonly Event[]): void =>
      this.#ports.supervisor?.landing(callId, events);
    return this.#ports.ledger.ports.tape?.attemptEnded({
      callId,
      attempt,
      mayRun,
      takesRaw,
      landing,
    });
  }

  /** Passes a recorded raw result through the usual checks, because nothing had been made of it. */
  async #recordReplayed(outcome: TapedOutcome): Promise<void> {
    const given = 'raw' in outcome ? outcome.raw.at(-1) : undefined;
    if (given?.type !== 'tool_result') return;
    this.#startedAt = this.#ports.clock.monotonic();
    const { result } = this.#ports.ledger.whole(given);
    await this.#record(
      { result, effect: undefined, retryAfterMs: undefined, next: undefined },
      true,
    );
  }

  /** Ends the attempt with a result that came from elsewhere. */
  async finishGiven(given: unknown): Promise<void> {
    this.#stage = 'finish';
    let ending: Ending;
    try {
      const { finalize, outputSchema } = this.tool;
      const plain = isToolResult(given) || (finalize === undefined && outputSchema === undefined);
      ending = this.#ended(plain ? given : await this.#finish(given, this.context()));
    } catch (thrown) {
      ending = this.#classified(thrown);
    }
    await this.#record(ending);
  }

  beforeChild(): void {
    if (this.#stage === 'prepare') throw new ChildInPrepareError({ tool: this.tool.name });
    if (
      this.tool.timeout !== undefined ||
      this.#timeoutMs >= defaultAgentToolTimeoutMs ||
      this.scope.aborted
    )
      return;
    // The ledger keeps the original deadline of the attempt. A process that takes over a call with
    // children continues it at once, whatever that deadline is.
    this.#cancelTimer();
    this.deadline += defaultAgentToolTimeoutMs - this.#timeoutMs;
    this.#timeoutMs = defaultAgentToolTimeoutMs;
    this.#startTimer();
  }

  context(): FinalizeContext {
    this.#body ??= this.#ports.makeBody(this);
    return this.#body.context;
  }

  #isReleased(): boolean {
    return isReleased({ scope: this.scope, ledger: this.#ports.ledger });
  }

  beginTime(): void {
    this.#setDeadline();
    this.#startTimer();
  }

  endTime(): void {
    this.#cancelTimer();
  }

  /** Begins the time of the attempt, which also runs while the attempt is being recorded. */
  #setDeadline(): void {
    this.deadline = this.#ports.clock.now() + this.#timeoutMs;
    this.#timedFrom = this.#ports.clock.monotonic();
  }

  #timeLeft(): number {
    return this.#timeoutMs - (this.#ports.clock.monotonic() - this.#timedFrom);
  }

  #startTimer(ms = this.#timeLeft()): void {
    this.#cancelTimer = this.#ports.clock.setTimer(ms, () => {
      // The time of a tool stands still while its children wait for an answer.
      if (this.#ports.isWaiting(this.call.callId)) this.#startTimer(this.#timeoutMs);
      else
        this.scope.abort(
          new AbortReason(
            'timeout',
            `The tool ${this.tool.name} did not finish within ${this.#timeoutMs} ms.`,
          ),
        );
    });
  }

  #appendAttempt(): void {
    const { ledger, path } = this.#ports;
    this.#setDeadline();
    const { callId } = this.call;
    const { attempt, key, deadline } = this;
    // The recorded fingerprint names a call with an answer. It also names one whose arguments are
    // not the model's. Both hold whether or not the call may be run again.
    const isNamed = (): boolean =>
      this.#state.answered.length > 0 || !isSameText(this.args, ledger.resolve(this.call.args));
    const named =
      this.#preparation.fingerprint ??
      (isNamed() ? callFingerprint(this.tool.name, this.args) : undefined);
    const fingerprint = named === undefined ? {} : { fingerprint: named };
    const standsIn = this.#state.fallback === undefined ? {} : { tool: this.tool.name };
    const { drafts, extras } = this.#preparation.takeWrites();
    ledger.ports.tape?.prepared(callId, this.args);
    const { epoch } = ledger;
    const made = { callId, attempt, key, deadline, epoch, ...fingerprint, ...standsIn };
    ledger.append(
      [...drafts, { type: 'tool_attempt', by: 'runtime', invocationId: path, ...made }],
      extras,
    );
  }

  /**
   * True when this process still owns the session. Otherwise another process is responsible for the
   * attempt.
   */
  async #renewLease(): Promise<boolean> {
    const { ledger } = this.#ports;
    try {
      await ledger.renewLease();
      return ledger.failure === undefined;
    } catch (error) {
      ledger.fail(error);
      return false;
    }
  }

  /** Records that the run was cancelled while the attempt was being recorded. */
  #recordNotExecuted(): void {
    if (this.#isReleased()) return;
    const { ledger, path } = this.#ports;
    const { effect } = refusalDraft(this.#state, path, cancelledBefore());
    ledger.append([
      resultDraft(this.call, path, this.attempt, cancelledBefore(), {
        settled: true,
        durationMs: 0,
        effect,
      }),
    ]);
  }

  /** Ending of an attempt whose time was over before the tool could begin. */
  #endedBefore(): Ending {
    return {
      result: timedOutBefore(this.tool.name, this.#timeoutMs),
      effect: 'none',
      retryAfterMs: undefined,
      next: undefined,
    };
  }

  async #execute(context: FinalizeContext): Promise<void> {
    let ending: Ending | undefined;
    try {
      const { finalize, outputSchema, execute } = this.tool;
      const executing =
        finalize === undefined && outputSchema === undefined
          ? execute(context)
          : this.#executeAndFinish(context);
      // A synchronous tool runs without a promise, because promises would be most of a round's
      // cost.
      ending = isThenable(executing)
        ? await this.#endOf(Promise.resolve(executing))
        : this.#ended(executing);
    } catch (thrown) {
      ending = this.#failed(thrown);
    }
    if (ending !== undefined) await this.#close(ending);
  }

  async #executeAndFinish(context: FinalizeContext): Promise<unknown> {
    const returned = await this.tool.execute(context);
    // A handoff, result or operation states its own outcome: it is neither checked nor finalized.
    if (isHandOver(returned) || isToolResult(returned) || returned instanceof PendingOperation)
      return returned;
    this.#stage = 'finish';
    return this.#finish(returned, context);
  }

  async #finish(returned: unknown, context: FinalizeContext): Promise<unknown> {
    const { finalize } = this.tool;
    const checked = await this.#checkOutput(returned);
    if (finalize === undefined || isToolResult(checked)) return checked;
    this.result = checked;
    return finalize(context);
  }

  async #checkOutput(returned: unknown): Promise<unknown> {
    if (this.tool.outputSchema === undefined) return returned;
    const validated = await validateOutput(this.tool, returned);
    return validated.ok
      ? validated.output
      : toolResult.permanent(validated.message, { errorType: 'validation_error' });
  }

  /** Returns how a tool ended or was abandoned. `undefined`: the run was released meanwhile. */
  async #endOf(executing: Promise<unknown>): Promise<Ending | undefined> {
    try {
      const first = await this.#untilAborted(executing);
      if (first !== undefined) return this.#ended(first.value);
    } catch (thrown) {
      return this.#isReleased() ? undefined : this.#failed(thrown);
    }
    if (this.scope.aborted) this.#watchLate(executing);
    else executing.catch(() => undefined);
    // A child that released the run leaves the call open, without an abort.
    return this.scope.aborted && !this.#isReleased() ? this.#abandoned() : undefined;
  }

  #untilAborted<Value>(working: Promise<Value>): Promise<{ readonly value: Value } | undefined> {
    return untilAborted(
      working,
      { scope: this.scope, clock: this.#ports.clock },
      this.#body?.released,
    );
  }

  #ended(returned: unknown): Ending {
    if (isHandOver(returned))
      return {
        result: toolResult.success(null),
        effect: undefined,
        retryAfterMs: undefined,
        next: returned,
      };
    if (returned instanceof PendingOperation) {
      return {
        result: toolResult.success(null),
        effect: undefined,
        retryAfterMs: undefined,
        next: undefined,
        operation: returned,
      };
    }
    const result = toToolResult(returned);
    const failed = !isSuccess(result) && this.#stage !== 'finish';
    const effect = result.status === 'timeout' || result.status === 'unknown' ? 'unknown' : 'none';
    return {
      result,
      effect: failed ? effect : undefined,
      retryAfterMs: undefined,
      next: undefined,
    };
  }

  #failed(thrown: unknown): Ending {
    // Code that does not fit the ledger is no failure of the tool: nothing of it is recorded.
    if (leavesOpen(thrown)) throw thrown;
    return this.scope.aborted ? this.#abandoned() : this.#classified(thrown);
  }

  #classified(thrown: unknown): Ending {
    const { result, effect, retryAfterMs } = classifyThrown(
      thrown,
      this.#ports.clock.now(),
      this.tool.classify,
    );
    return this.#stage === 'finish'
      ? this.#notFinished(result)
      : { result, effect, retryAfterMs, next: undefined };
  }

  #abandoned(): Ending {
    const { reason } = this.scope;
    const result =
      reason?.code === 'timeout'
        ? timedOut(this.tool.name, this.#timeoutMs)
        : cancelledWhileRunning(reason?.message);
    return this.#stage === 'finish'
      ? this.#notFinished(result)
      : { result, effect: 'unknown', retryAfterMs: undefined, next: undefined };
  }

  /**
   * Ending of a tool that did its work before something else failed. The call is settled, and
   * nothing is done again.
   */
  #notFinished(why: ToolResult): Ending {
    return {
      result: doneButNotFinished(this.tool.name, why),
      effect: undefined,
      retryAfterMs: undefined,
      next: undefined,
    };
  }

  /** Records the result of an abandoned tool as late. It does not change the result of the call. */
  #watchLate(executing: Promise<unknown>): void {
    const record = ({ result: given, effect, retryAfterMs }: Ending): void => {
      const { ledger, path, clock, supervisor } = this.#ports;
      if (ledger.failure !== undefined || ledger.claim === undefined) return;
      const durationMs = clock.monotonic() - this.#startedAt;
      const { state, tool, args, attempt, guidance } = this;
      const ended = {
        state,
        tool,
        args,
        attempt,
        result: given,
        effect,
        retryAfterMs,
        guidance,
        isLast: true,
      };
      const { result, notes, writes } = supervisor?.late(ended) ?? {
        result: given,
        notes: undefined,
        writes: noWrites,
      };
      ledger.append([
        ...writes.drafts,
        resultDraft(this.call, path, attempt, result, {
          settled: false,
          late: true,
          durationMs,
          effect,
          notes,
        }),
      ]);
    };
    executing.then(
      (returned) => record(this.#ended(returned)),
      (thrown) => record(this.#classified(thrown)),
    );
  }

  /** Records the ending, once the children that the tool did not await have ended. */
  #close(ending: Ending): Promise<void> | undefined {
    const failed = ending.effect !== undefined;
    if (failed) this.#body?.close();
    const children = this.#body?.endChildren(failed);
    if (children === undefined) return this.#record(ending, true);
    return children.then(() => (this.#isReleased() ? undefined : this.#record(ending, true)));
  }

  #record(ending: Ending, ran = false): Promise<void> | undefined {
    this.#body?.close();
    if (this.#ports.ledger.failure !== undefined) return undefined;
    return this.#recorder.record(ending, this.#ports.clock.monotonic() - this.#startedAt, ran);
  }
}

/**
 * Known result of an attempt whose failure was escalated to a person. `undefined`: nobody knew how
 * the attempt ended.
 */
function escalatedResult({ request }: AnsweredRequest['request']): ToolResult | undefined {
  const details = request.details as
    | { known?: JsonValue; status?: ToolResultStatus; errorType?: string; escalated?: boolean }
    | undefined;
  if (details?.escalated !== true || details.status === undefined) return undefined;
  return toolResultWith(
    details.status,
    details.known,
    details.errorType === undefined ? undefined : { errorType: details.errorType },
  );
}

/**
 * True when two values have the same JSON text. Another order of keys counts as different, and so
 * does a value that cannot be compared at once.
 */
function isSameText(a: unknown, b: unknown): boolean {
  try {
    return JSON.stringify(a) === JSON.stringify(b);
  } catch {
    return false;
  }
}

/**
 * True for a runnable. A returned value may throw when it is inspected, and that never fails the
 * tool.
 */
function isHandOver(value: unknown): value is Runnable {
  try {
    return isRunnable(value);
  } catch {
    return false;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
  } catch {
    return false;
  }
}
