import type { JsonObject, JsonValue } from '../../base/json.ts';

/**
 * A pattern for a value: a value that must be equal, a regular expression for a string, or an
 * object or list of such. Files have no regular expressions: there, `{ "$regex": "^Ban", "$flags":
 * "i" }` stands for one and `{ "$any": true }` for any value.
 */
export type ValuePattern =
  | null
  | boolean
  | number
  | string
  | RegExp
  | readonly ValuePattern[]
  | { readonly [key: string]: ValuePattern | undefined };

/** A tool call that is expected of an agent. */
export interface ExpectedToolCall {
  readonly name: string;
  /** @default any arguments */
  readonly args?: { readonly [name: string]: ValuePattern | undefined };
  /** `partial` allows more arguments than the expected ones. @default the setting of the scorer */
  readonly match?: 'exact' | 'partial';
}

/**
 * The expected answer: a text to compare with, or a text or pattern that it must contain, match or
 * equal.
 */
export type ExpectedResponse =
  | string
  | {
      readonly equals?: string;
      readonly contains?: string | readonly string[];
      readonly excludes?: string | readonly string[];
      /** A regular expression; in files its source, with `flags`. */
      readonly matches?: string | RegExp;
      readonly flags?: string;
    };

/** The expectations of a turn, or of a whole conversation. */
export interface Expectation {
  /** An empty list expects that no tool is called. */
  readonly tools?: readonly ExpectedToolCall[];
  /** Of the last text that the agent says. */
  readonly response?: ExpectedResponse;
}

export interface CaseExpectation extends Expectation {
  /** Of the session state at the end; there may be more than is expected. */
  readonly state?: { readonly [key: string]: ValuePattern | undefined };
}

/** A message of the user, and what is expected to come of it. */
export interface EvalTurn {
  readonly user: string;
  readonly expect?: Expectation;
}

/** A conversation with a simulated user: a model that follows a plan. */
export interface EvalScenario {
  /** The first message. */
  readonly startingPrompt: string;
  /** The wishes and actions of the user, in plain words. */
  readonly conversationPlan: string;
  /** Messages of the user, the first one included. @default 10 */
  readonly maxTurns: number;
}

/** Answer to a question of the agent's tools in place of a person. */
export interface EvalApproval {
  /** Name of the tool that asks. @default any */
  readonly tool?: string;
  readonly decision: 'approve' | 'reject' | 'edit' | 'answer';
  /** With `edit` the arguments, with `answer` what was asked for. */
  readonly input?: JsonValue;
  readonly reason?: string;
}

/** One case of a dataset, as it is run: `turns` or a `scenario`. */
export interface EvalCase {
  readonly id: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /**
   * Messages of the user in one session, each after the answer to the one before. Empty with a
   * scenario.
   */
  readonly turns: readonly EvalTurn[];
  readonly scenario?: EvalScenario;
  /** The data that the runnable gets besides the first message. */
  readonly data?: JsonValue;
  /** Session state at the start. */
  readonly state?: JsonObject;
  /** The session's `user` scope. Cases with the same one share what is kept there. */
  readonly userId?: string;
  /** Answers to questions of tools: the first that fits counts. */
  readonly approvals: readonly EvalApproval[];
  /** The expectations of the whole conversation. */
  readonly expect: CaseExpectation;
  /** Anything, for own scorers. */
  readonly metadata: JsonObject;
}

/** A case as it is written: with `input` or `turns` for what the user says, or a `scenario`. */
export interface EvalCaseInput {
  readonly id: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** Shorthand of one turn. */
  readonly input?: string;
  readonly data?: JsonValue;
  /** A string is a turn without expectations. */
  readonly turns?: readonly (string | EvalTurn)[];
  readonly scenario?: Omit<EvalScenario, 'maxTurns'> & { readonly maxTurns?: number };
  readonly state?: JsonObject;
  readonly userId?: string;
  /** One word is for all questions. */
  readonly approvals?: 'approve' | 'reject' | readonly EvalApproval[];
  readonly expect?: CaseExpectation;
  readonly metadata?: JsonObject;
}

/** Cases by which agents are measured. */
export interface Dataset {
  /** The `eval_set_id` or `name` of the file. */
  readonly name?: string;
  readonly description?: string;
  readonly cases: readonly EvalCase[];
  /** Where it was read from, for messages. */
  readonly source: string;
}
