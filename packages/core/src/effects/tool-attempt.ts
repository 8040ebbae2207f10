import { AbortReason, CancelScope } from '../base/cancel-scope.ts';
import { isAdjutantError } from '../base/error.ts';
import { deepFreeze } from '../base/json.ts';
import { unresolvedCall } from '../ledger/effect-fold.ts';
import type { EventOf } from '../ledger/event.ts';
import { isRunnable, type Runnable } from '../ledger/runnable.ts';
import { isSuccess, type ToolEffect, type ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/position.ts';
import { classifyThrown } from '../tools/classify.ts';
import { ChildInPrepareError } from '../tools/errors.ts';
import { isToolResult, toolResult, toToolResult } from '../tools/result.ts';
import type { FinalizeContext, Tool } from '../tools/tool.ts';
import { validateOutput } from '../tools/validate.ts';
import { callFingerprint } from './call-fingerprint.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { isGivenBack, type ToolAttempt, type ToolBody, type ToolCallPorts } from './tool-ports.ts';
import { refusalDraft, resultDraft } from './tool-result-draft.ts';
import {
  cancelledBefore,
  cancelledWhileRunning,
  doneButNotFinished,
  prepareTimedOut,
  repeatRefused,
  timedOut,
  timedOutBefore,
  unknownOutcome,
} from './tool-result-texts.ts';

/** Milliseconds for one attempt of a tool, and of a tool that has called an agent. */
const defaultToolTimeoutMs = 30_000;
const defaultAgentToolTimeoutMs = 120_000;
/** How long a tool that was told to stop may take to do so before its call is settled without it. */
const graceMs = 1_000;

interface Ending {
  readonly result: ToolResult;
  /** Missing when the tool did its work, also when something failed afterwards. */
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
  readonly next: Runnable | undefined;
}

/** `prepare`: nothing is recorded yet. `finish`: the tool has done its work, and its result is checked and finished. */
type Stage = 'prepare' | 'execute' | 'finish';

/** One attempt of a tool call, from its prepared arguments to its recorded result. */
export class AttemptRun implements ToolAttempt {
  readonly tool: Tool;
  readonly attempt: number;
  readonly scope: CancelScope;
  args: unknown;
  result: unknown;
  deadline = 0;
  readonly #state: CallState;
  readonly #ports: ToolCallPorts;
  #stage: Stage = 'prepare';
  #body: ToolBody | undefined;
  #key: string;
  #fingerprint: string | undefined;
  #timeoutMs: number;
  #cancelTimer: () => void = () => undefined;
  /** Monotonic times at which its time began to run, and at which the tool began. */
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
  }

  get key(): string {
    return this.#key;
  }

  get call(): EventOf<'tool_call'> {
    return this.#state.call;
  }

  async run(): Promise<void> {
    const { ledger, clock, scope } = this.#ports;
    const { prepare, recovery } = this.tool;
    try {
      if (prepare !== undefined && !(await this.#prepare(prepare))) return;
      if (recovery !== 'rerun' && !this.#mayRepeat()) return;
      this.#appendAttempt();
      const durable = recovery === 'rerun' ? undefined : ledger.durable();
      if (durable !== undefined) await durable;
      // The last thing before the tool runs: a process that was suspended may have lost the session to another, which runs the tool itself.
      if (!ledger.leaseIsLive() && !(await this.#renewLease())) return;
      if (scope.aborted) return this.#recordNotExecuted();
      this.#startedAt = clock.monotonic();
      if (this.#timeLeft() <= 0) return this.#record(this.#endedBefore());
      this.#startTimer();
      this.#stage = 'execute';
      await this.#execute(this.#context());
    } finally {
      this.#cancelTimer();
      this.scope.close();
      // An abandoned tool may go on for as long as it likes; what it still wants is refused.
      this.#body?.close();
    }
  }

  beforeChild(): void {
    if (this.#stage === 'prepare') throw new ChildInPrepareError({ tool: this.tool.name });
    if (this.tool.timeout !== undefined || this.#timeoutMs >= defaultAgentToolTimeoutMs || this.scope.aborted) return;
    // The ledger keeps the deadline that the attempt began with: whoever takes a call with children over continues it at once, whatever its deadline.
    this.#cancelTimer();
    this.deadline += defaultAgentToolTimeoutMs - this.#timeoutMs;
    this.#timeoutMs = defaultAgentToolTimeoutMs;
    this.#startTimer();
  }

  #context(): FinalizeContext {
    this.#body ??= this.#ports.makeBody(this);
    return this.#body.context;
  }

  #isGivenBack(): boolean {
    return isGivenBack({ scope: this.scope, ledger: this.#ports.ledger });
  }

  /** From now on the time runs, also while the attempt is being written down. */
  #setDeadline(): void {
    this.deadline = this.#ports.clock.now() + this.#timeoutMs;
    this.#timedFrom = this.#ports.clock.monotonic();
  }

  #timeLeft(): number {
    return this.#timeoutMs - (this.#ports.clock.monotonic() - this.#timedFrom);
  }

  #startTimer(): void {
    this.#cancelTimer = this.#ports.clock.setTimer(this.#timeLeft(), () =>
      this.scope.abort(new AbortReason('timeout', `The tool ${this.tool.name} did not finish within ${this.#timeoutMs} ms.`)),
    );
  }

  #appendAttempt(): void {
    const { ledger, path } = this.#ports;
    this.#setDeadline();
    const { callId } = this.call;
    const { attempt, key, deadline } = this;
    const fingerprint = this.#fingerprint === undefined ? {} : { fingerprint: this.#fingerprint };
    ledger.append([{ type: 'tool_attempt', by: 'runtime', invocationId: path, callId, attempt, key, deadline, epoch: ledger.epoch, ...fingerprint }]);
  }

  /** Prepares the arguments. Nothing has been attempted, so a failure refuses the call. Returns whether it may go on. */
  async #prepare(prepare: NonNullable<Tool['prepare']>): Promise<boolean> {
    const { ledger, clock, path } = this.#ports;
    this.#setDeadline();
    this.#startTimer();
    const context = this.#context();
    const preparing = (async () => prepare(context))();
    try {
      const prepared = await this.#untilAborted(preparing);
      if (prepared !== undefined && !this.scope.aborted) {
        this.args = deepFreeze(prepared.value);
        this.#cancelTimer();
        return true;
      }
    } catch (thrown) {
      if (!this.scope.aborted) {
        ledger.append([refusalDraft(this.#state, path, classifyThrown(thrown, clock.now()).result)]);
        return false;
      }
    }
    preparing.catch(() => undefined);
    if (this.#isGivenBack()) return false;
    const why = this.scope.reason?.code === 'timeout' ? prepareTimedOut(this.tool.name, this.#timeoutMs) : cancelledBefore();
    ledger.append([refusalDraft(this.#state, path, why)]);
    return false;
  }

  /**
   * Looks for an earlier call that does the same and may have taken effect: this one gets its key, so that a service that honours keys does
   * nothing twice, or is refused. What this call has already begun goes on under its own key.
   */
  #mayRepeat(): boolean {
    const { ledger, path } = this.#ports;
    this.#fingerprint = callFingerprint(this.tool.name, this.args);
    const earlier = unresolvedCall(ledger.effects, this.#fingerprint, this.call.callId);
    if (earlier === undefined || this.#state.attempts.some(({ result }) => result?.effect !== 'none')) return true;
    this.#key = earlier.key;
    if (this.tool.onRepeat === 'allow') return true;
    ledger.append([refusalDraft(this.#state, path, repeatRefused(this.tool.name, earlier.callId))]);
    return false;
  }

  /** Whether the session is still this process's: if not, another one answers for the attempt. */
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

  /** The run was cancelled while the attempt was being written down. */
  #recordNotExecuted(): void {
    if (this.#isGivenBack()) return;
    const { ledger, path } = this.#ports;
    const { effect } = refusalDraft(this.#state, path, cancelledBefore());
    ledger.append([resultDraft(this.call, path, this.attempt, cancelledBefore(), { settled: true, durationMs: 0, effect })]);
  }

  /** Its time was over before the tool could begin. */
  #endedBefore(): Ending {
    return { result: timedOutBefore(this.tool.name, this.#timeoutMs), effect: 'none', retryAfterMs: undefined, next: undefined };
  }

  async #execute(context: FinalizeContext): Promise<void> {
    let ending: Ending | undefined;
    try {
      const { finalize, outputSchema, execute } = this.tool;
      const executing = finalize === undefined && outputSchema === undefined ? execute(context) : this.#executeAndFinish(context);
      // A synchronous tool is not made to wait: most of a round's cost would be promises.
      ending = isThenable(executing) ? await this.#endOf(Promise.resolve(executing)) : this.#ended(executing);
    } catch (thrown) {
      ending = this.#failed(thrown);
    }
    if (ending !== undefined) await this.#close(ending);
  }

  async #executeAndFinish(context: FinalizeContext): Promise<unknown> {
    const { execute, finalize } = this.tool;
    const returned = await execute(context);
    // What says of itself how it ended is not a value to be checked or finished.
    if (isHandOver(returned) || isToolResult(returned)) return returned;
    this.#stage = 'finish';
    const checked = await this.#checkOutput(returned);
    if (finalize === undefined || isToolResult(checked)) return checked;
    this.result = checked;
    return finalize(context);
  }

  async #checkOutput(returned: unknown): Promise<unknown> {
    if (this.tool.outputSchema === undefined) return returned;
    const validated = await validateOutput(this.tool, returned);
    return validated.ok ? validated.output : toolResult.permanent(validated.message, { errorType: 'validation_error' });
  }

  /** How a tool ended, or was given up; `undefined`: the run was given back meanwhile. */
  async #endOf(executing: Promise<unknown>): Promise<Ending | undefined> {
    try {
      const first = await this.#untilAborted(executing);
      if (first !== undefined) return this.#ended(first.value);
    } catch (thrown) {
      return this.#isGivenBack() ? undefined : this.#failed(thrown);
    }
    if (this.scope.aborted) this.#watchLate(executing);
    else executing.catch(() => undefined);
    // A child that gave the run back leaves the call open, without an abort.
    return this.scope.aborted && !this.#isGivenBack() ? this.#abandoned() : undefined;
  }

  /** What `working` gives; `undefined`: an abort came first and then a second of grace, or a child gave the run back. */
  async #untilAborted<Value>(working: Promise<Value>): Promise<{ readonly value: Value } | undefined> {
    const { promise: graceOver, resolve } = Promise.withResolvers<undefined>();
    let cancelGrace: () => void = () => undefined;
    const forget = this.scope.onAbort(() => {
      cancelGrace = this.#ports.clock.setTimer(graceMs, () => resolve(undefined));
    });
    try {
      const first = await Promise.race([working.then((value) => ({ value })), graceOver, this.#body?.suspended ?? graceOver]);
      return first ?? undefined;
    } finally {
      forget();
      cancelGrace();
    }
  }

  #ended(returned: unknown): Ending {
    if (isHandOver(returned)) return { result: toolResult.success(null), effect: undefined, retryAfterMs: undefined, next: returned };
    const result = toToolResult(returned);
    const failed = !isSuccess(result) && this.#stage !== 'finish';
    const effect = result.status === 'timeout' || result.status === 'unknown' ? 'unknown' : 'none';
    return { result, effect: failed ? effect : undefined, retryAfterMs: undefined, next: undefined };
  }

  #failed(thrown: unknown): Ending {
    // The code does not fit the ledger: that is no failure of the tool, and nothing of it is recorded.
    if (isAdjutantError(thrown, 'ledger_mismatch') || isAdjutantError(thrown, 'unknown_runnable')) throw thrown;
    return this.scope.aborted ? this.#abandoned() : this.#classified(thrown);
  }

  #classified(thrown: unknown): Ending {
    const { result, effect, retryAfterMs } = classifyThrown(thrown, this.#ports.clock.now());
    return this.#stage === 'finish' ? this.#notFinished(result) : { result, effect, retryAfterMs, next: undefined };
  }

  #abandoned(): Ending {
    const { reason } = this.scope;
    const result = reason?.code === 'timeout' ? timedOut(this.tool.name, this.#timeoutMs) : cancelledWhileRunning(reason?.message);
    return this.#stage === 'finish' ? this.#notFinished(result) : { result, effect: 'unknown', retryAfterMs: undefined, next: undefined };
  }

  /** The tool did its work: whatever failed afterwards, the call is settled and nothing is done again. */
  #notFinished(why: ToolResult): Ending {
    return { result: doneButNotFinished(this.tool.name, why), effect: undefined, retryAfterMs: undefined, next: undefined };
  }

  /** What an abandoned tool still brings is recorded as late; it does not change the result of the call. */
  #watchLate(executing: Promise<unknown>): void {
    const record = ({ result, effect }: Ending): void => {
      const { ledger, path, clock } = this.#ports;
      if (ledger.failure !== undefined || ledger.claim === undefined) return;
      const durationMs = clock.monotonic() - this.#startedAt;
      ledger.append([resultDraft(this.call, path, this.attempt, result, { settled: false, late: true, durationMs, effect })]);
    };
    executing.then(
      (returned) => record(this.#ended(returned)),
      (thrown) => record(this.#classified(thrown)),
    );
  }

  /** Records the ending, after the children that the tool called and did not wait for. */
  #close(ending: Ending): Promise<void> | undefined {
    const failed = ending.effect !== undefined;
    if (failed) this.#body?.close();
    const children = this.#body?.endChildren(failed);
    if (children === undefined) return void this.#record(ending);
    return children.then(() => (this.#isGivenBack() ? undefined : this.#record(ending)));
  }

  #record(given: Ending): void {
    this.#body?.close();
    const { ledger, clock } = this.#ports;
    if (ledger.failure !== undefined) return;
    const drift = given.effect === undefined ? this.#body?.findDrift() : undefined;
    const ending: Ending = drift === undefined ? given : { result: drift, effect: 'unknown', retryAfterMs: undefined, next: undefined };
    const durationMs = clock.monotonic() - this.#startedAt;
    if (ending.next === undefined) this.#recordResult(ending, durationMs);
    else this.#recordHandOver(ending.next, durationMs);
  }

  #recordResult(ending: Ending, durationMs: number): void {
    const { ledger, path } = this.#ports;
    const { effect, result } = ending;
    const retryAfterMs = this.#retryDelay(ending);
    const settled = retryAfterMs === undefined;
    // An effect that nobody knows of is answered by the tool's recovery, whatever the cause: 'report' says so and does not repeat it.
    const told =
      settled && effect === 'unknown' && this.tool.recovery === 'report' && result.status !== 'unknown'
        ? unknownOutcome(String(result.content))
        : result;
    const draft = resultDraft(this.call, path, this.attempt, told, { settled, durationMs, effect, retryAfterMs });
    const written = settled ? this.#body?.takeWrites() : undefined;
    ledger.append(written === undefined || written.drafts.length === 0 ? [draft] : [...written.drafts, draft], written?.extras);
  }

  #recordHandOver(target: Runnable, durationMs: number): void {
    const { ledger, path } = this.#ports;
    const decided = this.#ports.handOver(target);
    const { drafts = [], extras } = this.#body?.takeWrites() ?? {};
    if ('refused' in decided) {
      // The tool ran before it was refused: that nothing happened cannot be said.
      const result = toolResult.blocked(decided.refused, { errorType: 'handoff_refused' });
      ledger.append([...drafts, resultDraft(this.call, path, this.attempt, result, { settled: true, durationMs })], extras);
      return;
    }
    const result = toolResult.success(`The conversation is handed over to ${target.name}.`);
    const { next } = decided;
    ledger.append([...drafts, ...decided.drafts, resultDraft(this.call, path, this.attempt, result, { settled: true, durationMs, next })], extras);
  }

  /** Milliseconds to the next attempt, if the tool asks for one and a repetition cannot double an effect. */
  #retryDelay({ result, effect, retryAfterMs }: Ending): number | undefined {
    const { retry, recovery } = this.tool;
    if (effect === undefined || this.attempt >= retry.maxAttempts || this.#ports.scope.aborted) return undefined;
    if (effect === 'unknown' && recovery !== 'rerun') return undefined;
    const mayPass =
      result.status === 'error_transient' || result.status === 'timeout' || result.status === 'unknown' || result.errorType === 'tool_error';
    if (!mayPass) return undefined;
    return retryAfterMs ?? retry.initialDelayMs * retry.backoffMultiplier ** (this.attempt - 1);
  }
}

/** Values may throw when they are looked at; what a tool returned never makes it fail. */
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
