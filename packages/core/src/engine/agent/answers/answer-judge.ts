import { type ErrorRecord, toErrorRecord } from '../../../base/error.ts';
import { findJsonDefect, type JsonValue } from '../../../base/json.ts';
import { cutText } from '../../../base/text/cut-text.ts';
import { untilAborted } from '../../../effects/until-aborted.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { visibleValues } from '../../../ledger/folds/state-fold.ts';
import type { Position } from '../../../loop/position.ts';
import { findJson } from '../../../models/json-text.ts';
import type { Agent } from '../../../runnables/agent.ts';
import type { GoalContext, GoalVerdict, ResolvedGoal } from '../../../runnables/goal.ts';
import type { AgentOutput } from '../../../runnables/output.ts';
import { checkValue, type ValueCheck } from '../../../tools/validate.ts';
import { explainIssues, explainPlaces } from '../../../tools/validation-issue.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { castAnswer } from './cast-answer.ts';

/** Most repairs in one invocation: a new answer is requested for one that does not fit. */
const mostRepairs = 2;
/** Most characters of the schema in a message that asks for a new answer. */
const longestSchema = 16_000;

/** Answer that is checked before it is recorded. */
export interface JudgedAnswer {
  readonly text: string;
  readonly hasToolCalls: boolean;
  /** True for the last answer: no other round follows it. */
  readonly final: boolean;
  /** True when the provider cut the answer off at the token limit of an answer. */
  readonly isCutOff?: boolean;
}

/** Parsed value and decisions that are recorded with an answer. */
export interface Judgement {
  readonly parsed?: JsonValue;
  readonly decisions: readonly EventDraft[];
}

/** Value of an answer, or its defect: `wrong` for the model, `inShort` without values. */
type Reading = { readonly value: JsonValue } | { readonly wrong: string; readonly inShort: string };

const nothingToSay: Judgement = Object.freeze({ decisions: Object.freeze([]) });

/** Judge of the answers of an agent: by its output schema first, then by its goal. */
export class AnswerJudge {
  readonly #agent: Agent;
  readonly #frame: BodyFrame;
  readonly #position: Position;

  constructor(parts: {
    readonly agent: Agent;
    readonly frame: BodyFrame;
    readonly position: Position;
  }) {
    this.#agent = parts.agent;
    this.#frame = parts.frame;
    this.#position = parts.position;
  }

  /** True when the agent has an output schema or a goal check. */
  get isNeeded(): boolean {
    return this.#agent.output?.schema !== undefined || this.#agent.goal?.check !== undefined;
  }

  /**
   * Judges an answer by the schema and the goal. An agent that is stopped meanwhile gets no
   * objection to its answer.
   */
  async judge(answer: JudgedAnswer): Promise<Judgement> {
    const { output, goal } = this.#agent;
    // An answer with tool calls, or one with new messages after its prompt, is not the last. Tool
    // calls of a last answer are not made.
    if (!answer.final && (answer.hasToolCalls || this.#isInterrupted())) return nothingToSay;
    const reading =
      output?.schema === undefined
        ? { value: answer.text }
        : await this.#readInTime(answer, output);
    if (reading === undefined) return nothingToSay;
    if ('wrong' in reading) return { decisions: [this.#refused(reading, answer, output)] };
    const decisions =
      goal?.check === undefined ? [] : await this.#measured(goal, reading.value, answer);
    return output?.schema === undefined ? { decisions } : { parsed: reading.value, decisions };
  }

  #isInterrupted(): boolean {
    return this.#position.ending.stopReason === undefined && this.#position.turn.unseen > 0;
  }

  /**
   * Reads an answer by its schema, which may check asynchronously and never end. Returns
   * `undefined` when the agent was stopped meanwhile.
   */
  async #readInTime(answer: JudgedAnswer, output: AgentOutput): Promise<Reading | undefined> {
    const { run, scope } = this.#frame;
    return (await untilAborted(this.#read(answer, output), { scope, clock: run.app.clock }))?.value;
  }

  async #read({ text, isCutOff }: JudgedAnswer, output: AgentOutput): Promise<Reading> {
    if (output.form === 'text') return checkedBy(output, [text]);
    if (output.form !== 'json') {
      const value = castAnswer(text, output.form);
      const wanted = output.form === 'number' ? 'one number' : 'either true or false';
      if (value === undefined)
        return {
          wrong: `Your answer must be ${wanted} and nothing else.`,
          inShort: `it is not ${wanted}`,
        };
      return checkedBy(output, [value]);
    }
    // JSON that was cut off is not repaired: its missing part is unknown.
    const found = isCutOff === true ? parsed(text) : await findJson(text);
    if (found === undefined && isCutOff === true) {
      return {
        wrong:
          'Your answer was cut off, because it was longer than an answer may be. Make it shorter.',
        inShort: 'it was cut off',
      };
    }
    if (found === undefined)
      return { wrong: 'There is no JSON in your answer.', inShort: 'there is no JSON in it' };
    return checkedBy(output, candidates(found, output));
  }

  #refused(
    { wrong, inShort }: Extract<Reading, { wrong: string }>,
    { final }: JudgedAnswer,
    output: AgentOutput | undefined,
  ): EventDraft {
    const { path: invocationId } = this.#frame.record;
    const { answer, ending } = this.#position;
    const { repairs } = answer;
    const { stopReason } = ending;
    const { name } = this.#agent;
    const problem = `The answer of "${name}" does not fit: ${inShort}.`;
    const tell = `${wrong}\n${howToAnswer(output)}`;
    if (!final && stopReason === undefined && repairs < mostRepairs) {
      const reasoning = `${problem} It is asked for again, time ${repairs + 1} of ${mostRepairs}.`;
      return decision('output', 'repair', {
        invocationId,
        reasoning,
        alternatives: ['fail with validation_error'],
        tell,
        data: { repairs: repairs + 1 },
      });
    }
    const why =
      final || stopReason !== undefined
        ? 'no round is left to ask for it again'
        : `it was asked for again ${mostRepairs} times`;
    const error = outputFailure(
      `The answer of "${name}" does not have the form that is asked for: ${inShort}`,
      name,
    );
    // The model reads `tell` only when the agent is reopened.
    return decision('output', 'invalid', {
      invocationId,
      reasoning: `${problem} The agent fails: ${why}.`,
      tell,
      data: { failure: { ...error } },
    });
  }

  /** Returns the decisions of the goal check about an answer that has the right form. */
  async #measured(
    goal: ResolvedGoal,
    value: JsonValue,
    { final }: JudgedAnswer,
  ): Promise<readonly EventDraft[]> {
    const { path: invocationId } = this.#frame.record;
    const { answer, ending } = this.#position;
    const { goalRounds } = answer;
    const { stopReason } = ending;
    const reason = await this.#whyNot(goal, value);
    if (reason === undefined) return [];
    const data = { reason, rounds: goalRounds };
    const problem =
      `The check of the goal of "${this.#agent.name}" is not content with its answer: ` +
      `${asSentence(reason)}`;
    if (!final && stopReason === undefined && goalRounds < goal.attempts) {
      const reasoning = `${problem} It gets another round, ${goalRounds + 1} of ${goal.attempts}.`;
      const tell =
        `Your answer is not good enough yet: ${asSentence(reason)}\nContinue, and answer ` +
        'again in full.';
      return [
        decision('goal', 'again', {
          invocationId,
          reasoning,
          alternatives: ['let the answer stand, with the stop reason goal_unmet'],
          tell,
          data,
        }),
      ];
    }
    const why =
      final || stopReason !== undefined
        ? 'no round is left'
        : `${goal.attempts} more rounds are used up`;
    return [
      decision('goal', 'unmet', {
        invocationId,
        reasoning: `${problem} The answer stands all the same: ${why}.`,
        data,
      }),
    ];
  }

  async #whyNot(goal: ResolvedGoal, value: JsonValue): Promise<string | undefined> {
    const checking = Promise.withResolvers<GoalVerdict>();
    const { scope } = this.#frame;
    const forget = scope.onAbort((reason) => checking.reject(reason));
    (async () => (await goal.check?.(value, this.#context())) ?? true)().then(
      checking.resolve,
      checking.reject,
    );
    try {
      return reasonOf(await checking.promise);
    } catch (thrown) {
      // The agent ends, so the verdict is not needed any more.
      if (scope.aborted) return undefined;
      return `its check failed: ${toErrorRecord(thrown).message}`;
    } finally {
      forget();
    }
  }

  #context(): GoalContext {
    const { run, record, scope } = this.#frame;
    const { ledger, session } = run;
    const state: Record<string, Readonly<Record<string, unknown>>> = {
      session: visibleValues(ledger.state, 'session', record.path),
    };
    for (const shared of session.shared.names) state[shared] = visibleValues(ledger.state, shared);
    const { goalRounds } = this.#position.answer;
    return {
      agent: this.#agent.name,
      invocationId: record.path,
      attempt: goalRounds + 1,
      state,
      session,
      signal: scope.signal,
    };
  }
}

/**
 * Reads a tool result that is the final answer by the output schema.
 * @returns the value that the schema makes of it, or the error of the agent when it does not fit
 */
export async function readResult(
  { output, name }: Agent,
  value: JsonValue,
): Promise<{ readonly value: JsonValue } | { readonly error: ErrorRecord }> {
  if (output?.schema === undefined) return { value };
  const reading = await checkedBy(output, [value]);
  return 'value' in reading
    ? reading
    : {
        error: outputFailure(
          `The tool result that "${name}" was to answer with does not fit: ${reading.inShort}`,
          name,
        ),
      };
}

/**
 * Returns the value of the first candidate that fits the schema. If none fits, the defect is that
 * of the first candidate.
 */
async function checkedBy(
  { schema }: AgentOutput,
  candidates: readonly JsonValue[],
): Promise<Reading> {
  let wrong: Reading | undefined;
  for (const candidate of candidates) {
    const checked =
      schema === undefined ? { value: candidate } : await checkValue(schema, candidate);
    const reading = readingOf(checked, 'Your answer does not have the form that is asked for');
    if ('value' in reading) return reading;
    wrong ??= reading;
  }
  return wrong ?? { wrong: 'There is no answer.', inShort: 'there is none' };
}

/** Returns the error of an agent whose answer does not have the requested form. */
export function outputFailure(message: string, agent: string): ErrorRecord {
  return { name: 'OutputError', code: 'validation_error', message: `${message}.`, data: { agent } };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * Returns the possible values of an answer. A model that should wrap its answer in `value` may give
 * it bare.
 */
function candidates(found: JsonValue, { isWrapped }: AgentOutput): readonly JsonValue[] {
  const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
  if (!isWrapped || !isObject || !Object.hasOwn(found, 'value')) return [found];
  return [(found as { readonly value: JsonValue }).value, found];
}

function readingOf(checked: ValueCheck, subject: string): Reading {
  if ('unusable' in checked)
    return { wrong: `${subject}.`, inShort: `${checked.unusable.replace(/\.$/, '')}` };
  if ('issues' in checked)
    return {
      wrong: explainIssues(subject, checked.issues),
      inShort: explainPlaces(checked.issues),
    };
  const defect = findJsonDefect(checked.value);
  if (defect === undefined && checked.value !== undefined)
    return { value: checked.value as JsonValue };
  const inShort =
    `the schema makes ${defect?.found ?? 'nothing'} of it at ${defect?.path ?? '$'}, which ` +
    'is not JSON';
  return { wrong: `${subject}: ${inShort}.`, inShort };
}

/** Returns the reason of a verdict against the answer; `undefined` when the goal is reached. */
function reasonOf(verdict: unknown): string | undefined {
  if (typeof verdict === 'string') return verdict === '' ? noReason : verdict;
  if (typeof verdict !== 'object' || verdict === null)
    return verdict === true ? undefined : noReason;
  const { ok, reason } = verdict as { readonly ok?: unknown; readonly reason?: unknown };
  if (ok === true) return undefined;
  return typeof reason === 'string' && reason !== '' ? reason : noReason;
}

const noReason = 'it does not reach the goal.';

function howToAnswer(output: AgentOutput | undefined): string {
  if (output?.asked === undefined) return 'Answer again.';
  const schema = JSON.stringify(output.asked);
  const shown = schema.length > longestSchema ? `${cutText(schema, longestSchema)}…` : schema;
  return `Answer again with nothing but JSON that fits this JSON Schema:\n${shown}`;
}

/** Returns a reason with a full stop: many reasons are written without one. */
function asSentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}
