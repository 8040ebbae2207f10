import type { JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isFunction,
  isList,
  isNonEmptyText,
  isNumber,
  isPositive,
  isText,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { withBody } from '../../engine/invoke/composed-body.ts';
import { isNamedModelOrList } from '../../models/named-model.ts';
import { type Agent, agent } from '../../runnables/agent.ts';
import { checkDefinition, InvalidDefinitionError } from '../../runnables/errors.ts';
import { checkRunnables } from '../../runnables/sequence.ts';
import type { OutputOf, Runnable } from '../../session/runnable.ts';
import { isTest } from '../intent/classify-intent.ts';
import { runRouter } from './body.ts';
import type { RouteRule, Router, RouterOptions } from './definition.ts';

const isConfidence: OptionCheck = (value) =>
  isNumber(value) === undefined && (value as number) >= 0 && (value as number) <= 1
    ? undefined
    : 'a number from 0 to 1';

const ruleChecks: OptionChecks<RouteRule> = {
  to: isNonEmptyText,
  when: (value) => (isFunction(value) === undefined ? undefined : isTest(value)),
  confidence: isConfidence,
  reason: isText,
};

const routerOptions: OptionChecks<RouterOptions> = {
  name: isText,
  description: isText,
  routes: isList,
  rules: isList,
  model: isNamedModelOrList,
  instructions: isNonEmptyText,
  minConfidence: isConfidence,
  fallback: isText,
  default: isText,
  routeTimeoutMs: isPositive,
  version: isText,
};

const defaultMinConfidence = 0.7;

/**
 * Defines a router. Rules choose first, a model only where one is given. The choice is recorded
 * with its confidence, its reason and the routes turned down. A route that fails gives control
 * back, and the next one is tried; when none is left, the router ends with `routing_exhausted`.
 * @throws InvalidDefinitionError
 * @example
 * ```ts
 * import { runtime, step } from 'adjutant';
 * import { router } from 'adjutant/plan';
 *
 * const billing = step({ name: 'billing', execute: (ctx) => ctx.complete('paid') });
 * const support = step({ name: 'support', execute: (ctx) => ctx.complete('helped') });
 * const desk = router({
 *   name: 'desk',
 *   routes: [billing, support],
 *   rules: [{ to: 'billing', when: ['invoice', 'refund'] }],
 *   default: 'support',
 * });
 * console.log((await runtime({ app: 'shop' }).run(desk, 'My invoice?')).output); // 'paid'
 * ```
 */
export function router<
  const Routes extends readonly Runnable[],
  const Name extends string = string,
>(options: RouterOptions<Routes, Name>): Router<OutputOf<Routes[number]>, Name> {
  checkDefinition('router', options as RouterOptions, routerOptions);
  const { name, routes } = options;
  checkRunnables('router', name, routes, 'routes');
  checkRoutes(options as RouterOptions);
  const chooser = chooserOf(options as RouterOptions);
  const made: Router<OutputOf<Routes[number]>, Name> = {
    kind: 'router',
    name,
    version: options.version,
    description: options.description,
    routes: Object.freeze([...routes]),
    rules: Object.freeze([...(options.rules ?? [])]),
    chooser,
    minConfidence: options.minConfidence ?? defaultMinConfidence,
    fallback: options.fallback,
    default: options.default,
    routeTimeoutMs: options.routeTimeoutMs,
    parts: Object.freeze([...routes, ...(chooser === undefined ? [] : [chooser])]),
  };
  return withBody(made, runRouter);
}

/** Checks that each name is that of one route, and that something chooses. */
function checkRoutes(options: RouterOptions): void {
  const { name, routes, rules = [] } = options;
  const refuse = (reason: string): never => {
    throw new InvalidDefinitionError({ kind: 'router', name, reason });
  };
  const names = routes.map((route) => route.name);
  const twice = names.find((one, i) => names.indexOf(one) !== i);
  if (twice !== undefined) refuse(`two \`routes\` have the name "${twice}"`);
  const known = (option: string, target: string): void => {
    if (!names.includes(target))
      refuse(`${option} names the route "${target}", and there are: ${names.join(', ')}`);
  };
  rules.forEach((rule, i) => {
    const invalid = findInvalidOption(rule, ruleChecks);
    if (invalid !== undefined) refuse(`in \`rules[${i}]\` ${invalid.reason}`);
    for (const member of ['to', 'when'] as const)
      if (rule[member] === undefined)
        refuse(`\`rules[${i}]\` has no \`${member}\`: it must be ${ruleChecks[member](undefined)}`);
    known(`\`rules[${i}]\``, rule.to);
  });
  for (const option of ['fallback', 'default'] as const) {
    const target = options[option];
    if (target !== undefined) known(`\`${option}\``, target);
  }
  if (rules.length === 0 && options.model === undefined)
    refuse('it needs `rules`, a `model`, or both: nothing would choose');
  if (options.instructions !== undefined && options.model === undefined)
    refuse('`instructions` are for a `model`, and there is none');
}

/** Returns the agent that asks the model for a route. */
function chooserOf(options: RouterOptions): Agent<JsonValue> | undefined {
  const { name, routes, model, instructions } = options;
  if (model === undefined) return undefined;
  const list = routes.map((route) => `- ${route.name}: ${route.description ?? 'no description'}`);
  const names = routes.map((route) => route.name);
  return agent({
    name: `${name}.choose`,
    model,
    instructions: [
      'Choose who is to handle the last message of the user. Do not answer it yourself.',
      `There are:\n${list.join('\n')}`,
      'Give the name of the best one as `target`, how sure you are as `confidence` from 0 to 1, ' +
        'one line of `reason`, and as `fallback` who could do it if that one cannot, or null.',
      ...(instructions === undefined ? [] : [instructions]),
    ].join('\n\n'),
    output: {
      type: 'object',
      properties: {
        target: { type: 'string', enum: names },
        confidence: { type: 'number', minimum: 0, maximum: 1 },
        reason: { type: 'string' },
        fallback: { anyOf: [{ type: 'string', enum: names }, { type: 'null' }] },
      },
      required: ['target', 'confidence', 'reason', 'fallback'],
      additionalProperties: false,
    },
  }) as Agent<JsonValue>;
}
