import { toErrorRecord } from '../../base/error.ts';
import type { EventDraft, RequestDetails } from '../../ledger/event.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import { isSuccess, type ToolEffect, type ToolResult } from '../../ledger/tool-result.ts';
import type { CallState } from '../../loop/call-state.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { PendingOperation } from '../../tools/request-options.ts';
import { toolResult } from '../../tools/result.ts';
import type { Probe, ProbeResult } from '../../tools/tool.ts';
import { isReleased } from '../released.ts';
import { requestFingerprint } from '../request/fingerprint.ts';
import { ask, callSummary } from '../request/question.ts';
import { resultDraft } from '../result-draft.ts';
import { untilAborted } from '../until-aborted.ts';
import { joinedWrites, type Writes } from '../writes.ts';
import type { Ending } from './ending.ts';
import type { ToolAttempt, ToolBody, ToolCallPorts } from './ports.ts';
import { editedArgs } from './refusal-draft.ts';
import { hadNoEffect, unknownOutcome } from './result-texts.ts';
import { ownRetryDelay } from './retry.ts';
import type { SupervisedResult } from './supervisor.ts';

/** Attempt whose end is recorded. */
interface RecordedAttempt extends ToolAttempt {
  readonly state: CallState;
  readonly ports: ToolCallPorts;
  readonly body: ToolBody | undefined;
  /** Notes for the model from the checks before the attempt. */
  readonly guidance: readonly string[];
  /** Ends the attempt with a result that came from elsewhere. */
  finishGiven(given: unknown): Promise<void>;
}

const noDrafts: readonly EventDraft[] = Object.freeze([]);
/** Notes and writes of a result that no supervisor has looked at. */
const plain = Object.freeze({
  notes: Object.freeze([]),
  writes: Object.freeze({ drafts: noDrafts, extras: undefined }),
});

/**
 * Records how an attempt ended. That is a result, a handoff, the wait for an operation, or a
 * request that asks about its outcome.
 */
export class AttemptRecorder {
  readonly #of: RecordedAttempt;
  /** Health events of the tool, appended with the next record of the attempt. */
  #heard: readonly EventDraft[] = noDrafts;

  constructor(attempt: RecordedAttempt) {
    this.#of = attempt;
  }

  /**
   * Records the end of the attempt, or what has to happen before it can be settled.
   * @param ran true when the tool itself ended this way, not when another party reported the end
   */
  record(given: Ending, durationMs: number, ran: boolean): Promise<void> | undefined {
    const drift = given.effect === undefined ? this.#of.body?.findDrift() : undefined;
    const ending: Ending =
      drift === undefined
        ? given
        : { result: drift, effect: 'unknown', retryAfterMs: undefined, next: undefined };
    const { supervisor } = this.#of.ports;
    if (ran && supervisor !== undefined) this.#heard = supervisor.observe(this.#of, ending.result);
    if (ending.next !== undefined) this.#recordHandOver(ending.next, durationMs);
    else if (ending.operation !== undefined) this.#awaitOperation(ending.operation);
    else if (this.#needsRecovery(ending)) return this.#findOut(ending);
    else return this.#recordResult(ending, durationMs);
    return undefined;
  }

  /** Records that the attempt turned out to have no effect, so that it is made again. */
  retry(): void {
    const more = { settled: false, durationMs: 0, effect: 'none' as const, retryAfterMs: 0 };
    this.#append([
      resultDraft(this.#of.call, this.#of.ports.path, this.#of.attempt, hadNoEffect(), more),
    ]);
  }

  /**
   * Settles the call with an unknown outcome, or with the outcome known before a person was asked.
   */
  settle(result: ToolResult, effect: ToolEffect = 'unknown'): void {
    this.#append([
      resultDraft(this.#of.call, this.#of.ports.path, this.#of.attempt, result, {
        settled: true,
        durationMs: 0,
        effect,
      }),
    ]);
  }

  /** True when a person or a probe must say what became of the attempt before it is settled. */
  #needsRecovery({ effect }: Ending): boolean {
    const { recovery } = this.#of.tool;
    // A cancelled run asks nobody: it ends.
    return (
      effect === 'unknown' &&
      (recovery === 'ask' || typeof recovery === 'function') &&
      !this.#of.ports.scope.aborted
    );
  }

  async #findOut(ending: Ending): Promise<void> {
    const { recovery } = this.#of.tool;
    if (typeof recovery !== 'function') return this.#askWhatBecame(ending);
    const probing = probe(recovery, {
      args: this.#of.args,
      callId: this.#of.call.callId,
      toolName: this.#of.tool.name,
      attempt: this.#of.attempt,
      idempotencyKey: this.#attemptKey(),
      signal: this.#of.ports.scope.signal,
    });
    const ended = await untilAborted(probing, this.#of.ports);
    // An unfinished probe leaves the attempt open: a later cancel settles it as unknown.
    if (ended === undefined || isReleased(this.#of.ports)) return;
    const found = ended.value;
    if (found.happened === true) return this.#of.finishGiven(found.result ?? null);
    if (found.happened === false) return this.retry();
    this.settle(unknownOutcome(found.detail ?? String(ending.result.content)));
  }

  /** Idempotency key under which this attempt was made. The next attempt may have another one. */
  #attemptKey(): string {
    return (
      this.#of.state.attempts.find(({ attempt }) => attempt === this.#of.attempt)?.key ??
      this.#of.key
    );
  }

  #awaitOperation({ options }: PendingOperation): void {
    const { operationId, summary, details, expiresIn, onExpire } = options;
    const { drafts = [], extras } = this.#of.body?.takeWrites() ?? {};
    const request = {
      summary: summary ?? `the result of ${operationId}`,
      options: ['answer', 'reject'] as const,
      operationId,
      ...(details === undefined ? {} : { details }),
      ...(expiresIn === undefined ? {} : { expiresIn }),
      ...(onExpire === undefined ? {} : { onExpire }),
    };
    this.#askAboutAttempt('result', request, drafts, extras);
  }

  /** Asks a person what follows a known failure that nothing else can repair. */
  #askWhatFollows({ content, status, errorType }: ToolResult, writes: Writes): void {
    const { drafts, extras } = writes;
    const known = {
      known: content,
      status,
      ...(errorType === undefined ? {} : { errorType }),
      escalated: true,
    };
    const summary =
      `${callSummary(this.#of.tool.name, this.#of.args)} failed. Was it done in another way, ` +
      'is it to be tried again, or is the failure reported?';
    this.#askAboutAttempt(
      'recovery',
      { summary, options: ['succeeded', 'retry', 'report'], details: known },
      drafts,
      extras,
    );
  }

  #askWhatBecame({ result }: Ending): void {
    this.#askAboutAttempt('recovery', {
      summary: `Did ${callSummary(this.#of.tool.name, this.#of.args)} take effect?`,
      options: ['succeeded', 'retry', 'report'],
      details: { known: result.content, status: result.status },
    });
  }

  #askAboutAttempt(
    kind: 'result' | 'recovery',
    request: Pick<
      RequestDetails,
      'summary' | 'options' | 'operationId' | 'details' | 'expiresIn' | 'onExpire'
    >,
    before: readonly EventDraft[] = [],
    extras?: BatchExtras,
  ): void {
    const { ledger, clock, path } = this.#of.ports;
    const heard = this.#heard;
    this.#heard = noDrafts;
    const { expiresIn } = request;
    const question = {
      kind,
      path,
      callId: this.#of.call.callId,
      name: this.#of.tool.name,
      args: this.#of.args,
      generation: this.#of.state.generation + 1,
      fingerprint: requestFingerprint(this.#of.tool, this.#of.args),
      request: { agent: this.#of.call.agent, ...request },
      attempt: this.#of.attempt,
      expiresAt: expiresIn === undefined ? undefined : clock.now() + expiresIn,
    };
    ask(ledger, question, [...before, ...heard], extras);
  }

  #recordResult(ending: Ending, durationMs: number): Promise<void> | undefined {
    const { supervisor, scope, ledger } = this.#of.ports;
    if (supervisor === undefined) {
      this.#write(ending, durationMs, {
        ...plain,
        result: ending.result,
        ...this.#ownRetry(ending),
      });
      return undefined;
    }
    const { state, tool, args, attempt, guidance } = this.#of;
    const { result, effect, retryAfterMs } = ending;
    // Supervision also looks at a result that arrives after a stop, because prompts will show it.
    // In a cancelled run nothing follows from it.
    const isLast = scope.aborted && !isReleased(this.#of.ports);
    const supervised = supervisor.ended({
      state,
      tool,
      args,
      attempt,
      result,
      effect,
      retryAfterMs,
      guidance,
      isLast,
    });
    if (!(supervised instanceof Promise)) return void this.#write(ending, durationMs, supervised);
    return supervised.then((outcome) =>
      ledger.failure === undefined ? this.#write(ending, durationMs, outcome) : undefined,
    );
  }

  #write({ effect }: Ending, durationMs: number, supervised: SupervisedResult): void {
    const { ledger, path } = this.#of.ports;
    const { result, notes, writes, retryAfterMs, fallback, asks } = supervised;
    if (asks === true) {
      this.#askWhatFollows(result, writes);
      return;
    }
    const settled = retryAfterMs === undefined;
    // The `recovery` of the tool answers an unknown effect, whatever its cause. With 'report' the
    // result says that it is unknown, and the call is not repeated.
    const isOpen =
      settled &&
      effect === 'unknown' &&
      this.#of.tool.recovery === 'report' &&
      !isSuccess(result) &&
      result.status !== 'unknown';
    const told = isOpen ? unknownOutcome(String(result.content)) : result;
    const draft = resultDraft(
      this.#of.call,
      path,
      this.#of.attempt,
      this.#of.body?.withConflict(told) ?? told,
      {
        settled,
        durationMs,
        effect,
        retryAfterMs,
        editedArgs: editedArgs(this.#of.state, ledger.resolve),
        notes: settled ? notes : undefined,
        fallback,
      },
    );
    this.#append([draft], settled ? this.#of.body?.takeWrites() : undefined, writes);
  }

  /**
   * Appends everything that belongs together at once: state that the tool wrote, decisions, and the
   * result.
   */
  #append(drafts: readonly EventDraft[], ...writes: readonly (Writes | undefined)[]): void {
    const heard = this.#heard;
    this.#heard = noDrafts;
    const { drafts: before, extras } = joinedWrites(writes);
    this.#of.ports.ledger.append(
      before.length === 0 && heard.length === 0 ? drafts : [...before, ...heard, ...drafts],
      extras,
    );
  }

  #recordHandOver(target: Runnable, durationMs: number): void {
    const { ledger, path } = this.#of.ports;
    const decided = this.#of.ports.handOver(target);
    const written = this.#of.body?.takeWrites();
    if ('refused' in decided) {
      // The tool ran before the handoff was refused: the result cannot claim that nothing happened.
      const result = toolResult.blocked(decided.refused, { errorType: 'handoff_refused' });
      this.#append(
        [resultDraft(this.#of.call, path, this.#of.attempt, result, { settled: true, durationMs })],
        written,
      );
      return;
    }
    const result = toolResult.success(`The conversation is handed over to ${target.name}.`);
    const { next } = decided;
    const editing = editedArgs(this.#of.state, ledger.resolve);
    const more = { settled: true, durationMs, next, editedArgs: editing, notes: this.#of.guidance };
    this.#append(
      [...decided.drafts, resultDraft(this.#of.call, path, this.#of.attempt, result, more)],
      written,
    );
  }

  /** Returns the delay of another attempt, if the tool asks for one. */
  #ownRetry({ result, effect, retryAfterMs }: Ending): { readonly retryAfterMs?: number } {
    if (this.#of.ports.scope.aborted) return {};
    const delay = ownRetryDelay(this.#of, { result, effect, retryAfterMs });
    return delay === undefined ? {} : { retryAfterMs: delay };
  }
}

/** Runs a probe. A probe that fails has found out nothing. */
async function probe(ask: Probe, ctx: Parameters<Probe>[0]): Promise<ProbeResult> {
  try {
    return await ask(ctx);
  } catch (thrown) {
    return {
      happened: 'unknown',
      detail: `it could not be found out (${toErrorRecord(thrown).message})`,
    };
  }
}
