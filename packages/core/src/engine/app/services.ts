import { systemHost } from '../../base/host.ts';
import { resolveDefaults } from '../../effects/runtime-defaults.ts';
import type { Hooks } from '../../runnables/hooks.ts';
import { CircuitBreakers } from '../../supervision/circuit-breaker.ts';
import type { AppServices } from '../frame/app-services.ts';
import { Registry } from '../frame/registry.ts';
import { lifecycleOf } from '../run/lifecycle.ts';
import { defaultWaitingRuns } from '../run/waiting/waiting-limit.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** Makes the services that the options of a runtime give to all of its runs. */
export function appServices(
  options: RuntimeOptions,
  own: Pick<AppServices, 'clock' | 'tools'>,
): Omit<AppServices, 'resumeRun' | 'publishStream' | 'telling'> {
  const { supervision, hooks = [], middleware = [], errorHandlers = [] } = options;
  const breaker = supervision === false ? false : supervision?.circuitBreaker;
  const lifecycle = options.lifecycle && lifecycleOf(options.lifecycle);
  const registry = new Registry(options.runnables ?? [], options.resolve);
  // Another process that continues the step finds the runnable by its name.
  if (lifecycle?.postProcess !== undefined) registry.register(lifecycle.postProcess);
  return {
    ...own,
    random: options.ports?.random ?? (options.ports?.host ?? systemHost).random,
    standIns: options.ports?.standIns,
    registry,
    prices: options.prices,
    defaults: resolveDefaults(options.defaults),
    strictNames: options.store !== undefined,
    waitingRunsPerUser: options.limits?.waitingRunsPerUser ?? defaultWaitingRuns,
    waitingRunsWithoutUser: options.limits?.waitingRunsWithoutUser,
    supervision,
    hooks: [hooks].flat() as readonly Hooks[],
    middleware,
    errorHandlers,
    compaction: options.compaction,
    permissions: options.permissions ?? [],
    lifecycle,
    observers: new Set(),
    circuitBreakers: breaker === false ? undefined : new CircuitBreakers(breaker),
  };
}
