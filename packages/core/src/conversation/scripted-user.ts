import { checkOptions } from '../base/invalid-option.ts';
import type { JsonValue } from '../base/json.ts';
import { isNonEmptyText, type OptionCheck, type OptionChecks } from '../base/options.ts';
import { actorOf } from '../engine/requests/check.ts';
import type { RequestKind } from '../ledger/event.ts';
import { UnansweredRequestError, UserScriptUnusedError } from './errors.ts';
import type { User, UserAnswer, UserDone, UserProgress, UserQuestion, UserTurn } from './user.ts';

type OrLater<Value> = Value | Promise<Value>;

/**
 * Methods take parameters of narrower types, so that a function may say which arguments its tool
 * has.
 */
interface Answering<Answer> {
  answer(args: unknown, question: UserQuestion): OrLater<Answer | undefined>;
}

/**
 * Answers in order, or a function of the arguments. What a function gives as `undefined` leaves the
 * question open.
 */
export type Script<Answer> = readonly Answer[] | Answering<Answer>['answer'];

/**
 * A decision by its name, or with more: `{ decision: 'edit', input: args }`, `{ decision: 'reject',
 * reason }`.
 */
export type ScriptedDecision =
  | NonNullable<UserAnswer['decision']>
  | (UserAnswer & { readonly decision: NonNullable<UserAnswer['decision']> });

/**
 * One decision for all questions, decisions in order, a function, or one of these for each tool.
 */
export type DecisionScript =
  | ScriptedDecision
  | Script<ScriptedDecision>
  | { readonly [tool: string]: ScriptedDecision | Script<ScriptedDecision> };

export interface ScriptedUserOptions {
  /**
   * The actor of its answers. Of several ids, the first that may decide is used.
   * @default 'scripted'
   */
  readonly id?: string | readonly string[];
  /**
   * The input for tools that wait for it and the results of operations, by the name of the tool.
   * `answerWith` says more than that.
   */
  readonly tools?: { readonly [tool: string]: Script<JsonValue | AnswerWith> };
  /** Decisions on the approval of calls, and on making them again. */
  readonly approvals?: DecisionScript;
  /** Decisions about attempts of unknown outcome: `succeeded`, `retry`, `report`. */
  readonly recoveries?: DecisionScript;
  /**
   * Decisions on agents at their limits: `continue`, `reject`, or a number, which continues with so
   * much more.
   */
  readonly limits?: number | ScriptedDecision | Script<number | ScriptedDecision>;
  /**
   * The messages of the user, in order; or a function. After them the user says no more.
   * @default nothing
   */
  readonly messages?:
    | readonly string[]
    | ((turn: UserTurn) => OrLater<string | UserDone | undefined>);
}

export interface ScriptedUser extends User {
  /** Counts the entries of each list that were never used. Empty when every entry was used. */
  unused(): Readonly<Record<string, number>>;
  /** @throws UserScriptUnusedError when something is left over */
  assertUsed(): void;
}

/** An answer to a tool that is more than its input; made by `answerWith`. */
export class AnswerWith {
  readonly answer: UserAnswer | UserDone;

  constructor(answer: UserAnswer | UserDone) {
    this.answer = answer;
  }
}

/**
 * For the `tools` of a scripted user: `answerWith({ decision: 'reject', reason: 'No idea' })`, or
 * `answerWith({ done: true })` from somebody who leaves. A plain value is the input itself.
 */
export function answerWith(answer: UserAnswer | UserDone): AnswerWith {
  return new AnswerWith(answer);
}

const groupOf: Readonly<Record<RequestKind, 'tools' | 'approvals' | 'recoveries' | 'limits'>> = {
  input: 'tools',
  result: 'tools',
  approval: 'approvals',
  repeat: 'approvals',
  recovery: 'recoveries',
  limit: 'limits',
};

export const isIds: OptionCheck = (value) => {
  const ids = [value].flat();
  return ids.length > 0 && ids.every((id) => isNonEmptyText(id) === undefined)
    ? undefined
    : 'an id, or a list of ids';
};
const isScript = (value: unknown): boolean => Array.isArray(value) || typeof value === 'function';
const isByTool = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isDecision = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') ||
  (isByTool(value) && typeof value['decision'] === 'string');
const isOneOrScript = (value: unknown): boolean => isDecision(value) || isScript(value);
const isDecisions: OptionCheck = (value) => {
  const fits =
    isOneOrScript(value) || (isByTool(value) && Object.values(value).every(isOneOrScript));
  return fits
    ? undefined
    : 'a decision, a list of decisions, a function, or an object with one of these for each tool';
};

const checks: OptionChecks<ScriptedUserOptions> = {
  id: isIds,
  tools: (value) =>
    isByTool(value) && Object.values(value).every(isScript)
      ? undefined
      : 'an object that has a list of answers or a function for each tool',
  approvals: isDecisions,
  recoveries: isDecisions,
  limits: (value) =>
    typeof value === 'number' || isOneOrScript(value)
      ? undefined
      : 'a number, a decision, a list of these, or a function',
  messages: (value) =>
    typeof value === 'function' ||
    (Array.isArray(value) && value.every((text) => typeof text === 'string'))
      ? undefined
      : 'a list of strings, or a function',
};

/** @throws InvalidOptionError, InvalidAnswerError when an id is none of somebody outside */
export function idsOf(
  id: string | readonly string[] | undefined,
  otherwise: string,
): readonly string[] {
  const ids = [id ?? otherwise].flat();
  for (const one of ids) actorOf(one);
  return Object.freeze(ids);
}

/**
 * A user that says what it was given. Lists go on where the ledger stands: what was said or
 * answered in the conversation before, in whatever process, is not said again. Being asked for what
 * is not in the script throws.
 * @throws InvalidOptionError
 */
export function scriptedUser(options: ScriptedUserOptions): ScriptedUser {
  checkOptions('scriptedUser', options, checks);
  const script = new UserScript(options);
  return Object.freeze({
    ids: idsOf(options.id, 'scripted'),
    answer: (question: UserQuestion) => script.answer(question),
    message: (turn: UserTurn) => script.message(turn),
    follow: (progress: UserProgress) => script.follow(progress),
    unused: () => script.unused(),
    assertUsed: () => {
      const unused = script.unused();
      if (Object.keys(unused).length > 0) throw new UserScriptUnusedError(unused);
    },
  });
}

type AnyScript =
  | readonly unknown[]
  | ((args: unknown, question: UserQuestion) => unknown)
  | string
  | number
  | { readonly decision: unknown };

/** Where an answer to a question stands in a script. */
interface Place {
  /** Names the list: `tools.ask`, `approvals`. */
  readonly name: string;
  readonly script: AnyScript;
  /** Tells if a question is answered from this list too. */
  readonly holds: (kind: RequestKind, toolName: string) => boolean;
}

function asAnswer(kind: RequestKind, said: unknown): UserAnswer | UserDone | undefined {
  if (said === undefined) return undefined;
  if (said instanceof AnswerWith) return said.answer;
  if (groupOf[kind] === 'tools') return { input: said as JsonValue };
  if (typeof said === 'number') return { decision: 'continue', input: said };
  return typeof said === 'string'
    ? { decision: said as NonNullable<UserAnswer['decision']> }
    : (said as UserAnswer | UserDone);
}

class UserScript {
  readonly #options: ScriptedUserOptions;
  #progress: UserProgress = { messages: 0, answered: [] };

  constructor(options: ScriptedUserOptions) {
    this.#options = options;
  }

  follow(progress: UserProgress): void {
    this.#progress = progress;
  }

  async answer(question: UserQuestion): Promise<UserAnswer | UserDone | undefined> {
    const place = this.#placeOf(question.kind, question.toolName);
    if (place === undefined)
      throw new UnansweredRequestError({ question, reason: this.#nothingFor(question) });
    const { script, name, holds } = place;
    const { kind } = question;
    if (typeof script === 'function') return asAnswer(kind, await script(question.args, question));
    if (!Array.isArray(script)) return asAnswer(kind, script);
    const used = question.answered.filter((one) => holds(one.kind, one.toolName)).length;
    if (used < script.length) return asAnswer(kind, script[used]);
    throw new UnansweredRequestError({
      question,
      reason: `\`${name}\` of the scripted user has ${script.length} answers, and all are used.`,
    });
  }

  message(turn: UserTurn): OrLater<string | UserDone | undefined> {
    const { messages = [] } = this.#options;
    return typeof messages === 'function' ? messages(turn) : messages[turn.index];
  }

  unused(): Readonly<Record<string, number>> {
    const { messages, answered } = this.#progress;
    const left: Record<string, number> = {};
    const count = (name: string, script: unknown, used: number): void => {
      if (Array.isArray(script) && script.length > used) left[name] = script.length - used;
    };
    count('messages', this.#options.messages, messages);
    for (const { name, script, holds } of this.#places()) {
      count(name, script, answered.filter((one) => holds(one.kind, one.toolName)).length);
    }
    return left;
  }

  #nothingFor({ kind, toolName }: UserQuestion): string {
    const group = groupOf[kind];
    const names = [...this.#places()].map(({ name }) => `\`${name}\``);
    const has =
      names.length === 0 ? 'nothing is scripted but messages' : `it has ${names.join(', ')}`;
    return (
      `The scripted user has no \`${group === 'tools' ? `tools.${toolName}` : group}\`; ` +
      `${has}.`
    );
  }

  #placeOf(kind: RequestKind, toolName: string): Place | undefined {
    for (const place of this.#places()) if (place.holds(kind, toolName)) return place;
    return undefined;
  }

  *#places(): Generator<Place> {
    for (const group of ['tools', 'approvals', 'recoveries', 'limits'] as const) {
      const given = this.#options[group];
      if (given === undefined) continue;
      if (group === 'limits' || isOneOrScript(given)) {
        yield { name: group, script: given as AnyScript, holds: (kind) => groupOf[kind] === group };
        continue;
      }
      for (const [tool, script] of Object.entries(given as Readonly<Record<string, AnyScript>>)) {
        yield {
          name: `${group}.${tool}`,
          script,
          holds: (kind, toolName) => groupOf[kind] === group && toolName === tool,
        };
      }
    }
  }
}
