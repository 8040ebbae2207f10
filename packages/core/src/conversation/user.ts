import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Actor, RequestDecision, RequestKind } from '../ledger/event.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session/session.ts';

/**
 * One message of a conversation as both sides read it: no thoughts, no tool calls, nothing that
 * agents say to each other.
 */
export interface SpokenMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** The part of the conversation that a user sees. */
export interface ConversationView {
  /** The app that the conversation is held in. */
  readonly app: Runtime;
  readonly session: Session;
  /** Name of the conversation within the session. */
  readonly conversation: string;
  readonly messages: readonly SpokenMessage[];
  /** The text said to the user since the user's last message; empty when there is none. */
  readonly reply: string;
  /** Aborted when nobody waits for the user any more. */
  readonly signal: AbortSignal;
}

/** A request that this user has answered in the conversation, in whatever process. */
export interface AnsweredRequest {
  readonly requestId: string;
  readonly kind: RequestKind;
  /** The tool; for a limit, the limit. */
  readonly toolName: string;
}

/** Something that a run waits for and that the user may answer. */
export interface UserQuestion extends ConversationView {
  readonly requestId: string;
  readonly callId: string;
  readonly kind: RequestKind;
  /** The agent that asks. */
  readonly agent: string;
  /** The tool; for a limit, the limit. */
  readonly toolName: string;
  /** The prepared arguments. */
  readonly args: JsonValue;
  /** One line that says what is to be done. */
  readonly summary: string;
  /** Further details that people are shown. */
  readonly details?: JsonValue;
  /** The decisions to choose from. */
  readonly options: readonly RequestDecision[];
  /** JSON Schema of the input, or of the arguments that may be edited. */
  readonly inputSchema?: JsonObject;
  readonly operationId?: string;
  /** Epoch milliseconds; missing: it waits for as long as it takes. */
  readonly expiresAt?: number;
  /** The reason why the last answer to this question was refused; missing at the first attempt. */
  readonly refused?: string;
  /** The earlier answers of the user. */
  readonly answered: readonly AnsweredRequest[];
}

/** The answer of a user to a question. */
export interface UserAnswer {
  /** @default 'answer', where that is an option */
  readonly decision?: RequestDecision;
  /** The input, the edited arguments, the result, or how much more a limit may be exceeded by. */
  readonly input?: JsonValue;
  readonly reason?: string;
}

/** The user has nothing more to say: the conversation ends, and what waits goes on waiting. */
export interface UserDone {
  readonly done: true;
  readonly reason?: string;
}

/** The user's turn to speak. */
export interface UserTurn extends ConversationView {
  /**
   * Messages that the user has given before, counted from 0; an `input` of the caller is not
   * counted.
   */
  readonly index: number;
  /**
   * `start`: nothing has been said yet. `loop`: a loop waits for it. `follow_up`: the last run has
   * ended.
   */
  readonly asks: 'start' | 'loop' | 'follow_up';
  /** The loop that waits, or the runnable that the message starts. */
  readonly runnable: string;
}

/** Progress of a conversation. */
export interface UserProgress {
  readonly messages: number;
  readonly answered: readonly AnsweredRequest[];
}

/**
 * Somebody outside who talks to an app: a script, a person, or a model. What is thrown ends the
 * drive and leaves the session as it is, to be gone on with later.
 */
export interface User {
  /** The actors of its answers, such as `ann` or `user:ann`. The first that may decide is used. */
  readonly ids: readonly string[];
  /** Messages that it gives at most in a conversation. @default no limit of its own */
  readonly maxTurns?: number | undefined;
  /** Number of times that it is asked a question whose answers are refused. @default 2 */
  readonly attempts?: number | undefined;
  /** `undefined`: it does not answer this; the question stays open. */
  answer(
    question: UserQuestion,
  ): UserAnswer | UserDone | undefined | Promise<UserAnswer | UserDone | undefined>;
  /** `undefined`: it has nothing to say. */
  message(turn: UserTurn): string | UserDone | undefined | Promise<string | UserDone | undefined>;
  /**
   * Told how far the conversation has come when it is taken up, and after everything that the user
   * says.
   */
  follow?(progress: UserProgress): void;
}

/** An answer that was given, as the result of a conversation lists it. */
export interface GivenAnswer extends AnsweredRequest {
  readonly decision: RequestDecision | undefined;
  readonly input: JsonValue | undefined;
  readonly by: Actor;
}

export function isDone(said: unknown): said is UserDone {
  return (
    typeof said === 'object' && said !== null && (said as { readonly done?: unknown }).done === true
  );
}
