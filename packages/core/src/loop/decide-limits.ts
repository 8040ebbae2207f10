import type { StopReason } from '../ledger/event.ts';
import type { ResolvedLimits } from '../runnables/agent.ts';
import {
  type Account,
  type Demand,
  exhaustedLimit,
  isFullyReserved,
  type LimitState,
  nearLimits,
  roomFor,
  warningShare,
} from '../supervision/limits.ts';
import type { Intent } from './intent.ts';
import type { Position } from './position.ts';

/**
 * Budget that an agent shares with other invocations. It covers the agent with its children, its
 * callers and the run.
 */
export interface BudgetView {
  /** Limited accounts: the agent's own first, the run's last. */
  readonly accounts: readonly Account[];
  /** Tokens and cost that the next call needs, set when there was no room for it. */
  readonly demand: Demand | undefined;
  /** Limits of the run for which an agent has already recorded a warning. */
  readonly warned: ReadonlySet<string>;
}

/** Verdict of the limits of an agent before a model call. */
export type LimitVerdict =
  | { readonly type: 'intents'; readonly intents: readonly Intent[] }
  /** Other invocations have reserved the rest of the budget. */
  | { readonly type: 'wait' }
  /** The budget has no room, not even for a last answer. */
  | { readonly type: 'spent' };

interface LimitFrame {
  readonly limits: ResolvedLimits;
  readonly budget: BudgetView;
}

const noneUsed = Object.freeze({ rounds: 0, tokens: 0, cost: 0, errors: 0 });
const waitVerdict: LimitVerdict = Object.freeze({ type: 'wait' });
const spentVerdict: LimitVerdict = Object.freeze({ type: 'spent' });

/** Stop reasons that come from a limit; `onLimit` decides how the agent ends. */
const limitReasons: ReadonlySet<StopReason | undefined> = new Set([
  'round_limit',
  'token_limit',
  'cost_limit',
  'error_limit',
]);

/** Returns the verdict of the limits before a model call; `undefined`: the call may be made. */
export function judgeLimits(position: Position, frame: LimitFrame): LimitVerdict | undefined {
  const { lastRequest } = position.limits;
  const { stopReason } = position.ending;
  // An agent with an open request about a limit waits, even when another agent was granted more.
  if (lastRequest !== undefined && lastRequest.answer === undefined && stopReason === undefined)
    return waitVerdict;
  const exhausted = exhaustedNow(position, frame);
  if (exhausted !== undefined && stopReason === undefined)
    return decideLimit(position, exhausted, frame);
  const fails =
    frame.limits.onLimit === 'fail' && (exhausted !== undefined || limitReasons.has(stopReason));
  if (fails) return { type: 'intents', intents: [failAtLimit(exhausted, stopReason)] };
  return awaitsBudget(position, frame);
}

/** Account of the agent's own rounds and errors, which no other invocation shares. */
function ownAccount(
  { path, model: { rounds }, limits: { errors, granted } }: Position,
  { limits }: LimitFrame,
): Account {
  const more = (limit: number | undefined, reason: StopReason) =>
    limit === undefined ? undefined : limit + (granted.get(reason) ?? 0);
  return {
    of: 'agent',
    path,
    used: { rounds, errors, tokens: 0, cost: 0 },
    reserved: noneUsed,
    limits: {
      rounds: more(limits.rounds, 'round_limit'),
      errors: more(limits.errors, 'error_limit'),
      tokens: undefined,
      cost: undefined,
    },
  };
}

/** True when the agent is near its own limits; most rounds are far from them and skip the check. */
function isNearOwn(
  { model: { rounds }, limits: { errors } }: Position,
  { limits }: LimitFrame,
): boolean {
  return (
    rounds >= limits.rounds * warningShare ||
    (limits.errors !== undefined && errors >= limits.errors * warningShare)
  );
}

function exhaustedNow(position: Position, frame: LimitFrame): LimitState | undefined {
  const { accounts, demand } = frame.budget;
  const own = isNearOwn(position, frame)
    ? exhaustedLimit([ownAccount(position, frame)])
    : undefined;
  const used = own ?? exhaustedLimit(accounts);
  if (used !== undefined || demand === undefined || demand.final) return used;
  const room = roomFor(accounts, demand, false);
  return typeof room === 'number' ? undefined : room;
}

/**
 * Lets a call wait when running calls reserve the room that it needs. No branch is cut short for a
 * budget that another branch reserves but does not use.
 */
function awaitsBudget(
  { ending: { stopReason } }: Position,
  { budget: { accounts, demand } }: LimitFrame,
): LimitVerdict | undefined {
  const isFinal = stopReason !== undefined;
  if (demand === undefined || demand.final !== isFinal)
    return !isFinal && isFullyReserved(accounts) ? waitVerdict : undefined;
  if (typeof roomFor(accounts, demand, true) === 'number') return undefined;
  return typeof roomFor(accounts, demand, false) === 'number' ? waitVerdict : spentVerdict;
}

function failAtLimit(exhausted: LimitState | undefined, declared: StopReason | undefined): Intent {
  const reason = exhausted?.reason ?? (declared as StopReason);
  const code = reason === 'round_limit' ? 'step_limit_exceeded' : 'budget_exceeded';
  const numbers =
    exhausted === undefined ? '' : `: ${exhausted.used} of ${exhausted.limit} are used`;
  const needed =
    exhausted?.needed === undefined ? '' : `, and the next call may need ${exhausted.needed}`;
  const message = `The ${reason.replace('_', ' ')} is reached${numbers}${needed}.`;
  return { type: 'fail', error: { name: 'LimitError', code, message }, stopReason: reason };
}

/** Decides what happens at a limit; with `onLimit: 'ask'` a person is asked first. */
function decideLimit(
  { limits: { lastRequest } }: Position,
  limit: LimitState,
  { limits: { onLimit } }: LimitFrame,
): LimitVerdict {
  const intents = (intent: Intent): LimitVerdict => ({ type: 'intents', intents: [intent] });
  if (onLimit !== 'ask')
    return intents({ type: 'declare_limit', key: `limit:${limit.reason}`, limit, action: onLimit });
  // A person who granted more is asked again when the grant is used up.
  const refused = lastRequest?.answer !== undefined && lastRequest.answer.decision !== 'continue';
  if (refused)
    return intents({
      type: 'declare_limit',
      key: `limit:${limit.reason}`,
      limit,
      action: 'answer',
    });
  return intents({ type: 'ask_limit', key: `ask:${limit.reason}`, limit });
}

/**
 * Returns the next warning: once per limit of the agent, and once per limit of the run. A limit
 * that is used up causes no warning.
 */
export function warningBefore(position: Position, frame: LimitFrame): Intent | undefined {
  const { accounts, warned } = frame.budget;
  const first = accounts[0];
  for (const account of [
    isNearOwn(position, frame) ? ownAccount(position, frame) : undefined,
    first,
  ]) {
    if (account === undefined || account.of !== 'agent' || account.path !== position.path) continue;
    const limit = nearLimits(account).find(({ reason }) => !position.limits.warned.has(reason));
    if (limit !== undefined)
      return { type: 'warn', key: `warn:${limit.reason}`, limit, of: 'agent' };
  }
  const run = accounts.at(-1);
  const shared =
    run?.of === 'run' ? nearLimits(run).find(({ reason }) => !warned.has(reason)) : undefined;
  return shared === undefined
    ? undefined
    : { type: 'warn', key: `warn:run:${shared.reason}`, limit: shared, of: 'run' };
}
