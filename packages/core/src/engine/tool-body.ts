import { AbortReason } from '../base/cancel-scope.ts';
import type { JsonValue } from '../base/json.ts';
import type { ToolAttempt, ToolBody } from '../effects/tool-ports.ts';
import type { EventDraft } from '../ledger/event.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';
import type { FinalizeContext } from '../tools/tool.ts';
import { Body, type BodyPlace } from './body-context.ts';

const noWrites = Object.freeze({ drafts: [], extras: undefined });

/** What one attempt of a tool call can use. */
export class ToolBodyContext extends Body implements FinalizeContext, ToolBody {
  readonly #attempt: ToolAttempt;

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
    return this.place.run.ledger.epoch;
  }

  get deadline(): number {
    return this.#attempt.deadline;
  }

  progress(data: JsonValue): void {
    this.assertOpen('progress');
    this.place.run.emit?.({ type: 'tool_progress', invocationId: this.invocationId, callId: this.callId, name: this.toolName, data });
  }

  endChildren(stop: boolean): Promise<void> | undefined {
    return stop ? this.stopChildren(new AbortReason('cancelled', `The call of ${this.toolName} failed.`)) : this.childrenEnded();
  }

  takeWrites(): { readonly drafts: readonly EventDraft[]; readonly extras: BatchExtras | undefined } {
    return this.hasWrites ? this.writes.take() : noWrites;
  }
}
