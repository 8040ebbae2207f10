import type { Agent } from '../../../runnables/agent.ts';
import type { Hooks, Middleware } from '../../../runnables/hooks.ts';
import type { BodyFrame } from '../../frame/run-context.ts';

/** Hooks with the name of their owner, as decisions show it. */
export interface OwnedHooks {
  readonly owner: string;
  readonly hooks: Hooks & Partial<Middleware>;
}

/**
 * Hooks and middleware in both orders. Inward: middleware of the runtime, of the agent, then hooks
 * of the runtime, of the agent. Outward: hooks of the runtime, of the agent, then the middleware in
 * reverse order.
 */
export interface HookOrder {
  readonly inward: readonly OwnedHooks[];
  readonly outward: readonly OwnedHooks[];
}

/** Returns the hooks and middleware of an agent and its app in their orders. */
export function hookOrder(
  agent: Agent,
  { run }: BodyFrame,
  middleware: readonly Middleware[],
): HookOrder {
  const around = middleware.map(
    (hooks): OwnedHooks => ({ owner: `the middleware "${hooks.name}"`, hooks }),
  );
  const plain = [
    ...run.app.hooks.map((hooks): OwnedHooks => ({ owner: 'the runtime', hooks })),
    ...agent.hooks.map((hooks): OwnedHooks => ({ owner: `the agent "${agent.name}"`, hooks })),
  ];
  return { inward: [...around, ...plain], outward: [...plain, ...around.toReversed()] };
}
