import type { JsonValue } from '../../base/json.ts';
import { withBody } from '../../engine/invoke/composed-body.ts';
import { checkDefinition, InvalidDefinitionError } from '../../runnables/errors.ts';
import { step } from '../../runnables/step.ts';
import { isRunnable, type Runnable } from '../../session/runnable.ts';
import type { Plan } from './definition.ts';
import {
  type PlanLimits,
  type PlannerFunction,
  type PlanOptions,
  type PlanRequest,
  planChecks,
  resolveReview,
} from './plan-options.ts';
import { runPlan } from './run-plan.ts';
import { toolAgent } from './tool-agent.ts';

const defaultLimits: PlanLimits = Object.freeze({
  subtasks: 20,
  replans: 3,
  parallel: 4,
  attempts: 3,
  tokens: undefined,
  cost: undefined,
});

/** Members that `plan` adds. A definition may be spread into the options of a new one. */
const addedMembers = { parts: () => undefined, toolAgents: () => undefined };

/**
 * Defines a plan. Its planner gives subtasks with dependencies; code checks them, tells the planner
 * what is wrong, and carries them out. A failure leads to another plan by fixed rules.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { runtime, step } from 'adjutant';
 * import { plan } from 'adjutant/plan';
 *
 * const flights = step({ name: 'flights', execute: (ctx) => ctx.complete({ price: 120 }) });
 * const total = step({
 *   name: 'total',
 *   execute: (ctx) => ctx.complete((ctx.input?.data as { flight: number }).flight + 300),
 * });
 * const trip = plan({
 *   name: 'trip',
 *   planner: () => [
 *     { id: 't1', description: 'Find a flight', worker: 'flights' },
 *     {
 *       id: 't2',
 *       description: 'Add up the costs',
 *       worker: 'total',
 *       args: { flight: { $from: 't1.output.price' } },
 *     },
 *   ],
 *   workers: [flights, total],
 * });
 * const { output } = await runtime({ app: 'travel' }).run(trip, 'Three days in Paris');
 * console.log(output); // { t1: { price: 120 }, t2: 420 }
 * ```
 */
export function plan<const Name extends string = string>(
  options: PlanOptions<Name> & { readonly output?: undefined },
): Plan<Readonly<Record<string, JsonValue>>, Name>;
export function plan<Output extends JsonValue, const Name extends string = string>(
  options: PlanOptions<Name> & {
    readonly output: (outputs: Readonly<Record<string, JsonValue>>) => Output;
  },
): Plan<Output, Name>;
export function plan(options: PlanOptions): Plan<unknown> {
  checkDefinition<PlanOptions>('plan', options, planChecks, addedMembers);
  const { name, workers = [], tools = [] } = options;
  const refuse = (reason: string): never => {
    throw new InvalidDefinitionError({ kind: 'plan', name, reason });
  };
  if (options.planner === undefined) refuse('`planner` must be an agent or a function');
  if (workers.length + tools.length === 0)
    refuse('it needs `workers` or `tools` that do its subtasks');
  const names = [...workers, ...tools].map((one) => one.name);
  const twice = names.find((one, i) => names.indexOf(one) < i);
  if (twice !== undefined) refuse(`two of its workers and tools are named "${twice}"`);
  const planner = plannerOf(name, options.planner);
  const toolAgents = tools.map((tool) => toolAgent(name, tool));
  return withBody<Plan<unknown>>(
    {
      kind: 'plan',
      name,
      version: options.version,
      description: options.description,
      parts: Object.freeze([...new Set([planner, ...workers, ...toolAgents])]),
      planner,
      workers: Object.freeze([...workers]),
      tools: Object.freeze([...tools]),
      toolAgents: Object.freeze(toolAgents),
      limits: Object.freeze({ ...defaultLimits, ...options.limits }),
      review: resolveReview(options.review),
      output: options.output,
    },
    runPlan,
  );
}

/** A function becomes a step, so that what it gives is recorded. */
function plannerOf(name: string, planner: Runnable | PlannerFunction): Runnable {
  if (isRunnable(planner)) return planner;
  return step({
    name: `${name}.planner`,
    execute: async (ctx) =>
      ctx.complete(
        (await planner(ctx.input?.data as unknown as PlanRequest)) as unknown as JsonValue,
      ),
  });
}
