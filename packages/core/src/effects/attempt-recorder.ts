import { toErrorRecord } from '../base/error.ts';
import { longestWaitMs } from '../base/longest-wait.ts';
import type { EventDraft, RequestDetails } from '../ledger/event.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import { isSuccess, type ToolEffect, type ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/call-state.ts';
import type { Runnable } from '../session/runnable.ts';
import type { PendingOperation } from '../tools/request-options.ts';
import { toolResult } from '../tools/result.ts';
import type { Probe, ProbeResult, Tool } from '../tools/tool.ts';
import {
  attemptsOf,
  isGivenBack,
  type SupervisedResult,
  type ToolAttempt,
  type ToolBody,
  type ToolCallPorts,
  type Writes,
} from './tool-ports.ts';
import { ask, callSummary, requestFingerprint } from './tool-request.ts';
import { editedArgs, resultDraft } from './tool-result-draft.ts';
import { hadNoEffect, unknownOutcome } from './tool-result-texts.ts';
import { joinedWrites } from './tool-writes.ts';
import { untilAborted } from './until-aborted.ts';

/** How an attempt ended. */
export interface Ending {
  readonly result: ToolResult;
  /** Missing when the tool did its work, also when something failed afterwards. */
  readonly effect: ToolEffect | undefined;
  readonly retryAfterMs: number | undefined;
  readonly next: Runnable | undefined;
  /** What the result is awaited of. */
  readonly operation?: PendingOperation;
}

/** The attempt that is recorded. */
interface RecordedAttempt extends ToolAttempt {
  readonly state: CallState;
  readonly ports: ToolCallPorts;
  readonly body: ToolBody | undefined;
  /** What the checks before it have told the model. */
  readonly guidance: readonly string[];
  /** Ends the attempt with a result that came from elsewhere. */
  finishGiven(given: unknown): Promise<void>;
}

const noDrafts: readonly EventDraft[] = Object.freeze([]);
/** Where nothing watches. */
const plain = Object.freeze({
  notes: Object.freeze([]),
  writes: Object.freeze({ drafts: noDrafts, extras: undefined }),
});

/**
 * Writes down how an attempt ended: its result, a hand-over, the wait for an operation, or the
 * question what became of it.
 */
export class AttemptRecorder {
  readonly #of: RecordedAttempt;
  /** What is to be recorded of whether the tool works, with whatever is recorded next. */
  #heard: readonly EventDraft[] = noDrafts;

  constructor(attempt: RecordedAttempt) {
    this.#of = attempt;
  }

  /**
   * @param ran whether the tool itself came to this end, and not somebody elsewhere who says how it
   * ended
   */
  record(given: Ending, durationMs: number, ran: boolean): Promise<void> | undefined {
    const drift = given.effect === undefined ? this.#of.body?.findDrift() : undefined;
    const ending: Ending =
      drift === undefined
        ? given
        : { result: drift, effect: 'unknown', retryAfterMs: undefined, next: undefined };
    const { supervisor } = this.#of.ports;
    if (ran && supervisor !== undefined) this.#heard = supervisor.heed(this.#of, ending.result);
    if (ending.next !== undefined) this.#recordHandOver(ending.next, durationMs);
    else if (ending.operation !== undefined) this.#awaitOperation(ending.operation);
    else if (this.#needsRecovery(ending)) return this.#findOut(ending);
    else return this.#recordResult(ending, durationMs);
    return undefined;
  }

  /** Somebody found out that the attempt had no effect: it is made again. */
  retry(): void {
    const more = { settled: false, durationMs: 0, effect: 'none' as const, retryAfterMs: 0 };
    this.#append([
      resultDraft(this.#of.call, this.#of.ports.path, this.#of.attempt, hadNoEffect(), more),
    ]);
  }

  /**
   * Settles the call with an outcome that nobody knows, or that was known before somebody was
   * asked.
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

  /** Whether somebody or something is to say what became of the attempt before it is settled. */
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
    // What was not found out in time stays open: whoever cancels settles it as unknown.
    if (ended === undefined || isGivenBack(this.#of.ports)) return;
    const found = ended.value;
    if (found.happened === true) return this.#of.finishGiven(found.result ?? null);
    if (found.happened === false) return this.retry();
    this.settle(unknownOutcome(found.detail ?? String(ending.result.content)));
  }

  /** The key that the attempt in question was made under, which may not be that of the next one. */
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

  /** The failure is known, and nothing is left to be done about it but what a person says. */
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
    // What still comes after a stop is looked at like everything that prompts will show; in a
    // cancelled run nothing follows from it.
    const isLast = scope.aborted && !isGivenBack(this.#of.ports);
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
    // An effect that nobody knows of is answered by the tool's recovery, whatever the cause:
    // 'report' says so and does not repeat it.
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
   * Everything that belongs together in one append: state that the tool wrote, what was decided,
   * and the result.
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
      // The tool ran before it was refused: that nothing happened cannot be said.
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

  /** Another attempt, if the tool asks for one. */
  #ownRetry({ result, effect, retryAfterMs }: Ending): { readonly retryAfterMs?: number } {
    if (this.#of.ports.scope.aborted) return {};
    const delay = ownRetryDelay(this.#of, { result, effect, retryAfterMs });
    return delay === undefined ? {} : { retryAfterMs: delay };
  }
}

/**
 * Milliseconds to the next attempt, if the tool asks for one itself and a repetition cannot double
 * an effect.
 */
export function ownRetryDelay(
  {
    state,
    tool,
    attempt,
  }: { readonly state: CallState; readonly tool: Tool; readonly attempt: number },
  { result, effect, retryAfterMs }: Pick<Ending, 'result' | 'effect' | 'retryAfterMs'>,
): number | undefined {
  const { retry, recovery } = tool;
  // A tool that stands in for another one begins to count with its own first attempt.
  const made = state.fallback === undefined ? attempt : attemptsOf(state).length;
  if (retry === undefined || effect === undefined || made >= retry.maxAttempts) return undefined;
  if (effect === 'unknown' && recovery !== 'rerun') return undefined;
  const mayPass =
    result.status === 'error_transient' ||
    result.status === 'timeout' ||
    result.status === 'unknown' ||
    result.errorType === 'tool_error';
  if (!mayPass) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs > longestWaitMs ? undefined : retryAfterMs;
  return retry.initialDelayMs * retry.backoffMultiplier ** (made - 1);
}

/** A probe that fails has not found anything out. */
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
