import { defined } from '../../../base/defined.ts';
import { type DecisionDraft, decision } from '../../../ledger/decisions/decision.ts';
import type { DecisionName } from '../../../ledger/decisions/decision-map.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { BatchExtras } from '../../../ledger/ledger-writer.ts';
import type { StateAccess } from '../../../session/scoped-state.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { BodyState } from '../../invoke/state/body-state.ts';

/** Decisions of hooks that have an owner in their data. */
type OwnDecision = Exclude<
  DecisionName<'hooks'>,
  'transfer' | 'continue' | 'failed' | 'refuse_transfer'
>;

/** State changes and decisions of hooks that are not recorded yet. */
export class HookWrites {
  readonly #path: string;
  readonly #state: BodyState;
  #notes: DecisionDraft[] = [];

  constructor({ run, record }: BodyFrame) {
    this.#path = record.path;
    this.#state = new BodyState(run, {
      path: record.path,
      childRoot: record.path,
      by: 'runtime',
      startedAt: run.ledger.lastSeq,
    });
  }

  /** Access to the state for hooks that are not about a tool call. */
  get state(): StateAccess {
    return this.#state;
  }

  /** Returns access to the same state; its writes are marked with the tool call. */
  stateOf(callId: string): StateAccess {
    const state = this.#state;
    return {
      get sharedScopes() {
        return state.sharedScopes;
      },
      temp: state.temp,
      recordsUpdates: state.recordsUpdates,
      read: (scope, key) => state.read(scope, key),
      peek: (scope) => state.peek(scope),
      write: (scope, changes, update) => state.write(scope, changes, update, callId),
    };
  }

  /** Adds the decision that a hook has changed the course of the agent. */
  note(
    owner: string,
    name: OwnDecision,
    reasoning: string,
    about?: { readonly callId: string },
  ): void {
    const data = { owner, ...about };
    const content = {
      invocationId: this.#path,
      reasoning: `${reasoning} It is a hook of ${owner}.`,
      data,
    };
    this.#notes.push(decision('hooks', name, content));
  }

  /**
   * Takes the state changes and decisions, to be appended with the next events.
   * @param callId id of a tool call; decisions about other calls stay, and are appended with the
   * events of those
   */
  take(callId?: string): {
    readonly drafts: readonly EventDraft[];
    readonly extras: BatchExtras | undefined;
  } {
    const isOthers = ({ data }: DecisionDraft): boolean =>
      callId !== undefined && data?.['callId'] !== undefined && data['callId'] !== callId;
    const notes = this.#notes.filter((note) => !isOthers(note));
    if (notes.length > 0) this.#notes = this.#notes.filter(isOthers);
    const { drafts, extras } = this.#state.take(undefined, defined({ call: callId }));
    return notes.length === 0 ? { drafts, extras } : { drafts: [...drafts, ...notes], extras };
  }
}
