import type { Runnable, SessionListing } from 'adjutant';
import type { TextFiles } from '../app/kept-texts.ts';
import type { Conversation } from './conversation.ts';

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
  listSessions(words: string): Promise<readonly SessionListing[]>;
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
