import type { BudgetView } from '../../../loop/decide-limits.ts';
import { estimateTokens } from '../../../models/measures/estimate.ts';
import type { Model } from '../../../models/model.ts';
import {
  type Account,
  type Demand,
  exhaustedLimit,
  isFullyReserved,
  roomFor,
} from '../../../supervision/limits.ts';
import type { ModelFacts } from '../model-facts.ts';

/** Default of the most tokens of one answer under a limit, for a model without the setting. */
const defaultOutputTokens = 4_096;

/** Least tokens of an answer: no call is made for fewer. */
export const leastOutputTokens = 100;

/** Facts of the whole run that the budget of an agent needs. */
interface RunAccounts {
  /** Limits of the run that some agent has warned of. */
  readonly warned: ReadonlySet<string>;
  factsOf(model: Model): ModelFacts;
  /** Returns the least that each agent above `path` needs to answer. */
  callersOf(path: string): Demand['callers'];
}

/** Question for the allowance of a model call: the size of its prompt, and its model. */
export interface AllowanceRequest {
  /** Estimated tokens of the prompt. */
  readonly tokens: number;
  /** Characters of the prompt: what is recorded with the call is estimated from them. */
  readonly characters: number;
  readonly model: Model;
  /** True for the forced last answer. */
  readonly final: boolean;
  /** True when a hook answered in the place of the model: only rounds are used up. */
  readonly isFree?: boolean;
}

/** Most that a call may use. Its `model_start` records it: that is the reservation. */
export interface CallAllowance {
  /** Most tokens of the answer; missing when nothing limits them. */
  readonly maxOutputTokens?: number;
  /** Most cost in US dollars, where it is limited. */
  readonly mostCost?: number;
}

/** Budget of one agent invocation: its own account, those of the agents above it and the run's. */
export class AgentBudget implements BudgetView {
  readonly accounts: readonly Account[];
  readonly #budget: RunAccounts;
  readonly #path: string;
  #demand: Demand | undefined;

  constructor(budget: RunAccounts, accounts: readonly Account[], path: string) {
    this.#budget = budget;
    this.accounts = accounts;
    this.#path = path;
  }

  get #limitsCost(): boolean {
    return this.accounts.some(({ limits }) => limits.cost !== undefined);
  }

  get demand(): Demand | undefined {
    return this.#demand;
  }

  get warned(): ReadonlySet<string> {
    return this.#budget.warned;
  }

  /**
   * Returns the most tokens of an answer of this model while nothing is scarce; `undefined` when
   * nothing limits them.
   */
  #usualOutput(model: Model): number | undefined {
    const isLimited = this.accounts.some(
      ({ limits }) =>
        limits.tokens !== undefined ||
        (limits.cost !== undefined && this.#budget.factsOf(model).rates !== undefined),
    );
    return isLimited ? (model.settings.maxTokens ?? defaultOutputTokens) : undefined;
  }

  /**
   * Admits a model call between its prompt and the call. It runs in the same turn as the
   * `model_start`, which is the reservation. The call and its `model_start` must carry the result.
   * After `wait` and `exhausted` no call is made. The next intent is then decided anew, and
   * `decide` sees from `demand` that there was no room.
   */
  admit({
    tokens,
    characters,
    model,
    final,
    isFree = false,
  }: AllowanceRequest): CallAllowance | 'exhausted' | 'wait' {
    this.#demand = undefined;
    if (this.accounts.length === 0) return unlimited;
    const output = this.#usualOutput(model);
    if (output === undefined || isFree) return this.#admitRound(final);
    const { rates, thinking } = this.#budget.factsOf(model);
    const least = Math.min(output, leastOutputTokens) + thinking;
    // The gauge may estimate fewer tokens than the characters suggest: the greater number counts.
    const input = Math.max(tokens, estimateTokens(characters));
    const demand: Demand = {
      input,
      output: output + thinking,
      least,
      rates,
      final,
      callers: this.#budget.callersOf(this.#path),
    };
    const room = roomFor(this.accounts, demand, true);
    if (typeof room === 'number') {
      const mostCost =
        this.#limitsCost && rates !== undefined
          ? { mostCost: input * rates.input + room * rates.output }
          : {};
      return { maxOutputTokens: room - thinking, ...mostCost };
    }
    this.#demand = demand;
    return typeof roomFor(this.accounts, demand, false) === 'number' ? 'wait' : 'exhausted';
  }

  /** Admits a call when only rounds and errors are limited. */
  #admitRound(final: boolean): CallAllowance | 'exhausted' | 'wait' {
    if (final) return unlimited;
    if (exhaustedLimit(this.accounts) !== undefined) return 'exhausted';
    return isFullyReserved(this.accounts) ? 'wait' : unlimited;
  }
}

const unlimited = Object.freeze({});
