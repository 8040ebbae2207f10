import { checkOptions } from '../../base/invalid-option.ts';
import { isNonEmptyText, isOneOf, type OptionChecks } from '../../base/options.ts';
import type { ExpectedToolCall } from '../dataset/eval-case.ts';
import { patternMismatch, shown, shownPattern } from '../dataset/value-pattern.ts';
import { expectedUnits, meanOfUnits } from './expected-units.ts';
import { isShare } from './own-scorer.ts';
import { inOrderPairs, mostPairs, type Pairing } from './pairing.ts';
import type { Score, Scorer, TrialToolCall } from './scorer.ts';

export interface ToolTrajectoryOptions {
  /** @default 'tool_trajectory' */
  readonly name?: string;
  /**
   * `exact`: the expected calls in their order, and no others. `in_order`: the expected calls in
   * their order, others may be between them. `any_order`: the expected calls in any order, and
   * others. `subset`: no call that is not expected; not all of them need to be made.
   * @default 'exact'
   */
  readonly match?: 'exact' | 'in_order' | 'any_order' | 'subset';
  /**
   * `exact`: the expected arguments and no others. `partial`: there may be more. `ignore`: only
   * names count. An expected call can say otherwise for itself. @default 'exact'
   */
  readonly args?: 'exact' | 'partial' | 'ignore';
  /**
   * Only calls of the agent with this name count; else also those of agents that it calls. @default
   * all
   */
  readonly agent?: string;
  /** The least score that passes. @default 1 */
  readonly threshold?: number;
}

const checks: OptionChecks<ToolTrajectoryOptions> = {
  name: isNonEmptyText,
  match: isOneOf('exact', 'in_order', 'any_order', 'subset'),
  args: isOneOf('exact', 'partial', 'ignore'),
  agent: isNonEmptyText,
  threshold: isShare,
};

type Match = NonNullable<ToolTrajectoryOptions['match']>;
type Args = NonNullable<ToolTrajectoryOptions['args']>;

/**
 * Compares the tool calls with those that a case expects, in `expect.tools` of its turns or of the
 * case.
 * The score is the share of calls that fit: of the longer of both lists with `exact`, of the
 * expected calls with `in_order` and `any_order`, of the calls that were made with `subset`.
 * @throws InvalidOptionError
 */
export function toolTrajectory(options: ToolTrajectoryOptions = {}): Scorer {
  checkOptions('toolTrajectory', options, checks);
  const {
    name = 'tool_trajectory',
    match = 'exact',
    args = 'exact',
    agent,
    threshold = 1,
  } = options;
  return Object.freeze({
    name,
    threshold,
    score: (trial: Parameters<Scorer['score']>[0]) =>
      meanOfUnits(
        expectedUnits(trial, (expect) => expect.tools !== undefined),
        ({ expect, toolCalls }) => {
          const made =
            agent === undefined ? toolCalls : toolCalls.filter((call) => call.agent === agent);
          return compare(expect.tools ?? [], made, match, args);
        },
      ),
  });
}

function compare(
  expected: readonly ExpectedToolCall[],
  made: readonly TrialToolCall[],
  match: Match,
  args: Args,
): Score {
  const fits = (i: number, j: number): boolean =>
    misfit(expected[i] as ExpectedToolCall, made[j] as TrialToolCall, args) === undefined;
  const keepsOrder = match === 'exact' || match === 'in_order';
  const pairs = (keepsOrder ? inOrderPairs : mostPairs)(expected.length, made.length, fits);
  const of = {
    exact: Math.max(expected.length, made.length),
    in_order: expected.length,
    any_order: expected.length,
    subset: made.length,
  }[match];
  const score = of === 0 ? 1 : pairs.length / of;
  const missing =
    match === 'subset' ? [] : expected.filter((_, i) => !pairs.some((pair) => pair.left === i));
  const extra =
    match === 'exact' || match === 'subset'
      ? made.filter((_, j) => !pairs.some((pair) => pair.right === j))
      : [];
  return {
    score,
    explanation: explain({ expected, made, pairs, missing, extra, args, keepsOrder }),
  };
}

interface Comparison {
  readonly expected: readonly ExpectedToolCall[];
  readonly made: readonly TrialToolCall[];
  readonly pairs: readonly Pairing[];
  readonly missing: readonly ExpectedToolCall[];
  readonly extra: readonly TrialToolCall[];
  readonly args: Args;
  readonly keepsOrder: boolean;
}

function explain({ expected, made, pairs, missing, extra, args, keepsOrder }: Comparison): string {
  if (missing.length === 0 && extra.length === 0) {
    return made.length === 0
      ? 'No tool was called, as expected.'
      : `The calls are as expected: ${made.map(({ name }) => name).join(', ')}.`;
  }
  const free = made.filter((_, j) => !pairs.some((pair) => pair.right === j));
  const parts = missing.map(
    (call) =>
      `Expected ${expectedText(call)}: ${whyMissing(call, { made, free, args, keepsOrder })}.`,
  );
  const unexpected = extra.filter((call) => !missing.some(({ name }) => name === call.name));
  if (unexpected.length > 0)
    parts.push(
      `Not expected: ${unexpected.map((call) => `${call.name}(${shown(call.args)})`).join(', ')}.`,
    );
  else if (parts.length === 0)
    parts.push(
      'Not expected so often: ' +
        `${extra.map((call) => `${call.name}(${shown(call.args)})`).join(', ')}.`,
    );
  const list = made.length === 0 ? 'no tool' : made.map(({ name }) => name).join(', ');
  return (
    `${parts.join(' ')} ${pairs.length} of ${expected.length} expected calls fit; called: ` +
    `${list}.`
  );
}

function expectedText({ name, args }: ExpectedToolCall): string {
  return args === undefined ? name : `${name}(${shownPattern(args)})`;
}

interface WhyParts extends Pick<Comparison, 'made' | 'args' | 'keepsOrder'> {
  /** Calls that stand for no expected one. */
  readonly free: readonly TrialToolCall[];
}

function whyMissing(call: ExpectedToolCall, { made, free, args, keepsOrder }: WhyParts): string {
  const near = free.find(({ name }) => name === call.name);
  const reason = near === undefined ? undefined : misfit(call, near, args);
  if (reason !== undefined) return reason;
  if (near !== undefined && keepsOrder) return 'it was called, but not in this place';
  return made.some(({ name }) => name === call.name)
    ? 'it was not called as often'
    : 'it was not called';
}

/** Returns the reason why a call is not the expected one; `undefined` when it is. */
function misfit(expected: ExpectedToolCall, made: TrialToolCall, args: Args): string | undefined {
  if (expected.name !== made.name) return `${made.name} was called`;
  if (expected.args === undefined || (args === 'ignore' && expected.match === undefined))
    return undefined;
  const match = expected.match ?? (args === 'ignore' ? 'exact' : args);
  return patternMismatch(expected.args, made.args, match);
}
