import type { EventOf } from '../../../ledger/event.ts';
import type { Account, Consumption, ConsumptionLimits } from '../../../supervision/limits.ts';

type MutableConsumption = { -readonly [Kind in keyof Consumption]: Consumption[Kind] };

function nothing(): MutableConsumption {
  return { rounds: 0, tokens: 0, cost: 0, errors: 0 };
}

/** Account of a run, or of an agent invocation with everything below it. */
export class TreeAccount implements Account {
  readonly of: 'agent' | 'run';
  readonly path: string;
  readonly used = nothing();
  readonly reserved = nothing();
  limits: ConsumptionLimits;

  constructor(of: 'agent' | 'run', path: string, limits: ConsumptionLimits) {
    this.of = of;
    this.path = path;
    this.limits = limits;
  }

  raise(reason: string, more: number): void {
    const { rounds, tokens, cost, errors } = this.limits;
    const raised = (limit: number | undefined, kind: string) =>
      limit !== undefined && kind === reason ? limit + more : limit;
    this.limits = {
      rounds: raised(rounds, 'round_limit'),
      tokens: raised(tokens, 'token_limit'),
      cost: raised(cost, 'cost_limit'),
      errors: raised(errors, 'error_limit'),
    };
  }
}

/** Adds the usage of an ended model call to `used`. */
export function addUse(used: MutableConsumption, event: EventOf<'model_end'>): void {
  if (event.status === 'completed') used.rounds++;
  if (event.status === 'error') used.errors++;
  used.tokens += event.usage.inputTokens + event.usage.outputTokens;
  used.cost += event.cost ?? 0;
}

/** Adds (`1`) or subtracts (`-1`) the rounds, tokens and cost of a call; errors stay. */
export function add(
  to: MutableConsumption,
  { rounds, tokens, cost }: Consumption,
  sign: 1 | -1,
): void {
  to.rounds += sign * rounds;
  to.tokens += sign * tokens;
  // Without tokens and rounds the cost is exactly 0: rounding errors must not remain.
  to.cost = to.tokens === 0 && to.rounds === 0 ? 0 : to.cost + sign * cost;
}

/** Checks that at least one kind of consumption is limited. */
export function hasLimit({ rounds, tokens, cost, errors }: ConsumptionLimits): boolean {
  return rounds !== undefined || tokens !== undefined || cost !== undefined || errors !== undefined;
}
