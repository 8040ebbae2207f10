import { AbortReason, CancelScope } from '../base/cancel-scope.ts';
import type { Clock } from '../base/clock.ts';
import { isAdjutantError } from '../base/error.ts';
import { sha256 } from '../base/hash.ts';
import { deepFreeze } from '../base/json.ts';
import type { EventDraft, EventOf, NextInvocation } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import { isRunnable, type Runnable } from '../ledger/runnable.ts';
import { isSuccess, type ToolEffect, type ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/position.ts';
import { classifyThrown } from '../tools/classify.ts';
import { isToolResult, toolResult, toToolResult } from '../tools/result.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { unknownToolMessage } from '../tools/toolset.ts';
import { validateArgs, validateOutput } from '../tools/validate.ts';
import { cancelledBefore, timedOut, unknownOutcome } from './tool-result-texts.ts';

/** Milliseconds for one attempt of a tool, and of a tool that has called an agent. */
export const defaultToolTimeoutMs = 30_000;
export const defaultAgentToolTimeoutMs = 120_000;
/** How long a tool that was told to stop may take to do so before its call is settled without it. */
const graceMs = 1_000;

/** The context that the engine makes for one attempt, and what is to land with its result. */
export interface ToolBody {
  readonly context: ToolContext;
  /** State changes that the tool made, to be appended with its result. */
  takeWrites(): { readonly drafts: readonly EventDraft[]; readonly extras: BatchExtras | undefined };
  close(): void;
  /** Waits for children that the tool called and did not await; `stop` ends them first. `undefined`: there are none. */
  endChildren(stop: boolean): Promise<void> | undefined;
  /** Resolves when a child of the call gave the run back: the call then stays open. */
  readonly suspended: Promise<void>;
}

export interface ToolCallPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly scope: CancelScope;
  readonly path: string;
  /** Tools by name, as the agent has them. */
  find(name: string): Tool | undefined;
  readonly names: readonly string[];
  makeBody(attempt: ToolAttempt): ToolBody;
  /** Checks a hand-over to another runnable; gives what is recorded, or why it is refused. */
  handOver(target: Runnable): { readonly next: NextInvocation; readonly drafts: readonly EventDraft[] } | { readonly refused: string };
}

/** One execution of a tool in the making. */
export interface ToolAttempt {
  readonly tool: Tool;
  readonly call: EventOf<'tool_call'>;
  readonly args: unknown;
  readonly attempt: number;
  readonly key: string;
  readonly deadline: number;
  readonly scope: CancelScope;
  /** Gives the attempt more time when it calls its first child, unless the tool has a timeout of its own. */
  extendForChild(): void;
}

interface Ending {
  readonly result: ToolResult;
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
  readonly next: Runnable | undefined;
}

/**
 * Performs one attempt of a tool call and records what became of it:
 * validate → prepare → attempt (durable first, unless the tool may be run again) → execute → classify → finalize → record.
 */
export async function performToolCall(state: CallState, attempt: number, ports: ToolCallPorts): Promise<void> {
  const { call } = state;
  if (ports.scope.aborted) return void (isGivenBack(ports) || refuse(state, ports, cancelledBefore()));
  const tool = ports.find(call.name);
  if (tool === undefined)
    return refuse(state, ports, toolResult.permanent(unknownToolMessage(call.name, ports.names), { errorType: 'unknown_tool' }));
  if (call.invalid !== undefined) {
    return refuse(
      state,
      ports,
      toolResult.permanent(`The arguments are not JSON: ${call.invalid}. Call the tool again with a JSON object.`, { errorType: 'validation_error' }),
    );
  }
  const given = ports.ledger.resolve(call.args);
  const validating = validateArgs(tool, given);
  const validated = validating instanceof Promise ? await validating : validating;
  if (!validated.ok) return refuse(state, ports, toolResult.permanent(validated.message, { errorType: 'validation_error' }));
  await new AttemptRun(state, tool, attempt, validated.args, ports).run();
}

/** Settles a call without an attempt: nothing has been executed. */
function refuse(state: CallState, ports: ToolCallPorts, result: ToolResult): void {
  ports.ledger.append([resultDraft(state.call, ports.path, 0, result, { settled: true, durationMs: 0, effect: knownEffect(state) })]);
}

/** What is known of the effects of the attempts that were made: none, unless one of them left it open. */
export function knownEffect(state: CallState): ToolEffect {
  return state.attempts.some(({ result }) => result?.effect === 'unknown') ? 'unknown' : 'none';
}

/** Whether nothing more may be recorded: the process stops, or another owner has taken over. */
function isGivenBack({ scope, ledger }: Pick<ToolCallPorts, 'scope' | 'ledger'>): boolean {
  const code = scope.reason?.code;
  return code === 'stopped' || code === 'fenced' || ledger.failure !== undefined;
}

type ResultDraft = Omit<EventOf<'tool_result'>, 'v' | 'seq' | 'id' | 'at'>;

export function resultDraft(
  call: EventOf<'tool_call'>,
  path: string,
  attempt: number,
  result: ToolResult,
  more: Pick<ResultDraft, 'settled' | 'durationMs'> & {
    readonly [Key in 'effect' | 'late' | 'retryAfterMs' | 'next']?: ResultDraft[Key] | undefined;
  },
): ResultDraft {
  const { settled, durationMs, effect, late, retryAfterMs, next } = more;
  return {
    type: 'tool_result',
    by: `tool:${call.name}`,
    invocationId: path,
    callId: call.callId,
    name: call.name,
    attempt,
    result,
    settled,
    durationMs: Math.round(durationMs * 100) / 100,
    ...(effect === undefined ? {} : { effect }),
    ...(late === undefined ? {} : { late }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(next === undefined ? {} : { next }),
  };
}

/** The key that stays while an effect may have happened, and changes when it is known not to have. */
export function idempotencyKey(session: string, state: CallState): string {
  let generation = 0;
  for (const { result } of state.attempts) if (result?.effect === 'none') generation++;
  return sha256(`${session}\n${state.call.callId}\n${generation}`).slice(0, 32);
}

class AttemptRun {
  readonly #state: CallState;
  readonly #tool: Tool;
  readonly #number: number;
  readonly #args: unknown;
  readonly #ports: ToolCallPorts;
  readonly #scope: CancelScope;
  #timeoutMs: number;
  #cancelTimer: () => void = () => undefined;
  #startedAt = 0;

  constructor(state: CallState, tool: Tool, number: number, args: unknown, ports: ToolCallPorts) {
    this.#state = state;
    this.#tool = tool;
    this.#number = number;
    this.#args = args;
    this.#ports = ports;
    this.#scope = new CancelScope(ports.scope);
    this.#timeoutMs = tool.timeout ?? defaultToolTimeoutMs;
  }

  async run(): Promise<void> {
    const { ledger, clock } = this.#ports;
    const { call } = this.#state;
    const key = idempotencyKey(ledger.session, this.#state);
    const deadline = clock.now() + this.#timeoutMs;
    ledger.append([
      {
        type: 'tool_attempt',
        by: 'runtime',
        invocationId: this.#ports.path,
        callId: call.callId,
        attempt: this.#number,
        key,
        deadline,
        epoch: ledger.epoch,
      },
    ]);
    const durable = this.#tool.recovery === 'rerun' ? undefined : ledger.durable();
    if (durable !== undefined) await durable;
    if (this.#ports.scope.aborted) return this.#recordNotExecuted();
    this.#startedAt = clock.monotonic();
    const body = this.#ports.makeBody({
      tool: this.#tool,
      call,
      args: this.#args,
      attempt: this.#number,
      key,
      deadline,
      scope: this.#scope,
      extendForChild: () => this.#extendForChild(),
    });
    this.#startTimer(this.#timeoutMs);
    try {
      await this.#finish(body);
    } finally {
      this.#cancelTimer();
      this.#scope.close();
    }
  }

  /** The run was cancelled while the attempt was being written down. */
  #recordNotExecuted(): void {
    if (isGivenBack(this.#ports)) return;
    const { ledger, path } = this.#ports;
    const effect = knownEffect(this.#state);
    ledger.append([resultDraft(this.#state.call, path, this.#number, cancelledBefore(), { settled: true, durationMs: 0, effect })]);
  }

  #startTimer(ms: number): void {
    this.#cancelTimer = this.#ports.clock.setTimer(ms, () =>
      this.#scope.abort(new AbortReason('timeout', `The tool ${this.#tool.name} did not finish within ${this.#timeoutMs} ms.`)),
    );
  }

  #extendForChild(): void {
    if (this.#tool.timeout !== undefined || this.#timeoutMs >= defaultAgentToolTimeoutMs) return;
    this.#cancelTimer();
    this.#startTimer(defaultAgentToolTimeoutMs - (this.#ports.clock.monotonic() - this.#startedAt));
    this.#timeoutMs = defaultAgentToolTimeoutMs;
  }

  async #finish(body: ToolBody): Promise<void> {
    let executing: unknown;
    try {
      executing = this.#execute(body.context);
      // A synchronous tool is not made to wait: most of a round's cost would be promises.
      if (!isThenable(executing)) return this.#close(body, this.#ended(executing));
    } catch (thrown) {
      return this.#close(body, this.#failed(thrown));
    }
    const ending = await this.#raceAgainstAbort(Promise.resolve(executing), body);
    if (ending !== undefined) await this.#close(body, ending);
  }

  /** Records the ending, after the children that the tool called and did not wait for. */
  #close(body: ToolBody, ending: Ending): Promise<void> | undefined {
    const children = body.endChildren(ending.effect !== undefined);
    if (children === undefined) return void this.#record(body, ending);
    return children.then(() => (this.#isGivenBack() ? undefined : this.#record(body, ending)));
  }

  #execute(context: ToolContext): unknown {
    const { prepare, execute } = this.#tool;
    if (prepare === undefined && this.#tool.finalize === undefined && this.#tool.outputSchema === undefined) return execute(context);
    return this.#executeWithStages(context);
  }

  async #executeWithStages(context: ToolContext): Promise<unknown> {
    const { prepare, execute, finalize } = this.#tool;
    const prepared = prepare === undefined ? context : withMembers(context, { args: deepFreeze(await prepare(context)) });
    const returned = await execute(prepared);
    // What says of itself how it ended is not a value to be checked or finished.
    if (isRunnable(returned) || isToolResult(returned)) return returned;
    const checked = await this.#checkOutput(returned);
    return finalize === undefined || isToolResult(checked)
      ? checked
      : finalize(withMembers(prepared, { result: checked }) as ToolContext & { result: unknown });
  }

  async #checkOutput(returned: unknown): Promise<unknown> {
    if (this.#tool.outputSchema === undefined) return returned;
    const validated = await validateOutput(this.#tool, returned);
    return validated.ok ? validated.output : toolResult.permanent(validated.message, { errorType: 'validation_error' });
  }

  /** Whichever comes first: the tool's end, or an abort and then a second of grace. `undefined`: the run was given back meanwhile. */
  async #raceAgainstAbort(executing: Promise<unknown>, body: ToolBody): Promise<Ending | undefined> {
    const { promise: graceOver, resolve } = Promise.withResolvers<'grace is over'>();
    let cancelGrace = (): void => undefined;
    const forget = this.#scope.onAbort(() => {
      cancelGrace = this.#ports.clock.setTimer(graceMs, () => resolve('grace is over')) as () => undefined;
    });
    try {
      const first = await Promise.race([executing.then((returned) => ({ returned })), graceOver, body.suspended]);
      if (first === undefined) return undefined;
      if (first !== 'grace is over') return this.#ended(first.returned);
    } catch (thrown) {
      return this.#isGivenBack() ? undefined : this.#failed(thrown);
    } finally {
      forget();
      cancelGrace();
    }
    this.#watchLate(executing);
    return this.#isGivenBack() ? undefined : this.#abandoned();
  }

  #isGivenBack(): boolean {
    return isGivenBack({ scope: this.#scope, ledger: this.#ports.ledger });
  }

  #ended(returned: unknown): Ending {
    if (isRunnable(returned)) return { result: toolResult.success(null), effect: undefined, retryAfterMs: undefined, next: returned };
    const result = toToolResult(returned);
    return {
      result,
      effect: isSuccess(result) ? undefined : result.status === 'timeout' || result.status === 'unknown' ? 'unknown' : 'none',
      retryAfterMs: undefined,
      next: undefined,
    };
  }

  #failed(thrown: unknown): Ending {
    // The code does not fit the ledger: that is no failure of the tool, and nothing of it is recorded.
    if (isAdjutantError(thrown, 'ledger_mismatch') || isAdjutantError(thrown, 'unknown_runnable')) throw thrown;
    const reason = this.#scope.reason;
    if (reason !== undefined) return this.#abandoned();
    const { result, effect, retryAfterMs } = classifyThrown(thrown, this.#ports.clock.now());
    return { result, effect, retryAfterMs, next: undefined };
  }

  #abandoned(): Ending {
    const reason = this.#scope.reason;
    const result =
      reason?.code === 'timeout'
        ? timedOut(this.#tool.name, this.#timeoutMs)
        : toolResult.unknown(`The call was cancelled while the tool was running${reason === undefined ? '' : `: ${reason.message}`}.`, {
            errorType: 'cancelled',
          });
    return { result, effect: 'unknown', retryAfterMs: undefined, next: undefined };
  }

  /** What an abandoned tool still brings is recorded as late; it does not change the result of the call. */
  #watchLate(executing: Promise<unknown>): void {
    const record = (result: ToolResult, effect: ToolEffect | undefined): void => {
      const { ledger, path, clock } = this.#ports;
      if (ledger.failure !== undefined || ledger.claim === undefined) return;
      const durationMs = clock.monotonic() - this.#startedAt;
      ledger.append([resultDraft(this.#state.call, path, this.#number, result, { settled: false, late: true, durationMs, effect })]);
    };
    executing.then(
      (returned) => record(isRunnable(returned) ? toolResult.success(null) : toToolResult(returned), undefined),
      (thrown) => {
        const { result, effect } = classifyThrown(thrown, this.#ports.clock.now());
        record(result, effect);
      },
    );
  }

  #record(body: ToolBody, ending: Ending): void {
    body.close();
    if (this.#ports.ledger.failure !== undefined) return;
    const { ledger, path, clock } = this.#ports;
    const durationMs = clock.monotonic() - this.#startedAt;
    if (ending.next !== undefined) {
      this.#recordHandOver(body, ending.next, durationMs);
      return;
    }
    const { effect, result } = ending;
    const retryAfterMs = this.#retryDelay(ending);
    const settled = retryAfterMs === undefined;
    // An effect that nobody knows of is answered by the tool's recovery, whatever the cause: 'report' says so and does not repeat it.
    const told =
      settled && effect === 'unknown' && this.#tool.recovery === 'report' && result.status !== 'unknown'
        ? unknownOutcome(String(result.content))
        : result;
    const draft = resultDraft(this.#state.call, path, this.#number, told, { settled, durationMs, effect, retryAfterMs });
    if (!settled) {
      ledger.append([draft]);
      return;
    }
    const { drafts, extras } = body.takeWrites();
    ledger.append(drafts.length === 0 ? [draft] : [...drafts, draft], extras);
  }

  #recordHandOver(body: ToolBody, target: Runnable, durationMs: number): void {
    const { ledger, path } = this.#ports;
    const decided = this.#ports.handOver(target);
    const { drafts, extras } = body.takeWrites();
    if ('refused' in decided) {
      const result = toolResult.blocked(decided.refused, { errorType: 'handoff_refused' });
      ledger.append([...drafts, resultDraft(this.#state.call, path, this.#number, result, { settled: true, durationMs, effect: 'none' })], extras);
      return;
    }
    const result = toolResult.success(`The conversation is handed over to ${target.name}.`);
    ledger.append(
      [...drafts, ...decided.drafts, resultDraft(this.#state.call, path, this.#number, result, { settled: true, durationMs, next: decided.next })],
      extras,
    );
  }

  /** Milliseconds to the next attempt, if the tool asks for one and a repetition cannot double an effect. */
  #retryDelay({ result, effect, retryAfterMs }: Ending): number | undefined {
    const { retry, recovery } = this.#tool;
    if (effect === undefined || this.#number >= retry.maxAttempts || this.#ports.scope.aborted) return undefined;
    if (effect === 'unknown' && recovery !== 'rerun') return undefined;
    const mayPass =
      result.status === 'error_transient' || result.status === 'timeout' || result.status === 'unknown' || result.errorType === 'tool_error';
    if (!mayPass) return undefined;
    return retryAfterMs ?? retry.initialDelayMs * retry.backoffMultiplier ** (this.#number - 1);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** The same context with some members replaced; the others stay live. */
function withMembers(context: ToolContext, members: Readonly<Record<string, unknown>>): ToolContext {
  const copy = Object.create(context) as ToolContext;
  for (const [key, value] of Object.entries(members)) Object.defineProperty(copy, key, { value, enumerable: true });
  return copy;
}
