import type { RequestEntry, Runnable, SessionListing } from 'adjutant';
import { laneWords } from '../../output/lane-text.ts';
import type { TextFiles } from '../app/kept-texts.ts';
import type { Conversation } from './conversation.ts';

/** An agent, or another thing that can be run, as the app shows it. */
export interface AgentOutline extends Pick<Runnable, 'kind' | 'name'> {
  readonly description?: string;
  /** Name of its model, as `provider:model`. Missing where nobody tells it. */
  readonly model?: string;
  /** Tokens that a prompt of its model and the answer may have. Missing where nobody tells it. */
  readonly contextWindow?: number;
  /** Limits of one of its invocations. Missing where nobody tells them. */
  readonly limits?: { readonly cost?: number | undefined; readonly rounds?: number | undefined };
  /** Names of the tools, also of its parts, that change nothing outside. */
  readonly readingTools?: readonly string[];
}

/** A model to choose. */
export interface ModelOutline {
  /** As `/model` takes it: `openai:gpt-5-mini`. */
  readonly name: string;
  /** Its context window and price, or what is missing. */
  readonly facts: readonly string[];
}

/** Sessions that a list has: those of the project, or all of the store. */
export type SessionExtent = 'project' | 'all';

/** A request of any session that waits for a person. */
export type WaitingRequest = Pick<RequestEntry, 'requestId' | 'session' | 'kind' | 'summary'>;

/** The app whose sessions are worked on: its agents, its sessions, and how to come back. */
export interface Workplace {
  /** The app and the agent in words: `app shop, agent coder (adjutant.config.ts)`. */
  readonly title: string;
  /** Facts of the second line of the header: the store, the tools. */
  readonly facts: readonly string[];
  readonly agents: readonly AgentOutline[];
  /** Agent that answers the next message. */
  agent: AgentOutline;
  /** Models that can be chosen, the present one first. Empty: the server decides. */
  listModels(): Promise<readonly ModelOutline[]>;
  /**
   * Chooses the model that answers from the next run on. The session remembers it.
   * @throws InvalidModelNameError, MissingKeyError, UsageError
   */
  chooseModel(name: string): Promise<void>;
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
  /** Name of the process that works on the open run of a session. `undefined`: none does. */
  holder(session: string): Promise<string | undefined>;
  /**
   * The command that goes on with a session; without one, with a new one. `undefined`: none does,
   * because the app was opened by a program of the user.
   */
  commandFor(session: string | undefined): string | undefined;
  /** Fate of a run that is open when the app is left. */
  readonly onLeave: 'stops' | 'goesOn';
  close(): Promise<void>;
}

/** A workplace, and the session to open in it first. */
export interface OpenedWorkplace {
  readonly workplace: Workplace;
  /** @default a new session */
  readonly session: string | undefined;
}

/** Fate of an open run whose app is left, in words for the person who leaves. */
export const leavingWords = {
  stops: ' The run stops here and can go on later.',
  goesOn: ' The run goes on there. Esc interrupts it.',
} as const satisfies Record<Workplace['onLeave'], string>;

/** The part of an id by which sessions are told apart. */
export function endingOf(session: string): string {
  return `…${session.slice(-6)}`;
}

/** Words of the command that opens the app on a session. */
export function chatWords(session: string | undefined, lane: string | undefined): string[] {
  const named = session === undefined ? [] : ['--session', session];
  return ['chat', ...named, ...laneWords(lane)];
}

/** The tools of an agent in words, and how many of them ask first. */
export function toolFacts(count: number, asking: number): readonly string[] {
  if (count === 0) return [];
  const tools = `${count} tool${count === 1 ? '' : 's'}`;
  // The tools of the agent of the command line ask as its options say.
  return [asking === 0 || asking === count ? tools : `${tools}, ${asking} ask first`];
}
