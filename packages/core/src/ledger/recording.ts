import type { Actor, Event, EventDraft } from './event.ts';

/** An attempt of a tool or effect that is about to begin. */
export interface ReplayedAttempt {
  readonly callId: string;
  readonly attempt: number;
  /**
   * True when its body may run although the record has its end, because the record consists of its
   * children.
   */
  readonly mayRun: boolean;
  /** True when a raw result is accepted, one that the recorded run had not processed. */
  readonly takesRaw?: boolean;
  /** Called right before the recorded events of it are in the ledger. */
  readonly landing?: (events: readonly Event[]) => void;
}

/**
 * Recorded outcome of a call. `landed`: its recorded end is in the ledger now. `raw`: the recorded
 * run had not processed it. The present code then treats it like any answer of a model or tool.
 */
export type RecordedOutcome =
  | { readonly landed: Event | undefined }
  | { readonly raw: readonly Event[] };

/** A model call that is about to begin. */
export interface ReplayedCall {
  readonly path: string;
  readonly round: number;
  readonly attempt: number;
  /** Called right before the recorded events of it are in the ledger. */
  readonly landing: (events: readonly Event[]) => void;
}

/** A call of a tool right before its attempt. */
export interface ReplayedCheck {
  readonly path: string;
  readonly callId: string;
  readonly tool: string;
}

/** Recorded admission of such a call. */
export type RecordedAdmission =
  | {
      readonly admitted: true;
      readonly change: { readonly change: 'half_open'; readonly failures: number };
    }
  | { readonly admitted: false; readonly failures: number; readonly retryInMs: number };

/** Recorded id, time and author of an event, in the place of those from the ports. */
export interface RecordedPlace {
  readonly id: string;
  readonly at: number;
  readonly by: Actor;
}

/**
 * A record that a ledger is written against, for replays. It serves recorded outcomes instead of
 * new ones, and compares the actions of the present code with the recorded ones.
 */
export interface LedgerRecording {
  /**
   * Compares an event that code is about to append with the record. Returns the event to append
   * instead, with the id and the time of the recorded one; `undefined` when the draft itself is to
   * be appended.
   * @param draft its large values are kept beside it already
   */
  take(draft: EventDraft): (EventDraft & RecordedPlace) | undefined;
  /**
   * Resolves when the recorded end of a model call is next; `undefined` when the call must be made.
   */
  modelEnded(call: ReplayedCall): Promise<RecordedOutcome> | undefined;
  /**
   * Returns a text that was awaited for the next model call of an invocation; `undefined` when none
   * is recorded.
   * @param place number of functions of its prompt that write messages before this one
   */
  awaitedText(path: string, place: number): string | undefined;
  /**
   * Takes the arguments of a tool call. The ledger has only a fingerprint of them for most calls.
   */
  prepared(callId: string, args: unknown): void;
  /** True when a tool call was attempted or asked about in the record: its arguments were taken. */
  hasBegun(callId: string): boolean;
  /**
   * Resolves when the recorded end of an attempt is next; `undefined` when the attempt must be
   * made.
   */
  attemptEnded(attempt: ReplayedAttempt): Promise<RecordedOutcome> | undefined;
  /**
   * Returns the recorded admission of a tool that has failed before; `undefined` when there is
   * none.
   */
  circuit(call: ReplayedCheck): RecordedAdmission | undefined;
  /**
   * Appends the recorded observations of the shared state at this place.
   * @param path invocation that reads the shared state, if it is one
   */
  observed(path: string | undefined): void;
  /**
   * Appends the recorded decisions of the worker before a model call of a run: those that come
   * next.
   */
  beforeRound(runId: string): void;
}
