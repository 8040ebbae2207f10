import { defined } from '../base/defined.ts';
import { deepFreeze, findJsonDefect, isPlainObject, type JsonValue } from '../base/json.ts';
import {
  findInvalidOption,
  isFunction,
  isNonEmptyText,
  isObject,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { DataOf } from '../ledger/decisions/decision-map.ts';
import type { ToolResult } from '../ledger/tool-result.ts';

/**
 * A decision of a guardrail: go on; refuse with a message; go on with a note to the model
 * (`guide`); ask a person first (`confirm`); or go on with another value (`transform`). Not every
 * point allows all of them: `GuardrailVerdict<'input'>` has the decisions about a message.
 */
export type GuardrailVerdict<Point extends GuardrailPoint = 'toolCall'> = Exclude<
  AnyVerdict,
  { readonly action: NotAt[Point] }
>;

/** At a tool call everything can be decided. */
interface NotAt {
  readonly input: 'confirm';
  readonly modelCall: 'confirm' | 'transform';
  readonly output: 'confirm';
  readonly toolCall: never;
  readonly toolResult: 'confirm';
}

type AnyVerdict =
  | { readonly action: 'proceed' }
  | { readonly action: 'deny'; readonly message: string; readonly reasoning?: string }
  | { readonly action: 'guide'; readonly message: string; readonly reasoning?: string }
  | { readonly action: 'confirm'; readonly summary?: string; readonly reasoning?: string }
  | { readonly action: 'transform'; readonly value: JsonValue; readonly reasoning?: string };

/**
 * The points that a guardrail checks: an incoming message, a planned model call, an answer, a tool
 * call and its result.
 */
export type GuardrailPoint = 'input' | 'modelCall' | 'output' | 'toolCall' | 'toolResult';

export interface GuardrailContext {
  readonly agent: string;
  readonly round: number;
}
export interface InputCheck extends GuardrailContext {
  readonly text: string;
}
export interface ModelCallCheck extends GuardrailContext {
  /** Epoch milliseconds of this call, and of the session's calls before it, newest first. */
  readonly at: number;
  readonly calledAt: Iterable<number>;
}
export interface OutputCheck extends GuardrailContext {
  readonly text: string;
  /** Names of the tools that the agent has. */
  readonly tools: readonly string[];
}
export interface ToolCallCheck extends GuardrailContext {
  readonly name: string;
  readonly args: JsonValue;
}
export interface ToolResultCheck extends ToolCallCheck {
  readonly result: ToolResult;
}

/**
 * Checks for the input and output of an agent. Its functions are pure: they use only their
 * arguments, and answer synchronously. `undefined` means `proceed`.
 */
export interface Guardrail {
  readonly name: string;
  readonly input?: (check: InputCheck) => GuardrailVerdict<'input'> | undefined;
  readonly modelCall?: (check: ModelCallCheck) => GuardrailVerdict<'modelCall'> | undefined;
  readonly output?: (check: OutputCheck) => GuardrailVerdict<'output'> | undefined;
  readonly toolCall?: (check: ToolCallCheck) => GuardrailVerdict | undefined;
  readonly toolResult?: (check: ToolResultCheck) => GuardrailVerdict<'toolResult'> | undefined;
}

/** Requirement on the option `guardrails`. */
export const isListOfGuardrails: OptionCheck = (value) => {
  if (!Array.isArray(value)) return 'a list of guardrails';
  for (const one of value) {
    const wrong = wrongGuardrail(one);
    if (wrong !== undefined) return `a list of guardrails, each ${wrong}`;
  }
  return undefined;
};

/** A guardrail without a function would protect nothing, so it is refused. */
function wrongGuardrail(one: unknown): string | undefined {
  const points = Object.keys(legalActions) as GuardrailPoint[];
  if (typeof one === 'function')
    return 'an object (ready guardrails are called: `formatRules({ … })`), not a function';
  if (isObject(one) !== undefined) return 'an object';
  const { name } = one as Partial<Guardrail>;
  if (isNonEmptyText(name) !== undefined) return 'an object with a `name`';
  const invalid = isPlainObject(one) ? findInvalidOption(one, guardrailChecks) : undefined;
  if (invalid !== undefined) return `${invalid.within}: "${name}"`;
  if (points.every((point) => typeof (one as Guardrail)[point] !== 'function'))
    return `an object with at least one of ${points.join(', ')}: "${name}" has none`;
  return undefined;
}

const guardrailChecks: OptionChecks<Guardrail> = {
  name: isNonEmptyText,
  input: isFunction,
  modelCall: isFunction,
  output: isFunction,
  toolCall: isFunction,
  toolResult: isFunction,
};

type Action = GuardrailVerdict['action'];

/** The value that a guardrail checks, for each point. */
export interface GuardrailChecks {
  readonly input: InputCheck;
  readonly modelCall: ModelCallCheck;
  readonly output: OutputCheck;
  readonly toolCall: ToolCallCheck;
  readonly toolResult: ToolResultCheck;
}

/**
 * The allowed decisions for each point. Only a tool call can wait for a person, and a model call
 * has no value to replace.
 */
const legalActions: { readonly [Point in GuardrailPoint]: readonly Action[] } = deepFreeze({
  input: ['proceed', 'deny', 'guide', 'transform'],
  modelCall: ['proceed', 'deny', 'guide'],
  output: ['proceed', 'deny', 'guide', 'transform'],
  toolCall: ['proceed', 'deny', 'guide', 'confirm', 'transform'],
  toolResult: ['proceed', 'deny', 'guide', 'transform'],
});

/** The data of a `decision` event of a guardrail. It never holds the checked value. */
export interface GuardrailDecision {
  readonly component: 'guardrail';
  readonly decision: Exclude<Action, 'proceed'>;
  readonly reasoning: string;
  readonly alternatives: readonly string[];
  readonly data: DataOf<'guardrail', Exclude<Action, 'proceed'>>;
  /** Guidance that has no result of a tool to stand beside. */
  readonly tell?: string;
}

/** The joint decision of all guardrails of one point. */
export interface GuardrailOutcome {
  /**
   * The value to continue with: the text, the arguments of the call, the content of the result;
   * `null` for a model call.
   */
  readonly value: JsonValue;
  readonly denied?: { readonly guardrail: string; readonly message: string };
  /**
   * Notes to the model. For calls and results they belong into `notes`; elsewhere `tell` of the
   * decisions has them.
   */
  readonly guidance: readonly string[];
  readonly confirm?: { readonly guardrail: string; readonly summary: string };
  readonly decisions: readonly GuardrailDecision[];
}

/** The guardrails that look at a point; the same empty list when none does. */
export function guardrailsAt(
  guardrails: readonly Guardrail[],
  point: GuardrailPoint,
): readonly Guardrail[] {
  return guardrails.some((one) => one[point] !== undefined)
    ? guardrails.filter((one) => one[point] !== undefined)
    : none;
}

const none: readonly never[] = Object.freeze([]);

/**
 * Asks guardrails in order. Each sees the value after those before it; the first refusal ends it. A
 * guardrail that throws, or decides something that is not allowed here, refuses: an unchecked value
 * does not pass.
 */
export function applyGuardrails<Point extends GuardrailPoint>(
  point: Point,
  guardrails: readonly Guardrail[],
  check: GuardrailChecks[Point],
): GuardrailOutcome {
  let value = checkedValue(point, check);
  let current = check;
  let outcome:
    | {
        guidance: string[];
        decisions: GuardrailDecision[];
        confirm?: NonNullable<GuardrailOutcome['confirm']>;
      }
    | undefined;
  for (const guardrail of guardrails) {
    const look = guardrail[point] as
      | ((check: GuardrailChecks[Point]) => GuardrailVerdict | undefined)
      | undefined;
    if (look === undefined) continue;
    const verdict = verdictOf(point, guardrail, look, current);
    if (verdict === undefined || verdict.action === 'proceed') continue;
    outcome ??= { guidance: [], decisions: [] };
    outcome.decisions.push(decisionOf(point, guardrail.name, verdict, check));
    if (verdict.action === 'deny')
      return { value, ...outcome, denied: { guardrail: guardrail.name, message: verdict.message } };
    if (verdict.action === 'guide') outcome.guidance.push(verdict.message);
    if (verdict.action === 'confirm') {
      outcome.confirm ??= {
        guardrail: guardrail.name,
        summary: verdict.summary ?? `"${guardrail.name}" wants this call to be confirmed.`,
      };
    }
    if (verdict.action === 'transform') {
      value = verdict.value;
      current = withValue(point, current, value);
    }
  }
  return outcome === undefined ? { value, guidance: none, decisions: none } : { value, ...outcome };
}

function checkedValue<Point extends GuardrailPoint>(
  point: Point,
  check: GuardrailChecks[Point],
): JsonValue {
  if (point === 'modelCall') return null;
  if (point === 'toolCall') return (check as ToolCallCheck).args;
  return point === 'toolResult'
    ? (check as ToolResultCheck).result.content
    : (check as InputCheck).text;
}

function withValue<Point extends GuardrailPoint>(
  point: Point,
  check: GuardrailChecks[Point],
  value: JsonValue,
): GuardrailChecks[Point] {
  if (point === 'toolCall') return { ...check, args: value };
  if (point === 'toolResult')
    return { ...check, result: { ...(check as ToolResultCheck).result, content: value } };
  return { ...check, text: value };
}

interface Verdict {
  readonly action: 'proceed' | 'deny' | 'guide' | 'confirm' | 'transform';
}

const couldNotCheck = 'This could not be checked, so it is refused.';

function verdictOf<Point extends GuardrailPoint>(
  point: Point,
  { name }: Guardrail,
  look: (check: GuardrailChecks[Point]) => GuardrailVerdict | undefined,
  check: GuardrailChecks[Point],
): GuardrailVerdict | undefined {
  let verdict: GuardrailVerdict | undefined;
  try {
    verdict = look(check);
  } catch (error) {
    // Only the kind of the error: its message may quote the value.
    const kind = error instanceof Error ? error.name : typeof error;
    return {
      action: 'deny',
      message: couldNotCheck,
      reasoning: `The guardrail "${name}" failed with ${kind}; what it cannot check is refused.`,
    };
  }
  if (verdict === undefined || verdict === null) return undefined;
  const defect = defectOf(point, verdict);
  if (defect === undefined) return verdict;
  return {
    action: 'deny',
    message: couldNotCheck,
    reasoning: `The guardrail "${name}" gave ${defect}; what is not checked rightly is refused.`,
  };
}

/** The fault of a verdict, to follow "gave". */
function defectOf(
  point: GuardrailPoint,
  verdict: Verdict & { message?: unknown; summary?: unknown; value?: unknown },
): string | undefined {
  const { action } = verdict;
  if (!legalActions.input.includes(action) && action !== 'confirm')
    return 'something that is no verdict';
  if (!legalActions[point].includes(action))
    return `the verdict "${action}", which is not possible at "${point}"`;
  if ((action === 'deny' || action === 'guide') && typeof verdict.message !== 'string')
    return `the verdict "${action}" without a message`;
  if (action === 'confirm' && verdict.summary !== undefined && typeof verdict.summary !== 'string')
    return 'a summary that is no text';
  if (action !== 'transform') return undefined;
  if (verdict.value === undefined || findJsonDefect(verdict.value) !== undefined)
    return 'a value that is not JSON';
  return (point === 'input' || point === 'output') && typeof verdict.value !== 'string'
    ? 'a value that is no text'
    : undefined;
}

const nouns: { readonly [Point in GuardrailPoint]: string } = {
  input: 'the message',
  modelCall: 'the model call',
  output: 'the answer',
  toolCall: 'the call of the tool',
  toolResult: 'the result of the tool',
};

const consequences: {
  readonly [Decision in Exclude<Action, 'proceed'>]: (noun: string) => string;
} = {
  deny: (noun) => `refused ${noun}`,
  guide: (noun) => `let ${noun} pass and had the model told something`,
  confirm: (noun) => `wants a person to confirm ${noun}`,
  transform: (noun) => `changed ${noun}`,
};

function decisionOf<Point extends GuardrailPoint>(
  point: Point,
  guardrail: string,
  verdict: Exclude<GuardrailVerdict, { action: 'proceed' }>,
  check: GuardrailChecks[Point],
): GuardrailDecision {
  const tool = 'name' in check ? check.name : undefined;
  const noun = tool === undefined ? nouns[point] : `${nouns[point]} "${tool}"`;
  const others = legalActions[point].filter((action) => action !== verdict.action);
  const hasNotes = point === 'toolCall' || point === 'toolResult';
  return {
    component: 'guardrail',
    decision: verdict.action,
    reasoning:
      verdict.reasoning ?? `The guardrail "${guardrail}" ${consequences[verdict.action](noun)}.`,
    alternatives: others,
    data: { point, guardrail, ...defined({ tool }), round: check.round },
    ...(verdict.action === 'guide' && !hasNotes ? { tell: verdict.message } : {}),
  };
}
