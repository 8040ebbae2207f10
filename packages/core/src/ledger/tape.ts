import type { Actor, Event, EventDraft } from './event.ts';

/** An attempt of a tool or effect as it is about to be made. */
export interface TapedAttempt {
  readonly callId: string;
  readonly attempt: number;
  /**
   * Whether its body may run again although it would be served: its children are what is recorded
   * of it.
   */
  readonly mayRun: boolean;
  /** Whether a result of which nothing was made may come as it is. */
  readonly takesRaw?: boolean;
  /** Called right before what came of it is in the ledger. */
  readonly landing?: (events: readonly Event[]) => void;
}

/**
 * What came of a call: its recorded end is in the ledger now, or nothing was made of it then, so
 * that what it gave is to be dealt with by the code of today like anything that comes from a model
 * or a tool.
 */
export type TapedOutcome =
  | { readonly landed: Event | undefined }
  | { readonly raw: readonly Event[] };

/** A model call as it is about to be made. */
export interface TapedCall {
  readonly path: string;
  readonly round: number;
  readonly attempt: number;
  /** Called right before what came of it is in the ledger. */
  readonly landing: (events: readonly Event[]) => void;
}

/** A call of a tool right before it is attempted. */
export interface TapedCheck {
  readonly path: string;
  readonly callId: string;
  readonly tool: string;
}

/** What became of such a call. */
export type TapedAdmission =
  | {
      readonly admitted: true;
      readonly change: { readonly change: 'half_open'; readonly failures: number };
    }
  | { readonly admitted: false; readonly failures: number; readonly retryInMs: number };

/** What an event is given in the place of what the ports would give it. */
export interface TapedPlace {
  readonly id: string;
  readonly at: number;
  readonly by: Actor;
}

/**
 * A record that a ledger is written against: what happened once is served in the place of what
 * would happen anew, and what code does now is held against what it did then. For replays.
 */
export interface LedgerTape {
  /**
   * Holds an event that code is about to append against the record. What it gives is appended in
   * the place of the draft, with the id and the time of the recorded one; `undefined`: the draft
   * itself is.
   * @param draft with its large values kept beside it already
   */
  take(draft: EventDraft): (EventDraft & TapedPlace) | undefined;
  /**
   * Resolves when it is the turn of the recorded end of a model call; `undefined`: the call is to
   * be made.
   */
  modelEnded(call: TapedCall): Promise<TapedOutcome> | undefined;
  /**
   * The arguments that a tool is about to be called with: of most calls the ledger has no more than
   * a fingerprint.
   */
  prepared(callId: string, args: unknown): void;
  /**
   * Resolves when it is the turn of the recorded end of an attempt; `undefined`: the attempt is to
   * be made.
   */
  attemptEnded(attempt: TapedAttempt): Promise<TapedOutcome> | undefined;
  /**
   * What the record says, at this place, of whether a tool may be called that has failed before;
   * `undefined`: nothing.
   */
  circuit(call: TapedCheck): TapedAdmission | undefined;
  /**
   * Puts what was seen of the shared state at this place into the ledger. @param path who looks, if
   * it is one
   */
  observed(path: string | undefined): void;
}
