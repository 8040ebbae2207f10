import { PendingOperation } from '../../../tools/request-options.ts';
import { isToolResult, toolResult } from '../../../tools/result.ts';
import type { FinalizeContext } from '../../../tools/tool.ts';
import { validateOutput } from '../../../tools/validate.ts';
import type { Attempt } from './attempt.ts';
import { AttemptRecorder } from './attempt-recorder.ts';
import {
  abandonedEnding,
  classifiedEnding,
  type Ending,
  isHandoff,
  returnedEnding,
  thrownEnding,
} from './ending.ts';
import { recordLateResult } from './late-result.ts';

/** Execution of the tool in one attempt, up to the record of its end. */
export class Execution {
  /** Records the end of the attempt where the tool itself has no part in it. */
  readonly recorder: AttemptRecorder;
  readonly #attempt: Attempt;
  /** Monotonic time in milliseconds at which the tool began. */
  #begunAt = 0;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
    this.recorder = new AttemptRecorder(attempt, this);
  }

  /** Begins the time that is recorded as the duration of the attempt. */
  begin(): void {
    this.#begunAt = this.#attempt.ports.clock.monotonic();
  }

  /** Runs the tool, and records how it ended. */
  async execute(context: FinalizeContext): Promise<void> {
    let ending: Ending | undefined;
    try {
      const { finalize, outputSchema, execute } = this.#attempt.tool;
      const executing =
        finalize === undefined && outputSchema === undefined
          ? execute(context)
          : this.#executeAndFinish(context);
      // A synchronous tool runs without a promise, because promises would be most of a round's
      // cost.
      ending = isThenable(executing)
        ? await this.#endOf(Promise.resolve(executing))
        : returnedEnding(this.#attempt, executing);
    } catch (thrown) {
      ending = thrownEnding(this.#attempt, thrown);
    }
    if (ending !== undefined) await this.#close(ending);
  }

  /** Ends the attempt with a result that came from elsewhere. */
  async finishGiven(given: unknown): Promise<void> {
    const attempt = this.#attempt;
    attempt.stage = 'finish';
    let ending: Ending;
    try {
      const { finalize, outputSchema } = attempt.tool;
      const plain = isToolResult(given) || (finalize === undefined && outputSchema === undefined);
      const returned = plain ? given : await this.#finish(given, attempt.context());
      ending = returnedEnding(attempt, returned);
    } catch (thrown) {
      ending = classifiedEnding(attempt, thrown);
    }
    await this.record(ending);
  }

  /**
   * Records the end of the attempt.
   * @param ran true when the tool itself ended this way
   */
  record(ending: Ending, ran = false): Promise<void> | undefined {
    const { body, ports } = this.#attempt;
    body?.close();
    if (ports.ledger.failure !== undefined) return undefined;
    return this.recorder.record(ending, ports.clock.monotonic() - this.#begunAt, ran);
  }

  async #executeAndFinish(context: FinalizeContext): Promise<unknown> {
    const returned = await this.#attempt.tool.execute(context);
    // A handoff, result or operation states its own outcome: it is neither checked nor finalized.
    if (isHandoff(returned) || isToolResult(returned) || returned instanceof PendingOperation)
      return returned;
    this.#attempt.stage = 'finish';
    return this.#finish(returned, context);
  }

  async #finish(returned: unknown, context: FinalizeContext): Promise<unknown> {
    const { finalize } = this.#attempt.tool;
    const checked = await this.#checkOutput(returned);
    if (finalize === undefined || isToolResult(checked)) return checked;
    this.#attempt.result = checked;
    return finalize(context);
  }

  async #checkOutput(returned: unknown): Promise<unknown> {
    const { tool } = this.#attempt;
    if (tool.outputSchema === undefined) return returned;
    const validated = await validateOutput(tool, returned);
    return validated.ok
      ? validated.output
      : toolResult.permanent(validated.message, { errorType: 'validation_error' });
  }

  /** Returns how a tool ended or was abandoned. `undefined`: the run was released meanwhile. */
  async #endOf(executing: Promise<unknown>): Promise<Ending | undefined> {
    const attempt = this.#attempt;
    try {
      const first = await attempt.untilAborted(executing);
      if (first !== undefined) return returnedEnding(attempt, first.value);
    } catch (thrown) {
      return attempt.isReleased() ? undefined : thrownEnding(attempt, thrown);
    }
    if (attempt.scope.aborted) recordLateResult(attempt, executing, this.#begunAt);
    else executing.catch(() => undefined);
    // A child that released the run leaves the call open, without an abort.
    return attempt.scope.aborted && !attempt.isReleased() ? abandonedEnding(attempt) : undefined;
  }

  /** Records the ending, once the children that the tool did not await have ended. */
  #close(ending: Ending): Promise<void> | undefined {
    const { body } = this.#attempt;
    const failed = ending.effect !== undefined;
    if (failed) body?.close();
    const children = body?.endChildren(failed);
    if (children === undefined) return this.record(ending, true);
    return children.then(() =>
      this.#attempt.isReleased() ? undefined : this.record(ending, true),
    );
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
  } catch {
    return false;
  }
}
