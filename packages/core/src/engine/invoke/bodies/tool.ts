import { AbortReason } from '../../../base/cancel-scope.ts';
import { isAdjutantError } from '../../../base/error.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { ToolAttempt, ToolBody } from '../../../effects/tool-call/ports.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import { StateOrderError } from '../../../ledger/errors.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { hasOutcome } from '../../../ledger/folds/invocation-fold.ts';
import type { BatchExtras } from '../../../ledger/ledger-writer.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import { toolResult } from '../../../tools/result.ts';
import type { FinalizeContext } from '../../../tools/tool.ts';
import { Body, type BodyPlace } from '../context/body-context.ts';

const noWrites = Object.freeze({ drafts: [], extras: undefined });

/** Context of one attempt of a tool call. */
export class ToolBodyContext extends Body implements FinalizeContext, ToolBody {
  readonly #attempt: ToolAttempt;
  #conflict: JsonObject | undefined;

  constructor(attempt: ToolAttempt, place: BodyPlace) {
    super(place);
    this.#attempt = attempt;
  }

  get context(): FinalizeContext {
    return this;
  }

  get args(): unknown {
    return this.#attempt.args;
  }

  get input(): unknown {
    return this.#attempt.input;
  }

  get result(): unknown {
    return this.#attempt.result;
  }

  get callId(): string {
    return this.#attempt.call.callId;
  }

  get toolName(): string {
    return this.#attempt.tool.name;
  }

  get agent(): string {
    return this.#attempt.call.agent;
  }

  get attempt(): number {
    return this.#attempt.attempt;
  }

  get idempotencyKey(): string {
    return this.#attempt.key;
  }

  get epoch(): number {
    return this.place.run.ledger.lease.epoch;
  }

  get deadline(): number {
    return this.#attempt.deadline;
  }

  progress(data: JsonValue): void {
    this.assertOpen('progress');
    this.place.run.emit?.({
      type: 'tool_progress',
      invocationId: this.invocationId,
      callId: this.callId,
      name: this.toolName,
      data,
    });
  }

  endChildren(stop: boolean): Promise<void> | undefined {
    if (stop)
      return this.stopChildren(
        new AbortReason('cancelled', `The call of ${this.toolName} failed.`),
      );
    const ended = this.childrenEnded();
    return ended === undefined && !this.hasUnconfirmed ? undefined : this.#settleChildren(ended);
  }

  /**
   * Waits for the children and the writes. A refused write does not change the result of the tool,
   * which has run: it is kept as a conflict.
   */
  async #settleChildren(ended: Promise<void> | undefined): Promise<void> {
    await ended;
    try {
      await this.landed();
    } catch (error) {
      if (!isAdjutantError(error, 'state_conflict')) throw error;
      this.#conflict = error.data;
    }
  }

  withConflict(result: ToolResult): ToolResult {
    return this.#conflict === undefined
      ? result
      : { ...result, metadata: { ...result.metadata, stateConflict: this.#conflict } };
  }

  findDrift(): ToolResult | undefined {
    const { run, path, childRoot } = this.place;
    const { invocations } = run.ledger;
    const open = invocations.byPath.get(path)?.children.filter((child) => {
      const isCall =
        child.startsWith(`${childRoot}/`) && invocations.byPath.get(child)?.mode === 'call';
      return isCall && !this.asked.has(child) && !hasOutcome(invocations, child);
    });
    // A settled effect does not matter to the call any more, and neither does an ended child.
    const effects = this.forgottenEffects(({ settled }) => settled === undefined);
    const drift = this.#drift('child', open ?? []) ?? this.#drift('effect', effects);
    const [left] = drift === undefined && this.hasWrites ? this.writes.leftOver() : [];
    if (left !== undefined)
      throw new StateOrderError({ path: childRoot, ...left, reason: 'left_over' });
    return drift;
  }

  #drift(what: 'child' | 'effect', open: readonly string[]): ToolResult | undefined {
    if (open.length === 0) return undefined;
    const { run, path } = this.place;
    run.ledger.append([
      decision('invoke', `fail_orphaned_${what}`, {
        invocationId: path,
        reasoning:
          `The ledger has open ${what === 'child' ? 'children' : 'effects'} of this call ` +
          `that the code of ${this.toolName} no longer asks for: ${open.join(', ')}.`,
      }),
    ]);
    return toolResult.permanent(
      `The tool ${this.toolName} no longer asks for ${open.join(', ')}.`,
      { errorType: `orphaned_${what}` },
    );
  }

  takeWrites(): {
    readonly drafts: readonly EventDraft[];
    readonly extras: BatchExtras | undefined;
  } {
    return this.hasWrites ? this.writes.take(undefined, { isLast: true }) : noWrites;
  }
}
