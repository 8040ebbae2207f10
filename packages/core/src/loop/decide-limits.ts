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
 * What an agent may use together with others: its own tokens and dollars with those of what it
 * started, those of its callers, and the run's.
 */
export interface BudgetView {
  /** What is limited, the agent's own first, the run last. */
  readonly accounts: readonly Account[];
  /** What the next call needs, since there was no room for it. */
  readonly demand: Demand | undefined;
  /** Limits of the run that some agent has warned of. */
  readonly warned: ReadonlySet<string>;
}

/** What the limits of an agent say before a model call. */
export type LimitVerdict =
  | { readonly type: 'intents'; readonly intents: readonly Intent[] }
  /** Others have reserved what is left. */
  | { readonly type: 'wait' }
  /** Not even a last answer fits. */
  | { readonly type: 'spent' };

interface LimitFrame {
  readonly limits: ResolvedLimits;
  readonly budget: BudgetView;
}

const noneUsed = Object.freeze({ rounds: 0, tokens: 0, cost: 0, errors: 0 });
const waitVerdict: LimitVerdict = Object.freeze({ type: 'wait' });
const spentVerdict: LimitVerdict = Object.freeze({ type: 'spent' });

/** Ends that follow from a limit: `onLimit` says how. */
const limitReasons: ReadonlySet<StopReason | undefined> = new Set([
  'round_limit',
  'token_limit',
  'cost_limit',
  'error_limit',
]);

/** What the limits want done before a model call; `undefined`: nothing is in its way. */
export function judgeLimits(position: Position, frame: LimitFrame): LimitVerdict | undefined {
  const { limitRequest } = position;
  // Who has asked waits for the answer, also when somebody allowed another agent more meanwhile.
  if (
    limitRequest !== undefined &&
    limitRequest.answer === undefined &&
    position.stopReason === undefined
  )
    return waitVerdict;
  const exhausted = exhaustedNow(position, frame);
  if (exhausted !== undefined && position.stopReason === undefined)
    return decideLimit(position, exhausted, frame);
  const fails =
    frame.limits.onLimit === 'fail' &&
    (exhausted !== undefined || limitReasons.has(position.stopReason));
  if (fails) return { type: 'intents', intents: [failAtLimit(exhausted, position.stopReason)] };
  return awaitsBudget(position, frame);
}

/** The agent's own rounds and errors, which nobody shares. */
function ownAccount({ path, rounds, errors, granted }: Position, { limits }: LimitFrame): Account {
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

/** Whether the agent's own limits have to be looked at closely: most rounds are far from them. */
function isNearOwn({ rounds, errors }: Position, { limits }: LimitFrame): boolean {
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
 * What has no room only because of calls that are under way waits for their end: no branch is cut
 * short for what another one does not use.
 */
function awaitsBudget(
  { stopReason }: Position,
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

/** What is done at a limit: somebody is asked first, if the agent says so. */
function decideLimit(
  { limitRequest }: Position,
  limit: LimitState,
  { limits: { onLimit } }: LimitFrame,
): LimitVerdict {
  const intents = (intent: Intent): LimitVerdict => ({ type: 'intents', intents: [intent] });
  if (onLimit !== 'ask')
    return intents({ type: 'declare_limit', key: `limit:${limit.reason}`, limit, action: onLimit });
  // Who allowed more is asked again when that is used up too.
  const refused = limitRequest?.answer !== undefined && limitRequest.answer.decision !== 'continue';
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
 * A warning for the agent's own limits once, and for those of the run once in the whole run. What
 * is used up is not warned of any more.
 */
export function warningBefore(position: Position, frame: LimitFrame): Intent | undefined {
  const { accounts, warned } = frame.budget;
  const first = accounts[0];
  for (const account of [
    isNearOwn(position, frame) ? ownAccount(position, frame) : undefined,
    first,
  ]) {
    if (account === undefined || account.of !== 'agent' || account.path !== position.path) continue;
    const limit = nearLimits(account).find(({ reason }) => !position.warned.has(reason));
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
