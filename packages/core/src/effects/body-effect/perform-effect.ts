import type { JsonValue } from '../../base/json.ts';
import { randomFromSeed } from '../../base/random.ts';
import { resolveRetry, retryDelay } from '../../base/retry-options.ts';
import type { EventOf } from '../../ledger/event.ts';
import { isSuccess, type ToolEffect } from '../../ledger/tool-result.ts';
import type { EffectContext, EffectProbe } from '../../session/body-context.ts';
import { executionChannel, tellExecution } from '../execution-channel.ts';
import { idempotencyKey } from '../idempotency-key.ts';
import { isReleased } from '../released.ts';
import { resultDraft } from '../result-draft.ts';
import { type Ending, endingOf, probedEnding, unknownEnding } from './ending.ts';
import { EffectFailedError, EffectUnknownError } from './errors.ts';
import { type Limited, limitedWork } from './limited-work.ts';
import type { EffectAttempt, EffectPorts, EffectRecord, EffectRequest } from './ports.ts';
import {
  effectCancelledBefore,
  effectInterrupted,
  effectInterruptedTooOften,
  effectNotKnown,
  effectTimedOut,
  effectTimedOutBefore,
} from './result-texts.ts';

const defaultTimeoutMs = 30_000;
/**
 * Interrupted attempts after which an effect is settled as it is. An attempt is interrupted when
 * its process ends: the effect itself may be the cause.
 */
const mostInterruptions = 3;

/**
 * Returns the recorded value of an effect, or performs the effect and records it. The order is
 * attempt → lease → run → classify. The attempt is durable before the run, unless the effect may be
 * run again.
 * @returns the value of the effect; `undefined`: the run was released
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
      const { settled } = this.#record;
      if (settled !== undefined) return { value: this.#outcome(settled) };
      if (!(await this.#goOn())) return undefined;
    }
  }

  /** Comes one step nearer to the outcome. Returns false when the run was released. */
  #goOn(): Promise<boolean> {
    const { attempts, judgesAgain } = this.#record;
    const last = attempts.at(-1);
    if (last?.result === undefined)
      return last === undefined ? this.#next(last) : this.#closeOpen(last);
    return judgesAgain ? this.#judgeAgain(last, last.result) : this.#next(last);
  }

  /** Returns the value of a settled effect. @throws EffectFailedError, EffectUnknownError */
  #outcome({ result, effect, attempt }: EventOf<'tool_result'>): JsonValue {
    // The body may change its copy of the value; the value in the ledger is frozen.
    if (isSuccess(result)) return structuredClone(result.content) as JsonValue;
    const { key, callId } = this.#request;
    const made = this.#record.attempts.find((candidate) => candidate.attempt === attempt);
    const data = { key, callId, idempotencyKey: made?.key ?? '', attempt };
    throw effect === 'unknown'
      ? new EffectUnknownError(data, result)
      : new EffectFailedError(data, result);
  }

  #isReleased(): boolean {
    return isReleased(this.#ports);
  }

  /**
   * True when the work may go on, false when the run was released.
   * @throws the abort reason when the body is cancelled
   */
  #mayGoOn(): boolean {
    if (this.#isReleased()) return false;
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
    this.#landed(attempt, ledger.whole(event));
  }

  /** Takes the recorded end of an attempt into account. */
  #landed(attempt: EffectAttempt, result: EventOf<'tool_result'>): void {
    attempt.result = result;
    this.#record.judgesAgain = false;
    if (result.settled) this.#record.settled = result;
  }

  /**
   * Records what is known of an attempt whose process stopped. Returns false when the run was
   * released.
   */
  async #closeOpen(open: EffectAttempt): Promise<boolean> {
    const { recovery = 'report' } = this.#request.options;
    if (!this.#mayGoOn()) return false;
    if (recovery === 'report') this.#note(open, unknownEnding(effectInterrupted()), 0);
    else if (recovery === 'rerun') this.#note(open, this.#interrupted('unknown'), 0);
    else return this.#askAbout(open, recovery);
    return true;
  }

  /**
   * Judges an unknown outcome by the present recovery, because the body was reopened. Returns false
   * when the run was released.
   */
  async #judgeAgain(unknown: EffectAttempt, result: EventOf<'tool_result'>): Promise<boolean> {
    const { recovery = 'report' } = this.#request.options;
    if (!this.#mayGoOn()) return false;
    if (recovery === 'report') this.#record.settled = result;
    else if (typeof recovery === 'function') return this.#askAbout(unknown, recovery);
    this.#record.judgesAgain = false;
    return true;
  }

  /**
   * Records what a probe finds about an attempt of another process or an earlier execution. Returns
   * false when the run was released.
   */
  async #askAbout(attempt: EffectAttempt, probe: EffectProbe): Promise<boolean> {
    const replayed = this.#replayed(attempt);
    if (replayed !== undefined) {
      await replayed;
      return this.#mayGoOn();
    }
    // The process of the attempt may be suspended and not dead. Until the deadline it can still
    // begin.
    if (!(await this.#sleepUntil(attempt.deadline))) return false;
    const found = await this.#probe(probe, attempt, this.#interrupted('none'));
    if (found === undefined) return false;
    this.#note(attempt, found, 0);
    return true;
  }

  #interrupted(effect: ToolEffect): Ending {
    const times = this.#record.attempts.filter(
      ({ result }) => result === undefined || result.result.errorType === 'interrupted',
    ).length;
    if (times < mostInterruptions) return { result: effectInterrupted(), effect, retryAfterMs: 0 };
    return { result: effectInterruptedTooOften(times), effect, retryAfterMs: undefined };
  }

  /** Makes the next attempt when its time has come. Returns false when the run was released. */
  async #next(last: EffectAttempt | undefined): Promise<boolean> {
    const { at = 0, retryAfterMs = 0 } = last?.result ?? {};
    if (retryAfterMs > 0 && !(await this.#sleepUntil(at + retryAfterMs))) return false;
    if (!this.#mayGoOn()) return false;
    const timedFrom = this.#ports.clock.monotonic();
    const attempt = this.#appendAttempt();
    if (!(await this.#mayBegin())) return false;
    const { scope, clock } = this.#ports;
    const timeLeft = this.#timeoutMs - (clock.monotonic() - timedFrom);
    // A later run of the body, as after a reopening, may still make the attempt.
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
    return this.#request.options.timeoutMs ?? defaultTimeoutMs;
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
    const { epoch } = ledger.lease;
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
   * Waits until the attempt is durable, and makes sure that this process still owns the session.
   * Otherwise another process is responsible for the attempt.
   */
  async #mayBegin(): Promise<boolean> {
    const { ledger } = this.#ports;
    try {
      if (this.#request.options.recovery !== 'rerun') await ledger.durable();
      if (!ledger.lease.isLive()) await ledger.lease.renew();
    } catch (error) {
      ledger.fail(error);
    }
    return !this.#isReleased();
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
    const { first, ended, reason } = await this.#limited(attempt, timeLeft, run);
    const durationMs = clock.monotonic() - startedAt;
    if (first !== undefined && (first.status === 'fulfilled' || reason === undefined)) {
      if (ledger.failure === undefined)
        await this.#end(attempt, endingOf(first, clock.now()), durationMs);
      return;
    }
    if (first === undefined)
      void ended.then((late) => this.#noteLate(attempt, endingOf(late, clock.now()), startedAt));
    if (this.#isReleased()) return;
    const why = scope.aborted
      ? effectNotKnown(`it was cancelled while it was under way: ${scope.reason?.message}`)
      : effectTimedOut(this.#timeoutMs);
    await this.#end(attempt, unknownEnding(why), durationMs);
  }

  /** Resolves in a replay when the recorded end of an attempt is in the ledger. */
  #replayed(attempt: EffectAttempt): Promise<void> | undefined {
    const { ledger } = this.#ports;
    const ended = ledger.ports.recording?.attemptEnded({
      callId: this.#request.callId,
      attempt: attempt.attempt,
      mayRun: false,
    });
    return ended?.then((outcome) => {
      const event = 'landed' in outcome ? outcome.landed : undefined;
      if (event?.type !== 'tool_result') return;
      this.#landed(attempt, ledger.whole(event));
    });
  }

  /** Records the end of an attempt of this process, and the delay of a next attempt. */
  async #end(attempt: EffectAttempt, ending: Ending, durationMs: number): Promise<void> {
    const { recovery = 'report' } = this.#request.options;
    const delay = ending.effect === undefined ? undefined : this.#retryDelay(attempt, ending);
    if (ending.effect === 'unknown' && typeof recovery === 'function') {
      const found = await this.#probe(recovery, attempt, {
        ...ending,
        effect: 'none',
        retryAfterMs: delay,
      });
      // Without a finding the attempt stays open: the next run of the body asks the probe.
      if (found !== undefined) this.#note(attempt, found, durationMs);
    } else if (ending.effect === 'unknown' && recovery === 'report')
      this.#note(attempt, { ...ending, retryAfterMs: undefined }, durationMs);
    else this.#note(attempt, { ...ending, retryAfterMs: delay }, durationMs);
  }

  /** Milliseconds to the next attempt, if one may help. */
  #retryDelay(
    { attempt, key }: EffectAttempt,
    { result, effect, retryAfterMs }: Ending,
  ): number | undefined {
    const { retry: given, recovery } = this.#request.options;
    // A cancelled body that runs again, as after a reopening, may repeat an effect with 'rerun'.
    if (this.#ports.scope.aborted)
      return effect === 'unknown' && recovery === 'rerun' ? 0 : undefined;
    if (given === undefined) return undefined;
    const retry = resolveRetry(given);
    if (attempt >= retry.attempts) return undefined;
    const { status, errorType } = result;
    if (status === 'error_blocked' || (status === 'error_permanent' && errorType !== 'tool_error'))
      return undefined;
    // The jitter depends on the recorded key, so a replay waits as long as the recorded run.
    const draw = () => randomFromSeed(`${key}\n${attempt}\nretry`);
    return retryAfterMs ?? retryDelay(retry, attempt, draw);
  }

  /**
   * Returns the ending that a probe finds for an attempt. `undefined`: the run was released.
   * @throws the abort reason when the body is cancelled
   */
  async #probe(
    probe: EffectProbe,
    attempt: EffectAttempt,
    ifNot: Ending,
  ): Promise<Ending | undefined> {
    if (!this.#mayGoOn()) return undefined;
    const { first } = await this.#limited(attempt, this.#timeoutMs, probe);
    if (!this.#mayGoOn()) return undefined;
    if (first === undefined)
      return unknownEnding(
        effectNotKnown(`its probe did not finish within ${this.#timeoutMs} ms.`),
      );
    return probedEnding(first, ifNot, this.#ports.clock.now());
  }

  #limited(
    attempt: EffectAttempt,
    timeLeftMs: number,
    work: (ctx: EffectContext) => unknown,
  ): Promise<Limited> {
    const { key, callId } = this.#request;
    const limit = { key, callId, timeLeftMs, timeoutMs: this.#timeoutMs };
    return limitedWork(this.#ports, attempt, limit, work);
  }

  /**
   * Waits for a time in epoch milliseconds. Returns false when the run was released.
   * @throws the abort reason when the body is cancelled
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

  /** Records the result of an abandoned effect as late. It does not change how the effect ended. */
  #noteLate(attempt: EffectAttempt, ending: Ending, startedAt: number): void {
    const { ledger, clock } = this.#ports;
    if (ledger.failure !== undefined || ledger.lease.claim === undefined) return;
    this.#note(attempt, { ...ending, retryAfterMs: undefined }, clock.monotonic() - startedAt, {
      late: true,
    });
  }
}
