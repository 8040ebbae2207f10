import { TokenGauge } from '../../../context/token-gauge.ts';
import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { Event, EventOf } from '../../../ledger/event.ts';
import { ancestorsOf, belongsTo, isWithin } from '../../../ledger/path.ts';
import { isSuccess } from '../../../ledger/tool-result.ts';
import { type Model, modelName, type Price } from '../../../models/model.ts';
import type {
  Account,
  Caller,
  Consumption,
  ConsumptionLimits,
  Demand,
  LimitState,
  Rates,
} from '../../../supervision/limits.ts';
import { factsByName, factsOfModel, type ModelFacts, noFacts } from '../model-facts.ts';
import { AgentBudget, leastOutputTokens } from './agent-budget.ts';
import { add, addUse, hasLimit, TreeAccount } from './tree-account.ts';

const noRates: Rates = Object.freeze({ input: 0, output: 0 });

/** Model call that has begun and not ended. */
interface OpenCall {
  readonly start: EventOf<'model_start'>;
  /**
   * True when a stopped process left the call open. Its recorded use at closing already counts as
   * used, and nothing waits for it.
   */
  readonly isInterrupted: boolean;
  readonly takes: Consumption;
}

/** Returns the limits of the agent at the path of an invocation, if it has any. */
export type LimitsOf = (path: string) => ConsumptionLimits | undefined;

export interface RunBudgetParts {
  readonly runId: string;
  readonly limits: ConsumptionLimits;
  readonly prices: Readonly<Record<string, Price>> | undefined;
  readonly events: readonly Event[];
  /** Returns the limits of the agent at a path, when it is one. */
  readonly limitsOf: LimitsOf;
  /** Returns the events of one invocation. */
  readonly eventsOf: (path: string) => readonly Event[];
}

/**
 * Counts the use and the reservations of a run and its agents, from the events of the ledger. A
 * reservation begins with the `model_start` of a call, which records its most. It ends with the
 * `model_end`.
 */
export class RunBudget {
  readonly #parts: RunBudgetParts;
  readonly #run: TreeAccount;
  readonly #onlyRun: readonly TreeAccount[];
  /** True when the counted events happen now. */
  #isLive = false;
  /** Accounts of agents with limits in tokens or dollars, by their paths. */
  readonly #agents = new Map<string, TreeAccount>();
  readonly #open = new Map<string, OpenCall>();
  /** Last prompt of each agent that has not ended: the least that it needs to answer. */
  readonly #prompts = new Map<string, { readonly tokens: number; readonly facts: ModelFacts }>();
  readonly #facts = new Map<string, ModelFacts>();
  readonly #gauges = new Map<string, TokenGauge>();
  /** Limit requests that have no answer yet, by request id. */
  readonly #questions = new Map<string, LimitState>();
  readonly #raises: { readonly state: LimitState; readonly by: string; readonly more: number }[] =
    [];
  /** Limits of the run that some agent has warned of. */
  readonly warned = new Set<string>();

  constructor(parts: RunBudgetParts) {
    this.#parts = parts;
    this.#run = new TreeAccount('run', parts.runId, parts.limits);
    this.#onlyRun = [this.#run];
    for (const event of parts.events) this.count(event);
    for (const [path, call] of [...this.#open]) {
      this.#close(path);
      this.#begin(path, call.start, true);
    }
    this.#isLive = true;
  }

  get run(): Account {
    return this.#run;
  }

  /** True when agents of the run may have to wait for the reservations of others. */
  get isShared(): boolean {
    return this.#agents.size > 0 || hasLimit(this.#run.limits);
  }

  /** Adds the use, the reservation or the release of an event of the run. */
  count(event: Event): void {
    switch (event.type) {
      case 'model_start':
        if (this.#concerns(event)) this.#begin(event.invocationId, event, false);
        return;
      case 'model_end':
        if (this.#concerns(event)) this.#onModelEnd(event);
        return;
      case 'invocation_end':
        if (!this.#concerns(event)) return;
        this.#close(event.invocationId);
        this.#prompts.delete(event.invocationId);
        this.#gauges.delete(event.invocationId);
        return;
      case 'tool_result':
        if (
          event.attempt > 0 &&
          event.late !== true &&
          !isSuccess(event.result) &&
          this.#concerns(event)
        )
          this.#run.used.errors++;
        return;
      case 'decision':
        if (
          isDecision(event, 'limits', 'warn') &&
          event.data?.of === 'run' &&
          this.#concerns(event)
        )
          this.warned.add(event.data.reason);
        return;
      case 'tool_yield':
        if (event.kind === 'limit' && this.#concerns(event))
          this.#questions.set(event.requestId, event.request.details as unknown as LimitState);
        return;
      case 'tool_input':
        this.#onAnswer(event);
        return;
      default:
    }
  }

  /**
   * Returns the budget of an agent invocation, used before its model calls. `isNew`: nothing below
   * its path is in the ledger.
   */
  of(
    path: string,
    agent: {
      readonly limits: ConsumptionLimits;
      readonly models: readonly Model[];
      readonly isNew: boolean;
    },
  ): AgentBudget {
    const chain = this.#chain(path, agent.limits, agent.isNew);
    if (chain.length > 0) for (const model of agent.models) this.factsOf(model);
    return new AgentBudget(this, chain, path);
  }

  factsOf(model: Model): ModelFacts {
    const name = modelName(model);
    const facts = this.#facts.get(name) ?? factsOfModel(model, this.#parts.prices);
    this.#facts.set(name, facts);
    return facts;
  }

  /** Returns the least that each agent above `path` needs to answer with the result of `path`. */
  callersOf(path: string): Demand['callers'] {
    const found: Caller[] = [];
    for (const caller of ancestorsOf(path)) {
      const prompt = this.#prompts.get(caller);
      if (prompt === undefined) continue;
      const { rates = noRates, thinking } = prompt.facts;
      const output = leastOutputTokens + thinking;
      found.push({
        path: caller,
        tokens: prompt.tokens + output,
        cost: prompt.tokens * rates.input + output * rates.output,
      });
    }
    return found;
  }

  #concerns({ invocationId }: Event): boolean {
    return belongsTo(invocationId, this.#parts.runId);
  }

  /**
   * Returns the accounts that the use at `path` is taken from. They are its own, those of the
   * agents above it, and that of the run.
   */
  #chain(path: string, limits: ConsumptionLimits, isNew: boolean): readonly TreeAccount[] {
    const found: TreeAccount[] = [];
    const own = this.#agents.get(path) ?? this.#openAccount(path, limits, isNew);
    if (own !== undefined) found.push(own);
    for (const caller of ancestorsOf(path)) {
      const account =
        this.#agents.get(caller) ?? this.#openAccount(caller, this.#parts.limitsOf(caller), false);
      if (account !== undefined) found.push(account);
    }
    if (hasLimit(this.#run.limits)) found.push(this.#run);
    return found;
  }

  #openAccount(
    path: string,
    limits: ConsumptionLimits | undefined,
    isNew: boolean,
  ): TreeAccount | undefined {
    if (limits === undefined || (limits.tokens === undefined && limits.cost === undefined))
      return undefined;
    // Rounds and errors of an agent are its own: its position counts them.
    const account = new TreeAccount('agent', path, {
      rounds: undefined,
      tokens: limits.tokens,
      cost: limits.cost,
      errors: undefined,
    });
    if (!isNew) this.#fill(account);
    this.#agents.set(path, account);
    return account;
  }

  /** Counts the use before the account was opened. */
  #fill(account: TreeAccount): void {
    const { path } = account;
    for (const event of this.#parts.events) {
      if (event.type === 'model_end' && isWithin(event.invocationId, path))
        addUse(account.used, event);
    }
    for (const [place, { takes, isInterrupted }] of this.#open) {
      if (isWithin(place, path)) add(isInterrupted ? account.used : account.reserved, takes, 1);
    }
    for (const { state, by, more } of this.#raises)
      if (ownerOf(state, by) === path) account.raise(state.reason, more);
  }

  #accountsAt(path: string): readonly TreeAccount[] {
    if (this.#agents.size === 0) return this.#onlyRun;
    const found: TreeAccount[] = [this.#run];
    for (const place of [path, ...ancestorsOf(path)]) {
      const account = this.#agents.get(place);
      if (account !== undefined) found.push(account);
    }
    return found;
  }

  #begin(path: string, start: EventOf<'model_start'>, isInterrupted: boolean): void {
    const { maxOutputTokens = 0, model } = start;
    const input = this.#inputOf(path, start);
    const facts =
      this.#facts.get(model) ?? (this.isShared ? factsByName(model, this.#parts.prices) : noFacts);
    const { rates, thinking } = facts;
    const output = isInterrupted ? 0 : maxOutputTokens + thinking;
    // A model that nothing has named yet in this process has its cost only in its `model_start`.
    const cost =
      rates === undefined ? (start.mostCost ?? 0) : input * rates.input + output * rates.output;
    const takes: Consumption = {
      rounds: isInterrupted ? 0 : 1,
      tokens: input + output,
      cost,
      errors: 0,
    };
    this.#open.set(path, { start, isInterrupted, takes });
    this.#prompts.set(path, { tokens: input, facts });
    for (const account of this.#accountsAt(path))
      add(isInterrupted ? account.used : account.reserved, takes, 1);
  }

  /** Returns the tokens of the prompt as estimated when its call was admitted. */
  #inputOf(path: string, { estimatedInputTokens }: EventOf<'model_start'>): number {
    if (!this.#isLive || !this.isShared) return estimatedInputTokens;
    const gauge = this.#gauges.get(path) ?? new TokenGauge(this.#parts.eventsOf(path));
    this.#gauges.set(path, gauge);
    return Math.ceil(estimatedInputTokens * Math.max(1, gauge.ratio));
  }

  #close(path: string): void {
    const call = this.#open.get(path);
    if (call === undefined) return;
    this.#open.delete(path);
    for (const account of this.#accountsAt(path))
      add(call.isInterrupted ? account.used : account.reserved, call.takes, -1);
  }

  #onModelEnd(event: EventOf<'model_end'>): void {
    this.#close(event.invocationId);
    for (const account of this.#accountsAt(event.invocationId)) addUse(account.used, event);
  }

  #onAnswer({ requestId, decision, input, invocationId }: EventOf<'tool_input'>): void {
    const state = this.#questions.get(requestId);
    if (state === undefined) return;
    this.#questions.delete(requestId);
    const owner = ownerOf(state, invocationId ?? '');
    if (decision !== 'continue') return;
    // Without a number the limit is raised by its own amount.
    const more = typeof input === 'number' ? input : state.limit;
    this.#raises.push({ state, by: invocationId ?? '', more });
    if (state.of === 'run') this.#run.raise(state.reason, more);
    else if (owner !== undefined) this.#agents.get(owner)?.raise(state.reason, more);
  }
}

function ownerOf({ of, path }: LimitState, by: string): string | undefined {
  return of === 'run' ? undefined : (path ?? by);
}
