import { checkOptions } from '../base/invalid-option.ts';
import {
  isCount,
  isFunction,
  isGroup,
  isNonEmptyText,
  isObject,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { Runtime } from '../runtime.ts';
import { isRunnable, type Runnable } from '../session/runnable.ts';
import { SimulatedUserError, UnansweredRequestError } from './errors.ts';
import { idsOf, isIds } from './scripted-user.ts';
import type { User, UserAnswer, UserDone, UserQuestion, UserTurn } from './user.ts';
import {
  type AskedOfUser,
  answerIn,
  messageIn,
  quotedPrompt,
  type UserBridge,
} from './user-bridge.ts';
import { UsersOwnSession } from './users-own-session.ts';

export interface AgentUserOptions {
  /**
   * The actor of its answers. Of several ids, the first that may decide is used.
   * @default 'agent-user'
   */
  readonly id?: string | readonly string[];
  /**
   * Writes the user's next message, or ends the conversation. An agent, or a loop that yields and
   * so keeps one run open.
   */
  readonly loop: Runnable;
  /**
   * Answer for the tools that wait for input, and give the results of operations, by the name of
   * the tool.
   */
  readonly tools?: { readonly [tool: string]: Runnable };
  /** Decides about approvals, repeated calls, attempts of unknown outcome and limits. */
  readonly decisions?: Runnable;
  readonly bridge?: UserBridge;
  /**
   * Answers what none of these answers, such as `scriptedUser({ approvals: 'approve' })`. @default
   * being asked for it throws
   */
  readonly otherwise?: User;
  /** Messages in all. @default as many as `converse` allows */
  readonly maxTurns?: number;
  /** The app in which it is played. @default one beside that of the conversation, on its store */
  readonly runner?: Runtime;
}

const isOneRunnable: OptionCheck = (value) =>
  isRunnable(value) ? undefined : 'a runnable, such as agent({ … })';
const isPort: OptionCheck = (value) => {
  const { answer, message } = (value ?? {}) as Partial<User>;
  return typeof answer === 'function' && typeof message === 'function'
    ? undefined
    : 'a user, such as scriptedUser({ … })';
};

const checks: OptionChecks<AgentUserOptions> = {
  id: isIds,
  loop: isOneRunnable,
  tools: (value) => {
    const fits = isObject(value) === undefined && Object.values(value as object).every(isRunnable);
    return fits ? undefined : 'an object that has a runnable for each tool';
  },
  decisions: isOneRunnable,
  bridge: isGroup<UserBridge>({ formatPrompt: isFunction, formatResponse: isFunction }),
  otherwise: isPort,
  maxTurns: isCount,
  runner: (value) =>
    isNonEmptyText((value as Partial<Runtime> | null)?.app) === undefined ? undefined : 'a runtime',
};

/**
 * A user that runnables play. It has sessions of its own, named after that of the conversation, on
 * the same store: whoever goes on with the conversation finds what the user has said already.
 * @throws InvalidOptionError
 */
export function agentUser(options: AgentUserOptions): User {
  checkOptions('agentUser', { ...options, loop: options?.loop ?? null }, checks);
  const player = new Player(options);
  return Object.freeze({
    ids: idsOf(options.id, 'agent-user'),
    maxTurns: options.maxTurns,
    answer: (question: UserQuestion) => player.answer(question),
    message: (turn: UserTurn) => player.message(turn),
    follow: (progress: Parameters<NonNullable<User['follow']>>[0]) =>
      options.otherwise?.follow?.(progress),
  });
}

class Player {
  readonly #options: AgentUserOptions;

  constructor(options: AgentUserOptions) {
    this.#options = options;
  }

  async message(turn: UserTurn): Promise<string | UserDone> {
    const { loop } = this.#options;
    const said = await this.#ask(loop, { turn }, 'user', `message-${turn.index + 1}`, false);
    return (
      messageIn(said) ??
      this.#nothing(loop, turn, 'it gave neither a message nor `{ done: true }`.')
    );
  }

  async answer(question: UserQuestion): Promise<UserAnswer | UserDone | undefined> {
    const { tools = {}, decisions, otherwise, loop } = this.#options;
    const { kind, toolName, requestId, refused } = question;
    const isInput = kind === 'input' || kind === 'result';
    const runnable = isInput
      ? Object.hasOwn(tools, toolName)
        ? tools[toolName]
        : undefined
      : decisions;
    if (runnable === undefined && otherwise !== undefined) return otherwise.answer(question);
    if (runnable === undefined)
      throw new UnansweredRequestError({ question, reason: nothingFor(question) });
    // Answers belong to what the user has said; a loop that waits for its next message has its
    // session to itself.
    const part = loop.kind === 'agent' ? 'user' : 'user-answers';
    const said = await this.#ask(
      runnable,
      { question },
      part,
      `answer-${requestId}`,
      refused !== undefined,
    );
    return answerIn(said, question) ?? this.#nothing(runnable, question, 'it gave no answer.');
  }

  async #ask(
    runnable: Runnable,
    asked: AskedOfUser,
    part: string,
    name: string,
    again: boolean,
  ): Promise<unknown> {
    const { bridge = {}, runner } = this.#options;
    const { formatPrompt = quotedPrompt, formatResponse } = bridge;
    const view = asked.turn ?? asked.question;
    const own = await UsersOwnSession.of(this, view, runner, part);
    const output = await own.ask(runnable, {
      name,
      again,
      prompt: formatPrompt(asked),
      signal: view.signal,
    });
    return formatResponse === undefined ? output : formatResponse(output, asked);
  }

  #nothing({ name }: Runnable, { session }: Pick<UserTurn, 'session'>, reason: string): never {
    throw new SimulatedUserError({ runnable: name, session: session.id, reason });
  }
}

function nothingFor({ kind, toolName }: UserQuestion): string {
  const option = kind === 'input' || kind === 'result' ? `tools.${toolName}` : 'decisions';
  return `Give agentUser() a runnable as \`${option}\`, or somebody who answers as \`otherwise\`.`;
}
