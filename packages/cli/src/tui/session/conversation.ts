import type { Event, JsonValue, StreamEvent } from 'adjutant';
import type { promptOf } from 'adjutant/context';
import type { StateSnapshot } from 'adjutant/views';
import type { StandingExtent } from '../../grammar/standing-extent.ts';

/** Answer of a person to a request. */
export interface GivenDecision {
  readonly decision?:
    | 'approve'
    | 'reject'
    | 'edit'
    | 'answer'
    | 'succeeded'
    | 'retry'
    | 'report'
    | 'continue';
  readonly input?: JsonValue;
  readonly reason?: string;
  /** Later calls that an approval allows as well. */
  readonly always?: StandingExtent;
}

/** Approval that holds for later calls of the session. */
export interface Standing {
  readonly id: string;
  readonly tool: string;
  readonly covers: StandingExtent;
}

/** Listener of a conversation. */
export interface ConversationListener {
  event(event: StreamEvent): void;
  /** Called when something could not be carried out. */
  failed(error: unknown): void;
  /** Called when the work of this process begins or ends. */
  changed(): void;
}

/** The call that a model received: its messages, its tools and its settings. */
export type ModelPrompt = ReturnType<typeof promptOf>;

/** One session and its run, wherever they are: what the app does with them. */
export interface Conversation {
  /** Id of the session. `undefined`: it gets one with its first message. */
  readonly session: string | undefined;
  /** True while this process works on the run, or has asked for work that has not begun. */
  readonly isWorking: boolean;
  /** The events so far. */
  open(): Promise<readonly Event[]>;
  /** The event of a number, with the large values that events only refer to. */
  whole(seq: number): Promise<Event>;
  /** The state right after an event. */
  stateAt(seq: number): Promise<StateSnapshot>;
  /** The exact prompt of a model call, by the number of its `model_start`. */
  prompt(seq: number): Promise<ModelPrompt>;
  /** Begins to tell the listener what happens after an event. */
  listen(listener: ConversationListener, after: number): void;
  /** Gives a message to the open run, or starts a run with it. */
  say(text: string): Promise<void>;
  /** Goes on with a stopped run. */
  resume(): void;
  /** Opens the run that failed again, and goes on with it. */
  retry(): Promise<void>;
  /** Lets the open round end and begins no other. */
  pause(): Promise<void>;
  /** Cuts off the answer that is being given; the run waits, or goes on with what was said. */
  interrupt(next: 'pause' | 'continue'): Promise<void>;
  cancel(reason?: string): Promise<void>;
  answer(requestId: string, given: GivenDecision): Promise<void>;
  /** Approvals that hold for later calls, oldest first. */
  standing(): Promise<readonly Standing[]>;
  /** Takes one of them back. */
  withdraw(id: string): Promise<void>;
  /** Makes a fork of the session up to an event, and returns its id. */
  fork(at?: number): Promise<string>;
  /**
   * Reads the ledger again, after this process was stopped for a while. Returns true when another
   * process goes on with the run that was worked on here.
   */
  comeBack(): Promise<boolean>;
  /** Ends the work of this process, or its looking on. Returns true when a run was under way. */
  stop(): Promise<boolean>;
}
