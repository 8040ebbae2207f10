import type { StopReason } from '../ledger/event.ts';
import { isWithin } from '../ledger/path.ts';

/** The use of one agent invocation or of a whole run. */
export interface Consumption {
  readonly rounds: number;
  readonly tokens: number;
  /** US dollars, as far as prices are known. */
  readonly cost: number;
  /** Failed attempts of tools and of model calls. */
  readonly errors: number;
}

export interface ConsumptionLimits {
  readonly rounds: number | undefined;
  readonly tokens: number | undefined;
  readonly cost: number | undefined;
  readonly errors: number | undefined;
}

/** A limit with what was used of it. */
export interface LimitState {
  readonly reason: StopReason;
  readonly used: number;
  readonly limit: number;
  /** The owner of the limit. Missing in older ledgers. */
  readonly of?: 'agent' | 'run';
  /** The agent invocation or the run that it is a limit of. */
  readonly path?: string;
  /** The need of the next call and an answer after it, when less than that is left. */
  readonly needed?: number;
}

/**
 * The account of a run, or of an agent invocation with everything that it started: its limits, its
 * use, and the reservations of calls under way.
 */
export interface Account {
  readonly of: 'agent' | 'run';
  readonly path: string;
  readonly used: Consumption;
  readonly reserved: Consumption;
  /** Limits, with the extensions that people allowed. */
  readonly limits: ConsumptionLimits;
}

/** US dollars for one token; what is cached counts as what costs most. */
export interface Rates {
  readonly input: number;
  readonly output: number;
}

/** Reserve of an agent that waits for another one, so that it can still answer. */
export interface Caller {
  readonly path: string;
  readonly tokens: number;
  readonly cost: number;
}

/** The need of the next model call of an agent. */
export interface Demand {
  /** Tokens of its prompt. */
  readonly input: number;
  /** Most tokens of its answer. */
  readonly output: number;
  /** Tokens of an answer that is worth a call. */
  readonly least: number;
  /** Missing when the price is not known: dollars do not limit the call then. */
  readonly rates: Rates | undefined;
  /** True for the forced last answer: no call has to fit behind it. */
  readonly final: boolean;
  /** Agents above this one: their reserve is taken from none of their accounts. */
  readonly callers: readonly Caller[];
}

/** Share of a limit at which it is warned of, once. */
export const warningShare = 0.9;

/** Tolerance for sums of dollars, which differ by their order. */
const dust = 1e-12;

const kinds = ['rounds', 'tokens', 'cost', 'errors'] as const;
type Kind = (typeof kinds)[number];
const reasons = {
  rounds: 'round_limit',
  tokens: 'token_limit',
  cost: 'cost_limit',
  errors: 'error_limit',
} as const;

function stateOf({ of, path, used }: Account, kind: Kind, limit: number): LimitState {
  return { reason: reasons[kind], used: used[kind], limit, of, path };
}

/** The first limit that is used up already. */
export function exhaustedLimit(accounts: readonly Account[]): LimitState | undefined {
  for (const account of accounts) {
    for (const kind of kinds) {
      const limit = account.limits[kind];
      if (limit !== undefined && account.used[kind] >= limit) return stateOf(account, kind, limit);
    }
  }
  return undefined;
}

/** Tells if a limit is used up together with the reservations of calls under way. */
export function isFullyReserved(accounts: readonly Account[]): boolean {
  return accounts.some(({ used, reserved, limits }) =>
    kinds.some((kind) => {
      const limit = limits[kind];
      return limit !== undefined && reserved[kind] > 0 && used[kind] + reserved[kind] >= limit;
    }),
  );
}

/** Limits that are nearly used up. */
export function nearLimits(account: Account): readonly LimitState[] {
  const found: LimitState[] = [];
  for (const kind of kinds) {
    const limit = account.limits[kind];
    if (limit !== undefined && account.used[kind] >= limit * warningShare)
      found.push(stateOf(account, kind, limit));
  }
  return found;
}

/**
 * Returns the most tokens that the answer may have within all accounts, or the limit that leaves no
 * room for the call. Any call but the last needs room for a last one behind it: for the same
 * prompt, its answer, and the shortest next answer.
 * @param withReserved true to assume that calls under way use all that they may
 */
export function roomFor(
  accounts: readonly Account[],
  demand: Demand,
  withReserved: boolean,
): number | LimitState {
  let room = demand.output;
  for (const account of accounts) {
    if (!demand.final) {
      const full = isOutOfRounds(account, withReserved);
      if (full !== undefined) return full;
    }
    for (const kind of ['tokens', 'cost'] as const) {
      const limit = account.limits[kind];
      const rates = kind === 'tokens' ? perToken : demand.rates;
      if (limit === undefined || rates === undefined) continue;
      const left =
        limit -
        account.used[kind] -
        (withReserved ? account.reserved[kind] : 0) -
        neededByCallers(account, demand.callers, kind) +
        dust;
      const output = outputWithin(left, demand, rates);
      if (output < demand.least)
        return { ...stateOf(account, kind, limit), needed: neededFor(demand, rates) };
      room = Math.min(room, output);
    }
  }
  return room;
}

function neededByCallers(
  { of, path }: Account,
  callers: readonly Caller[],
  kind: 'tokens' | 'cost',
): number {
  let needed = 0;
  for (const caller of callers)
    if (of === 'run' || isWithin(caller.path, path)) needed += caller[kind];
  return needed;
}

const perToken: Rates = { input: 1, output: 1 };

function isOutOfRounds(account: Account, withReserved: boolean): LimitState | undefined {
  for (const kind of ['rounds', 'errors'] as const) {
    const limit = account.limits[kind];
    if (limit === undefined) continue;
    if (account.used[kind] + (withReserved ? account.reserved[kind] : 0) >= limit)
      return stateOf(account, kind, limit);
  }
  return undefined;
}

function outputWithin(left: number, { input, least, final }: Demand, rates: Rates): number {
  const forOutput = final
    ? left - input * rates.input
    : left - 2 * input * rates.input - least * rates.output;
  if (forOutput < 0) return -1;
  // The answer is part of the next prompt.
  const each = final ? rates.output : rates.output + rates.input;
  return each === 0 ? Number.POSITIVE_INFINITY : Math.floor(forOutput / each);
}

/** The need of a call with the shortest answer and the call behind it. */
function neededFor({ input, least, final }: Demand, rates: Rates): number {
  const call = input * rates.input + least * rates.output;
  return final ? call : 2 * call + least * rates.input;
}
