import type { RequestEntry, Runnable, SessionListing } from 'adjutant';
import type { TextFiles } from '../app/kept-texts.ts';
import type { Conversation } from './conversation.ts';

/** Sessions that a list has: those of the project, or all of the store. */
export type SessionExtent = 'project' | 'all';

/** A request of any session that waits for a person. */
export type WaitingRequest = Pick<RequestEntry, 'requestId' | 'session' | 'kind' | 'summary'>;

/** The app whose sessions are worked on: its agents, its sessions, and how to come back. */
export interface Workplace {
  /** The app and the agent in words: `app shop, agent coder (adjutant.config.ts)`. */
  readonly title: string;
  readonly app: string;
  /** Facts of the second line of the header: the store, the tools. */
  readonly facts: readonly string[];
  readonly agents: readonly Runnable[];
  /** Agent that answers the next message. */
  agent: Runnable;
  /** Files of the history and of the drafts. */
  readonly texts: TextFiles;
  /** Opens a session, by default a new one. */
  open(id?: string): Promise<Conversation>;
  /** Sessions with these words in their titles or ids, newest first. */
  listSessions(words: string, extent?: SessionExtent): Promise<readonly SessionListing[]>;
  /** Requests of all sessions that wait for people, those that expire first before. */
  listRequests(): Promise<readonly WaitingRequest[]>;
  /** Removes a session for good. */
  deleteSession(id: string): Promise<void>;
  /** Writes a session into a file without secrets, and returns the path of the file. */
  exportSession(id: string, file?: string): Promise<string>;
  /**
   * Finds the id of a session by its ending, or by `last`.
   * @throws SessionNotFoundError, UsageError when several have it
   */
  findSession(named: string): Promise<string>;
  /** Name of the process that works on a session. `undefined`: none does. */
  holder(session: string): Promise<string | undefined>;
  /** The command that goes on with a session. */
  commandFor(session: string): string;
  close(): Promise<void>;
}

/** The part of an id by which sessions are told apart. */
export function endingOf(session: string): string {
  return `…${session.slice(-6)}`;
}
