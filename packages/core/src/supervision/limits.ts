import type { StopReason } from '../ledger/event.ts';

/** What has been used, of one agent invocation or of a whole run. */
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
  /** Whose limit it is. Missing in what older ledgers recorded. */
  readonly of?: 'agent' | 'run';
  /** The agent invocation or the run that it is a limit of. */
  readonly path?: string;
  /** What the next call and an answer after it need, when less than that is left. */
  readonly needed?: number;
}

/**
 * A run, or an agent invocation with everything that it started: what it may use, what was used,
 * and what calls that are under way may use.
 */
export interface Account {
  readonly of: 'agent' | 'run';
  readonly path: string;
  readonly used: Consumption;
  readonly reserved: Consumption;
  /** With what people allowed beyond them. */
  readonly limits: ConsumptionLimits;
}

/** US dollars for one token; what is cached counts as what costs most. */
export interface Rates {
  readonly input: number;
  readonly output: number;
}

/** What an agent needs that waits for another one, so that it can still answer. */
export interface Caller {
  readonly path: string;
  readonly tokens: number;
  readonly cost: number;
}

/** What the next model call of an agent needs. */
export interface Demand {
  /** Tokens of its prompt. */
  readonly input: number;
  /** Most tokens of its answer. */
  readonly output: number;
  /** Tokens of an answer that is worth a call. */
  readonly least: number;
  /** Missing when the price is not known: dollars do not limit the call then. */
  readonly rates: Rates | undefined;
  /** Whether it is the forced last answer: nothing has to fit behind it. */
  readonly final: boolean;
  /** Those above the agent: what they need is taken from none of their accounts. */
  readonly callers: readonly Caller[];
}

/** Share of a limit at which it is warned of, once. */
export const warningShare = 0.9;

/** Sums of dollars differ by the order in which they are made. */
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

/** Whether a limit is used up together with what calls that are under way may use. */
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
 * Most tokens that the answer may have so that none of the accounts can be exceeded, or the limit
 * that leaves no room for the call. Before any but the last call there has to be room for a last
 * one behind it: for the same prompt, what is answered to it, and the shortest answer.
 * @param withReserved whether calls that are under way are taken to use all that they may
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

/**
 * Whether `path` is this invocation or below it. One that it handed over to is another invocation.
 */
export function isWithin(path: string, owner: string): boolean {
  return path === owner || path.startsWith(`${owner}/`);
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
  // What is answered is part of the next prompt.
  const each = final ? rates.output : rates.output + rates.input;
  return each === 0 ? Number.POSITIVE_INFINITY : Math.floor(forOutput / each);
}

/** What a call with the shortest answer takes, with what has to fit behind it. */
function neededFor({ input, least, final }: Demand, rates: Rates): number {
  const call = input * rates.input + least * rates.output;
  return final ? call : 2 * call + least * rates.input;
}
