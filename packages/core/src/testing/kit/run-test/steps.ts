import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { TestClock } from '../../../base/clocks/test-clock.ts';
import { findJsonDefect, type JsonValue } from '../../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isFunction,
  isNonEmptyText,
  isNotNegative,
  isObject,
  isText,
  type OptionCheck,
  type OptionChecks,
} from '../../../base/options.ts';
import type { EventToPublish } from '../../../effects/publish/published-event.ts';
import { isStandingExtent } from '../../../engine/frame/standing-extent.ts';
import type { RequestAnswer } from '../../../engine/requests/check.ts';
import type { RunResult } from '../../../engine/run/run.ts';
import type { RequestDecision } from '../../../ledger/event.ts';
import type { Runtime } from '../../../runtime.ts';
import type { PendingRequest } from '../../../session/pending-request.ts';
import type { Session } from '../../../session/session.ts';
import { responseProblem, type ScriptedResponse } from '../scripted-response.ts';
import { InvalidTestError } from './errors.ts';

/** A model call of the run under test. */
export interface TestModelCall {
  /** Name of the agent that asks. */
  readonly agent: string;
  readonly invocationId: string;
  /** `provider:model` of the agent's definition; it is not called. */
  readonly model: string;
  readonly prompt: LanguageModelV4Prompt;
  /** Everything that the model would get: tools, settings, response format. */
  readonly options: LanguageModelV4CallOptions;
}

/** A response, its text alone, or a function that makes it of the call. */
export type ModelAnswerStep =
  | ScriptedResponse
  | string
  | ((call: TestModelCall) => ScriptedResponse | string);

export interface OfAgent {
  /**
   * Name of the agent whose call is answered.
   * @default the only one that waits
   */
  readonly agent?: string;
}

/** The request that is answered, of those that wait, and the actor that answers it. */
export interface AnswerChoice {
  /** @default the only request that waits */
  readonly tool?: string;
  /** Arguments that the call has, among others. @default any */
  readonly args?: { readonly [name: string]: JsonValue };
  /** An actor like `user:ann`, or the id of a user. @default 'user' */
  readonly by?: string;
  readonly reason?: string;
  /** Later calls that an approval allows as well, as in `app.requests.approve`. @default none */
  readonly always?: RequestAnswer['always'];
}

/**
 * The result of a tool in a test: a value, an error that it throws, or a function of its arguments.
 */
export type MockedResult = JsonValue | Error | object | ((args: never) => unknown);

export interface CrashPlace {
  /**
   * Stops the process when this tool is about to run: its attempt is recorded, and the tool does
   * nothing.
   */
  readonly before?: string;
  /**
   * Stops the process when this tool has run: its effect has happened, and its result is not
   * recorded.
   */
  readonly after?: string;
}

/**
 * One step of a test, made by `user`, `model`, `input`, `result`, `approve`, `reject`, `edit`,
 * `answer`, `crash`, `advanceTime`, `publish`, `fire`, `expectPrompt` or `meanwhile`.
 */
export type TestStep =
  | { readonly kind: 'user'; readonly text: string; readonly data: JsonValue | undefined }
  | {
      readonly kind: 'model';
      readonly response: ModelAnswerStep;
      readonly agent: string | undefined;
    }
  | {
      readonly kind: 'input';
      readonly values: Readonly<Record<string, JsonValue>>;
      readonly by: string | undefined;
    }
  | { readonly kind: 'result'; readonly values: Readonly<Record<string, MockedResult>> }
  | {
      readonly kind: 'answer';
      readonly decision: RequestDecision;
      readonly choice: AnswerChoice;
      readonly input: JsonValue | undefined;
    }
  | { readonly kind: 'crash'; readonly place: CrashPlace }
  | { readonly kind: 'advanceTime'; readonly ms: number }
  | { readonly kind: 'publish'; readonly event: EventToPublish }
  | { readonly kind: 'fire'; readonly trigger: string; readonly key: string | undefined }
  | {
      readonly kind: 'expectPrompt';
      readonly expect: ExpectPrompt;
      readonly agent: string | undefined;
    }
  | { readonly kind: 'meanwhile'; readonly act: Meanwhile };

/** The state of a test between two steps, when nothing happens by itself any more. */
export interface TestMoment {
  /** The runtime of the process that runs the test. */
  readonly app: Runtime;
  readonly session: Session;
  readonly clock: TestClock;
  /** The calls that wait for an answer, in the order in which they were asked for. */
  readonly pending: readonly PendingRequest[];
  /** The result of the run, also of one that waits; `undefined`: it is under way. */
  readonly result: RunResult | undefined;
}

export type Meanwhile = (moment: TestMoment) => unknown;

export type ExpectPrompt = (
  prompt: LanguageModelV4Prompt,
  call: TestModelCall,
) => void | Promise<void>;

/** @throws InvalidTestError */
export function refuseStep(what: string, reason: string): never {
  throw new InvalidTestError({ what, reason });
}

/** @throws InvalidTestError */
export function checkStepOptions<Options>(
  what: string,
  options: unknown,
  checks: OptionChecks<Options>,
): void {
  const invalid = findInvalidOption(options, checks);
  if (invalid !== undefined) refuseStep(what, invalid.reason);
}

const isJson: OptionCheck = (value) => (findJsonDefect(value) === undefined ? undefined : 'JSON');
const ofAgent: OptionChecks<OfAgent> = { agent: isNonEmptyText };

/**
 * Sends a message to the agent. It starts a run, continues a loop or an agent that waits, or
 * reaches the run under way.
 * @param options `data` is further input of a run that is started, for agents with an `input`
 * schema
 */
export function user(text: string, options: { readonly data?: JsonValue } = {}): TestStep {
  if (isText(text) !== undefined)
    refuseStep('user()', `it takes a text, not ${describeValue(text)}`);
  checkStepOptions('user()', options, { data: isJson });
  return { kind: 'user', text, data: options.data };
}

/**
 * Answers the model call that waits. Without `agent`, only one agent may wait: the order of several
 * agents depends on chance. Several calls of one agent are answered in the order in which they were
 * made.
 */
export function model(response: ModelAnswerStep, options: OfAgent = {}): TestStep {
  checkStepOptions('model()', options, ofAgent);
  if (typeof response !== 'string' && typeof response !== 'function') {
    const problem = responseProblem(response);
    if (problem !== undefined) refuseStep('model()', problem);
  }
  return { kind: 'model', response, agent: options.agent };
}

/**
 * Gives tools, by their names, the input or the result that they wait for. A tool with a
 * `yieldSchema` gets its input; an operation that a tool began with `pending()` gets its result.
 */
export function input(
  values: { readonly [tool: string]: JsonValue },
  options: { readonly by?: string } = {},
): TestStep {
  checkValues('input()', values);
  checkStepOptions('input()', options, { by: isNonEmptyText });
  for (const [tool, value] of Object.entries(values))
    if (findJsonDefect(value) !== undefined)
      refuseStep('input()', `the input for ${tool} must be JSON`);
  return { kind: 'input', values, by: options.by };
}

/**
 * Gives the results of called tools, by their names, without running their `execute`: one open call
 * of each. Everything before it (checks, approvals, input) and after it (output schema, `finalize`,
 * supervision) is as always.
 */
export function result(values: { readonly [tool: string]: MockedResult }): TestStep {
  checkValues('result()', values);
  return { kind: 'result', values };
}

function checkValues(what: string, values: unknown): void {
  if (isObject(values) !== undefined)
    refuseStep(
      what,
      `it takes an object with values by the names of tools, not ${describeValue(values)}`,
    );
  if (Object.keys(values as object).length === 0) refuseStep(what, 'it names no tool');
  for (const [tool, value] of Object.entries(values as object))
    if (value === undefined)
      refuseStep(what, `there is no value for ${tool}: give null if it has none`);
}

const isArgs: OptionCheck = (value) => isObject(value) ?? isJson(value);
const choiceChecks: OptionChecks<AnswerChoice> = {
  tool: isNonEmptyText,
  args: isArgs,
  by: isNonEmptyText,
  reason: isText,
  always: isStandingExtent,
};

function answered(
  what: string,
  decision: RequestDecision,
  choice: AnswerChoice | string,
  given?: JsonValue,
): TestStep {
  const chosen = typeof choice === 'string' ? { tool: choice } : choice;
  checkStepOptions(what, chosen, choiceChecks);
  return { kind: 'answer', decision, choice: chosen, input: given };
}

/** Approves a call that waits: the only one, or the first of a tool. */
export function approve(choice: AnswerChoice | string = {}): TestStep {
  return answered('approve()', 'approve', choice);
}

/** Rejects a call that waits for approval: the only one, or the first of a tool. */
export function reject(choice: AnswerChoice | string = {}): TestStep {
  return answered('reject()', 'reject', choice);
}

/** Approves a call with other arguments: `edit({ pay: { cents: 5 } })`. */
export function edit(
  values: { readonly [tool: string]: JsonValue },
  choice: Omit<AnswerChoice, 'tool'> = {},
): TestStep {
  checkValues('edit()', values);
  const [[tool, args] = ['', null], ...more] = Object.entries(values);
  if (more.length > 0)
    refuseStep(
      'edit()',
      'it takes the arguments of one call under the name of its tool, { tool: args }; make ' +
        'a step for each call',
    );
  if (findJsonDefect(args) !== undefined)
    refuseStep('edit()', `the arguments for ${tool} must be JSON`);
  checkStepOptions('edit()', choice, { args: isArgs, by: isNonEmptyText, reason: isText });
  return answered('edit()', 'edit', { ...choice, tool }, args);
}

/**
 * Answers any other request: about a call whose outcome is unknown (`succeeded`, `retry`,
 * `report`), or about a run at a limit (`continue`, `report`).
 */
export function answer(
  decision: RequestDecision,
  choice: (AnswerChoice & { readonly input?: JsonValue }) | string = {},
): TestStep {
  if (isNonEmptyText(decision) !== undefined)
    refuseStep('answer()', `it takes a decision such as 'retry', not ${describeValue(decision)}`);
  const { input: given, ...rest } =
    typeof choice === 'string' ? { tool: choice, input: undefined } : choice;
  if (given !== undefined && findJsonDefect(given) !== undefined)
    refuseStep('answer()', '`input` must be JSON');
  return answered('answer()', decision, rest, given);
}

/**
 * Stops the process as a kill does, and continues in a new one from the store. The old one writes
 * nothing more, and its lease is not waited for. Without a place, the process stops where the run
 * waits, after the effects of all earlier steps.
 */
export function crash(place: CrashPlace = {}): TestStep {
  checkStepOptions<CrashPlace>('crash()', place, { before: isNonEmptyText, after: isNonEmptyText });
  if (place.before !== undefined && place.after !== undefined)
    refuseStep('crash()', 'it happens `before` a tool runs or `after` it, not both');
  return { kind: 'crash', place };
}

/**
 * Lets time pass on the clock of the test: timeouts, delays between attempts, expiries. @param ms
 * milliseconds
 */
export function advanceTime(ms: number): TestStep {
  const expected = isNotNegative(ms);
  if (expected !== undefined)
    refuseStep('advanceTime()', `the milliseconds must be ${expected}, not ${describeValue(ms)}`);
  return { kind: 'advanceTime', ms };
}

/**
 * Checks the prompt of the model call that waits, which the next `model` step answers. An error
 * that `expect` throws fails the test at this step.
 */
export function expectPrompt(expect: ExpectPrompt, options: OfAgent = {}): TestStep {
  if (isFunction(expect) !== undefined)
    refuseStep('expectPrompt()', `it takes a function, not ${describeValue(expect)}`);
  checkStepOptions('expectPrompt()', options, ofAgent);
  return { kind: 'expectPrompt', expect, agent: options.agent };
}

/**
 * Calls a function at this point of the test. It may read the session, answer without the
 * permission to do so, cancel, or let another process act. An error that `act` throws fails the
 * test at this step. A run that waits goes on if something came for it: an answer, a message, a
 * cancel.
 */
export function meanwhile(act: Meanwhile): TestStep {
  if (isFunction(act) !== undefined)
    refuseStep('meanwhile()', `it takes a function, not ${describeValue(act)}`);
  return { kind: 'meanwhile', act };
}

const kinds: ReadonlySet<unknown> = new Set<TestStep['kind']>([
  'user',
  'model',
  'input',
  'result',
  'answer',
  'crash',
  'advanceTime',
  'publish',
  'fire',
  'expectPrompt',
  'meanwhile',
]);

/** @throws InvalidTestError when it is no list of steps */
export function checkSteps(steps: unknown): void {
  if (!Array.isArray(steps))
    refuseStep('runTest()', `the steps must be a list, not ${describeValue(steps)}`);
  for (const [index, step] of (steps as unknown[]).entries()) {
    if (!kinds.has((step as { kind?: unknown } | null | undefined)?.kind))
      refuseStep(
        'runTest()',
        `step ${index + 1} is ${describeValue(step)}, which none of the step functions made`,
      );
  }
}
