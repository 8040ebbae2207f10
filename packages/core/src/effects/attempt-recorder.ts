import { toErrorRecord } from '../base/error.ts';
import type { EventDraft, RequestDetails } from '../ledger/event.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import type { Runnable } from '../ledger/runnable.ts';
import type { ToolEffect, ToolResult } from '../ledger/tool-result.ts';
import type { CallState } from '../loop/position.ts';
import type { PendingOperation } from '../tools/request-options.ts';
import { toolResult } from '../tools/result.ts';
import type { Probe, ProbeResult } from '../tools/tool.ts';
import { isGivenBack, type ToolAttempt, type ToolBody, type ToolCallPorts } from './tool-ports.ts';
import { ask, callSummary, requestFingerprint } from './tool-request.ts';
import { editedArgs, resultDraft } from './tool-result-draft.ts';
import { hadNoEffect, unknownOutcome } from './tool-result-texts.ts';
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
  /** Ends the attempt with a result that came from elsewhere. */
  finishGiven(given: unknown): Promise<void>;
}

/** Writes down how an attempt ended: its result, a hand-over, the wait for an operation, or the question what became of it. */
export class AttemptRecorder {
  readonly #of: RecordedAttempt;

  constructor(attempt: RecordedAttempt) {
    this.#of = attempt;
  }

  record(given: Ending, durationMs: number): Promise<void> | undefined {
    const drift = given.effect === undefined ? this.#of.body?.findDrift() : undefined;
    const ending: Ending = drift === undefined ? given : { result: drift, effect: 'unknown', retryAfterMs: undefined, next: undefined };
    if (ending.next !== undefined) this.#recordHandOver(ending.next, durationMs);
    else if (ending.operation !== undefined) this.#awaitOperation(ending.operation);
    else if (this.#needsRecovery(ending)) return this.#findOut(ending);
    else this.#recordResult(ending, durationMs);
    return undefined;
  }

  /** Somebody found out that the attempt had no effect: it is made again. */
  retry(): void {
    const { ledger, path } = this.#of.ports;
    ledger.append([
      resultDraft(this.#of.call, path, this.#of.attempt, hadNoEffect(), { settled: false, durationMs: 0, effect: 'none', retryAfterMs: 0 }),
    ]);
  }

  /** Settles the call with an outcome that nobody knows. */
  settle(result: ToolResult): void {
    const { ledger, path } = this.#of.ports;
    ledger.append([resultDraft(this.#of.call, path, this.#of.attempt, result, { settled: true, durationMs: 0, effect: 'unknown' })]);
  }

  /** Whether somebody or something is to say what became of the attempt before it is settled. */
  #needsRecovery({ effect }: Ending): boolean {
    const { recovery } = this.#of.tool;
    // A cancelled run asks nobody: it ends.
    return effect === 'unknown' && (recovery === 'ask' || typeof recovery === 'function') && !this.#of.ports.scope.aborted;
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
    return this.#of.state.attempts.find(({ attempt }) => attempt === this.#of.attempt)?.key ?? this.#of.key;
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

  #askWhatBecame({ result }: Ending): void {
    this.#askAboutAttempt('recovery', {
      summary: `Did ${callSummary(this.#of.tool.name, this.#of.args)} take effect?`,
      options: ['succeeded', 'retry', 'report'],
      details: { known: result.content, status: result.status },
    });
  }

  #askAboutAttempt(
    kind: 'result' | 'recovery',
    request: Pick<RequestDetails, 'summary' | 'options' | 'operationId' | 'details' | 'expiresIn' | 'onExpire'>,
    before: readonly EventDraft[] = [],
    extras?: BatchExtras,
  ): void {
    const { ledger, clock, path } = this.#of.ports;
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
    ask(ledger, question, before, extras);
  }

  #recordResult(ending: Ending, durationMs: number): void {
    const { ledger, path } = this.#of.ports;
    const { effect, result } = ending;
    const retryAfterMs = this.#retryDelay(ending);
    const settled = retryAfterMs === undefined;
    // An effect that nobody knows of is answered by the tool's recovery, whatever the cause: 'report' says so and does not repeat it.
    const told =
      settled && effect === 'unknown' && this.#of.tool.recovery === 'report' && result.status !== 'unknown'
        ? unknownOutcome(String(result.content))
        : result;
    const draft = resultDraft(this.#of.call, path, this.#of.attempt, this.#of.body?.withConflict(told) ?? told, {
      settled,
      durationMs,
      effect,
      retryAfterMs,
      editedArgs: editedArgs(this.#of.state, ledger.resolve),
    });
    const written = settled ? this.#of.body?.takeWrites() : undefined;
    ledger.append(written === undefined || written.drafts.length === 0 ? [draft] : [...written.drafts, draft], written?.extras);
  }

  #recordHandOver(target: Runnable, durationMs: number): void {
    const { ledger, path } = this.#of.ports;
    const decided = this.#of.ports.handOver(target);
    const { drafts = [], extras } = this.#of.body?.takeWrites() ?? {};
    if ('refused' in decided) {
      // The tool ran before it was refused: that nothing happened cannot be said.
      const result = toolResult.blocked(decided.refused, { errorType: 'handoff_refused' });
      ledger.append([...drafts, resultDraft(this.#of.call, path, this.#of.attempt, result, { settled: true, durationMs })], extras);
      return;
    }
    const result = toolResult.success(`The conversation is handed over to ${target.name}.`);
    const { next } = decided;
    ledger.append(
      [
        ...drafts,
        ...decided.drafts,
        resultDraft(this.#of.call, path, this.#of.attempt, result, {
          settled: true,
          durationMs,
          next,
          editedArgs: editedArgs(this.#of.state, ledger.resolve),
        }),
      ],
      extras,
    );
  }

  /** Milliseconds to the next attempt, if the tool asks for one and a repetition cannot double an effect. */
  #retryDelay({ result, effect, retryAfterMs }: Ending): number | undefined {
    const { retry, recovery } = this.#of.tool;
    if (effect === undefined || this.#of.attempt >= retry.maxAttempts || this.#of.ports.scope.aborted) return undefined;
    if (effect === 'unknown' && recovery !== 'rerun') return undefined;
    const mayPass =
      result.status === 'error_transient' || result.status === 'timeout' || result.status === 'unknown' || result.errorType === 'tool_error';
    if (!mayPass) return undefined;
    return retryAfterMs ?? retry.initialDelayMs * retry.backoffMultiplier ** (this.#of.attempt - 1);
  }
}

/** A probe that fails has not found anything out. */
async function probe(ask: Probe, ctx: Parameters<Probe>[0]): Promise<ProbeResult> {
  try {
    return await ask(ctx);
  } catch (thrown) {
    return { happened: 'unknown', detail: `it could not be found out (${toErrorRecord(thrown).message})` };
  }
}
