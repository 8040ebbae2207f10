import type { JsonValue } from '../../base/json.ts';
import type { OptionCheck } from '../../base/options.ts';
import type { PublishedEvent } from '../../ledger/decisions/service-decisions.ts';
import type { ServicePart } from './service.ts';

/** Bus that carries published events to those who listen at the moment; see `adjutant/bus`. */
export interface LiveBus {
  publish(event: PublishedEvent & { readonly source: string; readonly data: JsonValue }): unknown;
}

function isPart(kind: string, expected: string): OptionCheck {
  return (value) => {
    const part = (value ?? {}) as Partial<ServicePart>;
    return part.kind === kind && typeof part.attach === 'function' ? undefined : expected;
  };
}

/** Checks of the parts that a runtime may be given. */
export const partChecks = {
  triggers: isPart('trigger', "`triggers([…])` of 'adjutant/triggers'"),
  notifications: isPart('notifier', "`notifications({ … })` of 'adjutant/notifications'"),
  bus: isLiveBus,
};

function isLiveBus(value: unknown): string | undefined {
  return typeof (value as Partial<LiveBus> | null)?.publish === 'function'
    ? undefined
    : 'a bus such as `inProcessBus()`';
}
