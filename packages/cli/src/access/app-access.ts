import type {
  Event,
  ForkOptions,
  JsonValue,
  RequestEntry,
  Runtime,
  Session,
  SessionListing,
  SessionQuery,
} from 'adjutant';
import type { RunContext } from '../actions/carry-out.ts';
import type { GivenAnswer } from '../actions/given-value.ts';
import type { StoreOptions } from '../app/app.ts';
import type { ProjectFlags } from '../app/project.ts';
import type { Interruption } from '../host/interruption.ts';
import type { ConfigOptions } from '../modules/find-config.ts';
import type { NoticeAccess } from './notices/notice-access.ts';
import type { ServerFlags } from './server-flags.ts';
import type { TaskAccess } from './tasks/task-access.ts';
import type { TriggerAccess } from './triggers/trigger-access.ts';

/** An event, as `app.publish` takes it. */
export type EventToPublish = Parameters<Runtime['publish']>[0];

export type AccessOptions = ProjectFlags & ServerFlags;

export interface SessionFilter extends Pick<SessionQuery, 'status' | 'runnable' | 'user' | 'text'> {
  readonly limit: number;
  /** True for the sessions of all folders. @default those of the project */
  readonly all?: boolean;
}

export interface FoundSessions {
  /** Sessions, newest first. */
  readonly sessions: readonly SessionListing[];
  /** The sentence for the user when there is no session at all. */
  readonly nothing: string;
}

/** The requests and the rest beside a shown session. */
export interface ShownContext {
  /** Returns the ids of the session's requests that have no answer. */
  readonly pending: () => Promise<ReadonlySet<string>>;
  /** Options with which a shown command finds the session. */
  readonly place: StoreOptions & ConfigOptions;
  /** Checks that the runs of a runnable can be continued from here. */
  readonly isHere: (runnable: string) => boolean;
}

/** The two ways to write a session as text. */
export interface SessionView {
  readonly text: (session: Session, around: ShownContext) => string | Promise<string>;
  /** Writes a session of a store that cannot be opened. Without it, that is an error. */
  readonly unreadable?: ((app: Runtime, name: string) => Promise<string>) | undefined;
}

export interface CancelOutcome {
  /** Outcome of a cancel. `posted`: another process has to cancel the run. */
  readonly status: 'posted' | 'cancelled';
  /** The sentence for the user. */
  readonly text: string;
}

export interface CancelDetails {
  readonly reason?: string;
  /** Lane of the run. @default the default lane */
  readonly lane?: string;
}

export interface ReopenDetails {
  readonly reason: string;
  readonly path?: string;
  /** Lane whose last run is opened. @default the default lane */
  readonly lane?: string;
}

export interface ForkDetails {
  /** Last event of the fork, as its `seq`. */
  readonly at: number;
  readonly id?: string;
  /** Edits with which it begins. */
  readonly edit?: NonNullable<ForkOptions['edit']>;
}

export interface ForkedSession {
  /** Id of the session that was forked. */
  readonly from: string;
  readonly session: Session;
}

export interface FollowContext {
  readonly interruption: Interruption;
  /** Shows an event. */
  readonly onEvent: (event: Event) => void;
}

/** Finding of a person about a call or an effect of unknown outcome. */
export interface FoundOutcome {
  readonly happened: boolean;
  readonly result?: JsonValue;
  readonly failed?: string;
}

export interface AnswerContext extends RunContext {
  readonly options: RunContext['options'] & {
    /** True when the run is continued after the answer. */
    readonly continue: boolean;
  };
}

/**
 * The app that a command works with: a store of this machine, or a server. Methods that run
 * something show the run and return the exit code.
 */
export interface AppAccess {
  readonly tasks: TaskAccess;
  readonly triggers: TriggerAccess;
  readonly notices: NoticeAccess;
  /** Publishes an event. Returns its id. */
  publish(event: EventToPublish): Promise<{ readonly id: string }>;
  listSessions(filter: SessionFilter): Promise<FoundSessions>;
  /** Lists all pending requests, oldest first. */
  listRequests(user: string | undefined): Promise<readonly RequestEntry[]>;
  /** Returns the text of a session, by default of the newest one. Writes nothing to its ledger. */
  show(id: string | undefined, view: SessionView): Promise<string>;
  /** Ends the open run of a lane of a session. @throws UsageError when there is none */
  cancel(session: string, options: CancelDetails): Promise<CancelOutcome>;
  /** Records the outcome of a call or an effect that nobody knows. */
  resolveUnknown(session: string, callId: string, found: FoundOutcome): Promise<void>;
  /** Opens a failed or cancelled run again, or one part of it. */
  reopen(session: string, options: ReopenDetails): Promise<void>;
  /** Makes a session with the first events of another one. */
  fork(session: string, options: ForkDetails): Promise<ForkedSession>;
  /** Removes a session for good. Returns its id. @param withForks its forks, too */
  delete(session: string, withForks: boolean): Promise<string>;
  /**
   * Shows the events of a session, and those that come, until its open run has ended. Returns the
   * exit code of that run.
   */
  follow(context: FollowContext, session: string | undefined): Promise<number>;
  answer(context: AnswerContext, requestId: string, answer: GivenAnswer): Promise<number>;
  run(context: RunContext, goal: string, session: string | undefined): Promise<number>;
  /** Continues the open run of a session. */
  resume(context: RunContext, session: string): Promise<number>;
}
