import { defined } from '../../../base/defined.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { isSuccess, type ToolEffect, type ToolResult } from '../../../ledger/tool-result.ts';
import type { Runnable } from '../../../session/runnable.ts';
import { toolResult } from '../../../tools/result.ts';
import type { Probe } from '../../../tools/tool.ts';
import { isReleased } from '../../released.ts';
import { ask, type Question } from '../../request/question.ts';
import { joinedWrites, noWrites, type Writes } from '../../writes.ts';
import { editedArgs } from '../refusal-draft.ts';
import { hadNoEffect, unknownOutcome } from '../result-texts.ts';
import { ownRetryDelay } from '../retry.ts';
import type { SupervisedResult } from '../supervisor.ts';
import type { Attempt } from './attempt.ts';
import { attemptResult } from './attempt-draft.ts';
import { probeAttempt } from './attempt-probe.ts';
import {
  attemptQuestion,
  effectRequest,
  failureRequest,
  operationRequest,
} from './attempt-requests.ts';
import { type Ending, endingWith } from './ending.ts';

/** Execution that can end its attempt with a result that came from elsewhere. */
interface Finishing {
  finishGiven(given: unknown): Promise<void>;
}

const noDrafts: readonly EventDraft[] = Object.freeze([]);
/** Notes and writes of a result that no supervisor has looked at. */
const unsupervised = Object.freeze({ notes: Object.freeze([]), writes: noWrites });

/**
 * Records how an attempt ended. That is a result, a handoff, the wait for an operation, or a
 * request that asks about its outcome.
 */
export class AttemptRecorder {
  readonly #attempt: Attempt;
  readonly #execution: Finishing;
  /** Health events of the tool, appended with the next record of the attempt. */
  #health: readonly EventDraft[] = noDrafts;

  constructor(attempt: Attempt, execution: Finishing) {
    this.#attempt = attempt;
    this.#execution = execution;
  }

  /**
   * Records the end of the attempt, or what has to happen before it can be settled.
   * @param ran true when the tool itself ended this way, not when another party reported the end
   */
  record(given: Ending, durationMs: number, ran: boolean): Promise<void> | undefined {
    const drift = given.effect === undefined ? this.#attempt.body?.findDrift() : undefined;
    const ending = drift === undefined ? given : endingWith(drift, 'unknown');
    const { supervisor } = this.#attempt.ports;
    if (ran && supervisor !== undefined)
      this.#health = supervisor.observe(this.#attempt, ending.result);
    if (ending.next !== undefined) this.#recordHandoff(ending.next, durationMs);
    else if (ending.operation !== undefined)
      this.#ask(
        attemptQuestion(this.#attempt, 'result', operationRequest(ending.operation)),
        this.#attempt.body?.takeWrites(),
      );
    else if (this.#needsRecovery(ending)) return this.#findOut(ending);
    else return this.#recordResult(ending, durationMs);
    return undefined;
  }

  /** Records that the attempt turned out to have no effect, so that it is made again. */
  retry(): void {
    const more = { settled: false, durationMs: 0, effect: 'none' as const, retryAfterMs: 0 };
    this.#append([attemptResult(this.#attempt, hadNoEffect(), more)]);
  }

  /**
   * Settles the call with an unknown outcome, or with the outcome known before a person was asked.
   */
  settle(result: ToolResult, effect: ToolEffect = 'unknown'): void {
    const more = { settled: true, durationMs: 0, effect };
    this.#append([attemptResult(this.#attempt, result, more)]);
  }

  /** True when a person or a probe must say what became of the attempt before it is settled. */
  #needsRecovery({ effect }: Ending): boolean {
    const { recovery } = this.#attempt.tool;
    // A cancelled run asks nobody: it ends.
    return (
      effect === 'unknown' &&
      (recovery === 'ask' || typeof recovery === 'function') &&
      !this.#attempt.ports.scope.aborted
    );
  }

  async #findOut({ result }: Ending): Promise<void> {
    const { recovery } = this.#attempt.tool;
    if (typeof recovery === 'function') return this.#probe(recovery, result);
    this.#ask(attemptQuestion(this.#attempt, 'recovery', effectRequest(this.#attempt, result)));
  }

  async #probe(probe: Probe, result: ToolResult): Promise<void> {
    const found = await probeAttempt(this.#attempt, probe);
    if (found === undefined) return;
    if (found.happened === true) return this.#execution.finishGiven(found.result ?? null);
    if (found.happened === false) return this.retry();
    // A result that says that its outcome is unknown says so once.
    const isTold = found.detail === undefined && result.status === 'unknown';
    this.settle(isTold ? result : unknownOutcome(found.detail ?? String(result.content)));
  }

  /** Appends a request about the attempt, after these writes and the health of the tool. */
  #ask(question: Question, { drafts, extras }: Writes = noWrites): void {
    const health = this.#health;
    this.#health = noDrafts;
    ask(this.#attempt.ports.ledger, question, [...drafts, ...health], extras);
  }

  #recordResult(ending: Ending, durationMs: number): Promise<void> | undefined {
    const { state, tool, args, attempt, guidance, ports } = this.#attempt;
    const { supervisor, scope, ledger } = ports;
    const { result, effect, retryAfterMs } = ending;
    if (supervisor === undefined) {
      const supervised = { ...unsupervised, result, ...this.#ownRetry(ending) };
      this.#write(ending, durationMs, supervised);
      return undefined;
    }
    // Supervision also looks at a result that arrives after a stop, because prompts will show it.
    // In a cancelled run nothing follows from it.
    const isLast = scope.aborted && !isReleased(ports);
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
    const { state, tool, body, ports } = this.#attempt;
    const { result, notes, writes, retryAfterMs, fallback, asks } = supervised;
    if (asks === true) {
      const request = failureRequest(this.#attempt, result);
      this.#ask(attemptQuestion(this.#attempt, 'recovery', request), writes);
      return;
    }
    const settled = retryAfterMs === undefined;
    // The `recovery` of the tool answers an unknown effect, whatever its cause. With 'report' the
    // result says that it is unknown, and the call is not repeated.
    const isOpen =
      settled &&
      effect === 'unknown' &&
      tool.recovery === 'report' &&
      !isSuccess(result) &&
      result.status !== 'unknown';
    const told = isOpen ? unknownOutcome(String(result.content)) : result;
    const draft = attemptResult(this.#attempt, body?.withConflict(told) ?? told, {
      settled,
      durationMs,
      effect,
      retryAfterMs,
      editedArgs: editedArgs(state, ports.ledger.resolve),
      notes: settled ? notes : undefined,
      fallback,
    });
    this.#append([draft], settled ? body?.takeWrites() : undefined, writes);
  }

  /**
   * Appends everything that belongs together at once: state that the tool wrote, decisions, and the
   * result.
   */
  #append(drafts: readonly EventDraft[], ...writes: readonly (Writes | undefined)[]): void {
    const health = this.#health;
    this.#health = noDrafts;
    const { drafts: before, extras } = joinedWrites(writes);
    this.#attempt.ports.ledger.append(
      before.length === 0 && health.length === 0 ? drafts : [...before, ...health, ...drafts],
      extras,
    );
  }

  #recordHandoff(target: Runnable, durationMs: number): void {
    const { state, guidance, ports, tool } = this.#attempt;
    const decided = ports.planHandoff(target, tool.handoff?.back === true);
    const written = this.#attempt.body?.takeWrites();
    if ('refused' in decided) {
      // The tool ran before the handoff was refused: the result cannot claim that nothing happened.
      const result = toolResult.blocked(decided.refused, { errorType: 'handoff_refused' });
      const more = { settled: true, durationMs };
      this.#append([attemptResult(this.#attempt, result, more)], written);
      return;
    }
    const result = toolResult.success(`The conversation is handed over to ${target.name}.`);
    const { next } = decided;
    const editing = editedArgs(state, ports.ledger.resolve);
    const more = { settled: true, durationMs, next, editedArgs: editing, notes: guidance };
    this.#append([...decided.drafts, attemptResult(this.#attempt, result, more)], written);
  }

  /** Returns the delay of another attempt, if the tool asks for one. */
  #ownRetry({ result, effect, retryAfterMs }: Ending): { readonly retryAfterMs?: number } {
    if (this.#attempt.ports.scope.aborted) return {};
    const delay = ownRetryDelay(this.#attempt, { result, effect, retryAfterMs });
    return defined({ retryAfterMs: delay });
  }
}
