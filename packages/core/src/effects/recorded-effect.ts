import { AbortReason, CancelScope } from '../base/cancel-scope.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonValue } from '../base/json.ts';
import type { Actor, EventDraft, EventOf } from '../ledger/event.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import { isSuccess, type ToolEffect, type ToolResult } from '../ledger/tool-result.ts';
import type {
  EffectContext,
  EffectOptions,
  EffectProbe,
  EffectProbeResult,
} from '../session/body-context.ts';
import { classifyThrown } from '../tools/classify.ts';
import { toolResult } from '../tools/result.ts';
import { executionChannel, tellExecution } from './execution-channel.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { EffectFailedError, EffectUnknownError } from './recorded-effect-errors.ts';
import {
  effectCancelledBefore,
  effectInterrupted,
  effectInterruptedTooOften,
  effectNotKnown,
  effectTimedOut,
  effectTimedOutBefore,
} from './recorded-effect-texts.ts';
import { isGivenBack } from './tool-ports.ts';
import { resultDraft } from './tool-result-draft.ts';

const defaultTimeoutMs = 30_000;
/** How long an effect that was told to stop may take to do so before it is settled without it. */
const graceMs = 1_000;
/**
 * Attempts that may be cut off by the end of their process before the effect is settled as it is:
 * it may be what ends it.
 */
const mostInterruptions = 3;
const defaultRetry = Object.freeze({ maxAttempts: 3, initialDelayMs: 1_000, backoffMultiplier: 2 });

/** One attempt of an effect as the ledger has it. */
export interface EffectAttempt {
  readonly attempt: number;
  readonly key: string;
  readonly deadline: number;
  readonly seq: number;
  readonly at: number;
  /** Missing while it runs, or when the process died. */
  result: EventOf<'tool_result'> | undefined;
}

/** What the ledger has of one effect. */
export interface EffectRecord {
  readonly attempts: EffectAttempt[];
  settled: EventOf<'tool_result'> | undefined;
}

/** What an effect is to do, and under which name. */
export interface EffectRequest {
  readonly key: string;
  readonly callId: string;
  readonly run: (ctx: EffectContext) => unknown;
  readonly options: EffectOptions;
}

export interface EffectPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Aborted when the body, or the run, is to stop. */
  readonly scope: CancelScope;
  /** Path that the events carry. */
  readonly path: string;
  readonly by: Actor;
  /** What the body has written to the state: it lands with the first attempt. */
  takeWrites(): {
    readonly drafts: readonly EventDraft[];
    readonly extras: BatchExtras | undefined;
  };
}

interface Ending {
  readonly result: ToolResult;
  /** Missing when it did its work. */
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
}

/**
 * Gives what is recorded of an effect, or performs and records it: attempt (durable first, unless
 * it may be run again) → lease → run → classify.
 * @returns what it gave; `undefined`: the run was given back
 * @throws EffectFailedError, EffectUnknownError, and the reason when the body is cancelled
 */
export function performEffect(
  request: EffectRequest,
  record: EffectRecord,
  ports: EffectPorts,
): Promise<{ readonly value: JsonValue } | undefined> {
  return new EffectRun(request, record, ports).run();
}

class EffectRun {
  readonly #request: EffectRequest;
  readonly #record: EffectRecord;
  readonly #ports: EffectPorts;

  constructor(request: EffectRequest, record: EffectRecord, ports: EffectPorts) {
    this.#request = request;
    this.#record = record;
    this.#ports = ports;
  }

  async run(): Promise<{ readonly value: JsonValue } | undefined> {
    for (;;) {
      const { settled, attempts } = this.#record;
      if (settled !== undefined) return { value: this.#outcome(settled) };
      const last = attempts.at(-1);
      const goesOn =
        last !== undefined && last.result === undefined
          ? await this.#closeOpen(last)
          : await this.#next(last);
      if (!goesOn) return undefined;
    }
  }

  /** @throws EffectFailedError, EffectUnknownError */
  #outcome({ result, effect, attempt }: EventOf<'tool_result'>): JsonValue {
    // The body may change what it gets; the ledger's own value is frozen.
    if (isSuccess(result)) return structuredClone(result.content) as JsonValue;
    const { key, callId } = this.#request;
    const made = this.#record.attempts.find((candidate) => candidate.attempt === attempt);
    const data = { key, callId, idempotencyKey: made?.key ?? '', attempt };
    throw effect === 'unknown'
      ? new EffectUnknownError(data, result)
      : new EffectFailedError(data, result);
  }

  #isGivenBack(): boolean {
    return isGivenBack(this.#ports);
  }

  /**
   * Whether the work may go on; `false`: the run was given back. @throws the reason when the body
   * is cancelled
   */
  #mayGoOn(): boolean {
    if (this.#isGivenBack()) return false;
    if (this.#ports.scope.reason !== undefined) throw this.#ports.scope.reason;
    return true;
  }

  /** Records how an attempt ended. */
  #note(
    attempt: EffectAttempt,
    { result, effect, retryAfterMs }: Ending,
    durationMs: number,
    more: { late?: true } = {},
  ): void {
    const { ledger, path, by } = this.#ports;
    const { key: name, callId } = this.#request;
    const settled = retryAfterMs === undefined && more.late === undefined;
    const draft = resultDraft({ callId, name }, path, attempt.attempt, result, {
      settled,
      durationMs,
      effect,
      retryAfterMs,
      ...more,
    });
    const [event] = ledger.append([{ ...draft, by }]);
    if (more.late !== undefined || event?.type !== 'tool_result') return;
    attempt.result = ledger.whole(event);
    if (settled) this.#record.settled = attempt.result;
  }

  /** Says what is known of an attempt whose process stopped. */
  async #closeOpen(open: EffectAttempt): Promise<boolean> {
    const { recovery = 'report' } = this.#request.options;
    if (!this.#mayGoOn()) return false;
    if (recovery === 'report') this.#note(open, unknownEnding(effectInterrupted()), 0);
    else if (recovery === 'rerun') this.#note(open, this.#interrupted('unknown'), 0);
    else {
      const replayed = this.#replayed(open);
      if (replayed !== undefined) {
        await replayed;
        return this.#mayGoOn();
      }
      // Its process may be suspended and not dead: until its time is over it can still begin.
      if (!(await this.#sleepUntil(open.deadline))) return false;
      const found = await this.#probe(recovery, open, this.#interrupted('none'));
      if (found === undefined) return false;
      this.#note(open, found, 0);
    }
    return true;
  }

  #interrupted(effect: ToolEffect): Ending {
    const times = this.#record.attempts.filter(
      ({ result }) => result === undefined || result.result.errorType === 'interrupted',
    ).length;
    if (times < mostInterruptions) return { result: effectInterrupted(), effect, retryAfterMs: 0 };
    return { result: effectInterruptedTooOften(times), effect, retryAfterMs: undefined };
  }

  /** Makes the next attempt when its time has come. */
  async #next(last: EffectAttempt | undefined): Promise<boolean> {
    const { at = 0, retryAfterMs = 0 } = last?.result ?? {};
    if (retryAfterMs > 0 && !(await this.#sleepUntil(at + retryAfterMs))) return false;
    if (!this.#mayGoOn()) return false;
    const timedFrom = this.#ports.clock.monotonic();
    const attempt = this.#appendAttempt();
    if (!(await this.#mayBegin())) return false;
    const { scope, clock } = this.#ports;
    const timeLeft = this.#timeoutMs - (clock.monotonic() - timedFrom);
    // Whoever runs the body again, as after a reopening, may still do it.
    if (scope.aborted)
      this.#note(attempt, { result: effectCancelledBefore(), effect: 'none', retryAfterMs: 0 }, 0);
    else if (timeLeft <= 0)
      await this.#end(
        attempt,
        { result: effectTimedOutBefore(this.#timeoutMs), effect: 'none', retryAfterMs: undefined },
        0,
      );
    else await this.#execute(attempt, timeLeft);
    return true;
  }

  get #timeoutMs(): number {
    return this.#request.options.timeout ?? defaultTimeoutMs;
  }

  #appendAttempt(): EffectAttempt {
    const { ledger, clock, path } = this.#ports;
    const { callId } = this.#request;
    const { attempts } = this.#record;
    const { drafts, extras } =
      attempts.length === 0 ? this.#ports.takeWrites() : { drafts: [], extras: undefined };
    const key = idempotencyKey(ledger, { call: { callId }, attempts });
    const attempt = (attempts.at(-1)?.attempt ?? 0) + 1;
    const deadline = clock.now() + this.#timeoutMs;
    const { epoch } = ledger;
    const appended = ledger.append(
      [
        ...drafts,
        {
          type: 'tool_attempt',
          by: 'runtime',
          invocationId: path,
          callId,
          attempt,
          key,
          deadline,
          epoch,
        },
      ],
      extras,
    );
    const { seq, at } = appended.at(-1) ?? { seq: 0, at: 0 };
    const made: EffectAttempt = { attempt, key, deadline, seq, at, result: undefined };
    attempts.push(made);
    return made;
  }

  /**
   * Waits until the attempt is durable and makes sure that the session is still this process's: if
   * not, another one answers for the attempt.
   */
  async #mayBegin(): Promise<boolean> {
    const { ledger } = this.#ports;
    try {
      if (this.#request.options.recovery !== 'rerun') await ledger.durable();
      if (!ledger.leaseIsLive()) await ledger.renewLease();
    } catch (error) {
      ledger.fail(error);
    }
    return !this.#isGivenBack();
  }

  async #execute(attempt: EffectAttempt, timeLeft: number): Promise<void> {
    const { clock, ledger, scope } = this.#ports;
    const replayed = this.#replayed(attempt);
    if (replayed !== undefined) return replayed;
    const startedAt = clock.monotonic();
    const { callId, run, options } = this.#request;
    if (executionChannel.hasSubscribers) {
      tellExecution({
        ledger,
        callId,
        attempt: attempt.attempt,
        key: attempt.key,
        recovery: options.recovery ?? 'report',
      });
    }
    const { first, ended, reason } = await this.#limited(timeLeft, attempt, run);
    const durationMs = clock.monotonic() - startedAt;
    if (first !== undefined && (first.status === 'fulfilled' || reason === undefined)) {
      if (ledger.failure === undefined) await this.#end(attempt, this.#endingOf(first), durationMs);
      return;
    }
    if (first === undefined)
      void ended.then((late) => this.#noteLate(attempt, this.#endingOf(late), startedAt));
    if (this.#isGivenBack()) return;
    const why = scope.aborted
      ? effectNotKnown(`it was cancelled while it was under way: ${scope.reason?.message}`)
      : effectTimedOut(this.#timeoutMs);
    await this.#end(attempt, unknownEnding(why), durationMs);
  }

  /** Resolves when the recorded end of an attempt is in the ledger, in a replay. */
  #replayed(attempt: EffectAttempt): Promise<void> | undefined {
    const { ledger } = this.#ports;
    const ended = ledger.ports.tape?.attemptEnded({
      callId: this.#request.callId,
      attempt: attempt.attempt,
      mayRun: false,
    });
    return ended?.then((outcome) => {
      const event = 'landed' in outcome ? outcome.landed : undefined;
      if (event?.type !== 'tool_result') return;
      attempt.result = ledger.whole(event);
      if (event.settled) this.#record.settled = attempt.result;
    });
  }

  #endingOf(settled: PromiseSettledResult<unknown>): Ending {
    if (settled.status === 'fulfilled')
      return {
        result: toolResult.success(settled.value),
        effect: undefined,
        retryAfterMs: undefined,
      };
    const { result, effect, retryAfterMs } = classifyThrown(
      settled.reason,
      this.#ports.clock.now(),
    );
    return { result, effect, retryAfterMs };
  }

  /**
   * Records the end of an attempt that this process made, and whether there will be another one.
   */
  async #end(attempt: EffectAttempt, ending: Ending, durationMs: number): Promise<void> {
    const { recovery = 'report' } = this.#request.options;
    const delay = ending.effect === undefined ? undefined : this.#retryDelay(attempt, ending);
    if (ending.effect === 'unknown' && typeof recovery === 'function') {
      const found = await this.#probe(recovery, attempt, {
        ...ending,
        effect: 'none',
        retryAfterMs: delay,
      });
      // Without an answer the attempt stays open: whoever runs the body again asks.
      if (found !== undefined) this.#note(attempt, found, durationMs);
    } else if (ending.effect === 'unknown' && recovery === 'report')
      this.#note(attempt, { ...ending, retryAfterMs: undefined }, durationMs);
    else this.#note(attempt, { ...ending, retryAfterMs: delay }, durationMs);
  }

  /** Milliseconds to the next attempt, if one may help. */
  #retryDelay(
    { attempt }: EffectAttempt,
    { result, effect, retryAfterMs }: Ending,
  ): number | undefined {
    const { retry, recovery } = this.#request.options;
    // A cancelled body that is run again, as after a reopening, may repeat what may be repeated.
    if (this.#ports.scope.aborted)
      return effect === 'unknown' && recovery === 'rerun' ? 0 : undefined;
    if (retry === undefined || attempt >= (retry.maxAttempts ?? defaultRetry.maxAttempts))
      return undefined;
    const { status, errorType } = result;
    if (status === 'error_blocked' || (status === 'error_permanent' && errorType !== 'tool_error'))
      return undefined;
    const {
      initialDelayMs = defaultRetry.initialDelayMs,
      backoffMultiplier = defaultRetry.backoffMultiplier,
    } = retry;
    return retryAfterMs ?? initialDelayMs * backoffMultiplier ** (attempt - 1);
  }

  /**
   * What a probe says of an attempt; `undefined`: the run was given back. @throws the reason when
   * the body is cancelled
   */
  async #probe(
    probe: EffectProbe,
    attempt: EffectAttempt,
    ifNot: Ending,
  ): Promise<Ending | undefined> {
    if (!this.#mayGoOn()) return undefined;
    const { first } = await this.#limited(this.#timeoutMs, attempt, probe);
    if (!this.#mayGoOn()) return undefined;
    if (first === undefined)
      return unknownEnding(
        effectNotKnown(`its probe did not finish within ${this.#timeoutMs} ms.`),
      );
    if (first.status === 'rejected')
      return unknownEnding(
        effectNotKnown(`its probe failed: ${String(this.#endingOf(first).result.content)}`),
      );
    const found = first.value as EffectProbeResult | undefined;
    if (found?.happened === true)
      return {
        result: toolResult.success(found.result),
        effect: undefined,
        retryAfterMs: undefined,
      };
    if (found?.happened === false) return ifNot;
    return unknownEnding(effectNotKnown(found?.detail ?? 'its probe could not find out.'));
  }

  /**
   * Runs something until its time is over and a second of grace; `first` is missing when it went on
   * beyond that.
   */
  async #limited(
    timeLeft: number,
    { attempt, key }: EffectAttempt,
    work: (ctx: EffectContext) => unknown,
  ): Promise<Limited> {
    const { clock } = this.#ports;
    const scope = new CancelScope(this.#ports.scope);
    const why = `The effect "${this.#request.key}" did not finish within ${this.#timeoutMs} ms.`;
    const cancelTimer = clock.setTimer(timeLeft, () =>
      scope.abort(new AbortReason('timeout', why)),
    );
    const { promise: graceOver, resolve } = Promise.withResolvers<undefined>();
    let cancelGrace: () => void = () => undefined;
    const forget = scope.onAbort(() => {
      cancelGrace = clock.setTimer(graceMs, () => resolve(undefined));
    });
    const context: EffectContext = {
      idempotencyKey: key,
      attempt,
      get signal() {
        return scope.signal;
      },
    };
    const ended = Promise.allSettled([(async () => work(context))()]).then(([settled]) => settled);
    const first = await Promise.race([ended, graceOver]);
    forget();
    cancelGrace();
    cancelTimer();
    scope.close();
    return { first, ended, reason: scope.reason };
  }

  /**
   * Whether the time came; `false`: the run was given back. @throws the reason when the body is
   * cancelled
   */
  async #sleepUntil(at: number): Promise<boolean> {
    const { clock, scope } = this.#ports;
    const ms = at - clock.now();
    if (ms > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancelTimer = clock.setTimer(ms, resolve);
      const forget = scope.onAbort(() => resolve());
      await promise;
      cancelTimer();
      forget();
    }
    return this.#mayGoOn();
  }

  /**
   * What an abandoned effect still brings is recorded as late; it does not change how the effect
   * ended.
   */
  #noteLate(attempt: EffectAttempt, ending: Ending, startedAt: number): void {
    const { ledger, clock } = this.#ports;
    if (ledger.failure !== undefined || ledger.claim === undefined) return;
    this.#note(attempt, { ...ending, retryAfterMs: undefined }, clock.monotonic() - startedAt, {
      late: true,
    });
  }
}

/** How some work ended in the time it had. */
interface Limited {
  readonly first: PromiseSettledResult<unknown> | undefined;
  /** Its end, however late it comes. */
  readonly ended: Promise<PromiseSettledResult<unknown>>;
  /** Why it was told to stop, if it was. */
  readonly reason: AbortReason | undefined;
}

function unknownEnding(result: ToolResult): Ending {
  return { result, effect: 'unknown', retryAfterMs: undefined };
}
