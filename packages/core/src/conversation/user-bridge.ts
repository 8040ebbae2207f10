import { defined } from '../base/defined.ts';
import type { JsonValue } from '../base/json.ts';
import { AnswerWith } from './scripted-user.ts';
import {
  isDone,
  type UserAnswer,
  type UserDone,
  type UserQuestion,
  type UserTurn,
} from './user.ts';

/** The message or answer that is asked of the simulated user. */
export type AskedOfUser =
  | { readonly turn: UserTurn; readonly question?: undefined }
  | { readonly question: UserQuestion; readonly turn?: undefined };

/** Translates between a conversation and the runnables that play its user. */
export interface UserBridge {
  /** Makes the prompt for the runnable. @default the message or question, as quoted data */
  readonly formatPrompt?: (asked: AskedOfUser) => string;
  /**
   * Makes the runnable's output what the user says. For a message: a text, `{ message }`, or `{
   * done: true, reason }`. For the input of a tool: the input, or what `answerWith` made. For a
   * decision: its name, or `{ decision, input, reason }`.
   * @default the output as it is
   */
  readonly formatResponse?: (output: unknown, asked: AskedOfUser) => unknown;
}

/**
 * Returns the default prompt for the runnable that plays the user. Text of others is quoted: the
 * user must not obey it.
 */
export function quotedPrompt({ turn, question }: AskedOfUser): string {
  if (question !== undefined) return questionPrompt(question);
  if (turn.reply === '') return 'The assistant has said nothing yet. Write your message.';
  return (
    `The assistant wrote, quoted as JSON:\n${JSON.stringify(turn.reply)}\nWrite your next ` +
    'message, or end the conversation.'
  );
}

function questionPrompt({
  kind,
  toolName,
  summary,
  args,
  inputSchema,
  options,
  refused,
  reply,
}: UserQuestion): string {
  const isInput = kind === 'input' || kind === 'result';
  const lines = [
    ...(reply === '' ? [] : [`The assistant wrote, quoted as JSON: ${JSON.stringify(reply)}`]),
    isInput
      ? `The assistant asks you by "${toolName}".`
      : `You are to decide about "${toolName}" (${kind}).`,
    `What it is about, quoted as JSON: ${JSON.stringify({ summary, args })}`,
    isInput && inputSchema !== undefined
      ? `Answer with JSON that fits this schema: ${JSON.stringify(inputSchema)}`
      : undefined,
    isInput ? undefined : `Decide for one of: ${options.join(', ')}.`,
    refused === undefined ? undefined : `Your last answer was not taken: ${refused}`,
  ];
  return lines.filter((line) => line !== undefined).join('\n');
}

/** Reads the output of a runnable as a message; `undefined` when it is none. */
export function messageIn(said: unknown): string | UserDone | undefined {
  if (typeof said === 'string') return said.trim() === '' ? undefined : said;
  if (typeof said !== 'object' || said === null) return undefined;
  const { message, done, reason } = said as {
    readonly message?: unknown;
    readonly done?: unknown;
    readonly reason?: unknown;
  };
  if (done === true)
    return { done: true, ...(typeof reason === 'string' && reason !== '' ? { reason } : {}) };
  return typeof message === 'string' && message.trim() !== '' ? message : undefined;
}

/** Reads the output of a runnable as an answer; `undefined` when it is none. */
export function answerIn(said: unknown, { kind }: UserQuestion): UserAnswer | UserDone | undefined {
  if (said instanceof AnswerWith) return said.answer;
  if (said === undefined) return undefined;
  if (kind === 'input' || kind === 'result') return { input: said as JsonValue };
  if (typeof said === 'string')
    return { decision: said.trim() as NonNullable<UserAnswer['decision']> };
  if (isDone(said)) return said;
  if (
    typeof said !== 'object' ||
    said === null ||
    typeof (said as UserAnswer).decision !== 'string'
  )
    return undefined;
  const { decision, input, reason } = said as UserAnswer;
  return {
    ...defined({ decision }),
    ...(input == null ? {} : { input }),
    ...(reason ? { reason } : {}),
  };
}
