import { describeValue, isList } from '../../base/options.ts';
import type { ServicePart } from '../../engine/services/service.ts';
import { subscriptionKind } from '../../engine/services/topics.ts';
import type { Runnable } from '../../session/runnable.ts';
import { InvalidTriggerError } from '../errors.ts';
import { RunningChecks } from './condition-check.ts';
import { foldTrigger } from './fold-trigger.ts';
import { turnName } from './missing-code.ts';
import { assertTold, type Trigger } from './trigger.ts';
import { triggerKind } from './trigger-row.ts';
import { TriggerService } from './trigger-service.ts';
import { triggerState } from './trigger-state.ts';
import { TriggerWriter } from './trigger-writer.ts';

/**
 * Makes the option `triggers` of a runtime: the triggers that code declares, and the ability to
 * carry on those that are made at run time.
 * @throws InvalidTriggerError for two triggers of one name
 * @example
 * ```ts
 * import { memoryStore, runtime } from 'adjutant';
 * import { action, every, trigger, triggers } from 'adjutant/triggers';
 *
 * const tidy = action({ name: 'tidy', execute: () => 'nothing to tidy' });
 * const hourly = trigger({ name: 'hourly', on: every('1h'), start: tidy });
 * const app = runtime({ app: 'desk', store: memoryStore(), triggers: triggers([hourly]) });
 * await app.recovery.resumeStopped();
 * console.log((await app.triggers.list()).map(({ name }) => name)); // ['hourly']
 * await app.close();
 * ```
 */
export function triggers(declared: readonly Trigger[] = []): ServicePart<TriggerService> {
  const byName = checked(declared);
  return Object.freeze({
    kind: triggerKind,
    attach: (host) => {
      for (const { code } of byName.values())
        if (code.start !== undefined) host.registry.register(code.start as Runnable);
      const names = [...byName.values()]
        .filter(({ declaration }) => declaration.usesCode)
        .map(({ declaration }) => turnName(declaration));
      const code = (name: string) => byName.get(name)?.code ?? {};
      const checks = new RunningChecks();
      const service = (tenant: string) => new TriggerService({ host, tenant, checks }, byName);
      return {
        service: {
          kind: triggerKind,
          names: () => [triggerKind, ...names],
          advance: (session) => new TriggerWriter(session, { host, code, checks }).advance(),
          rolled: (session) => JSON.parse(JSON.stringify(triggerState(session.events()))),
          rowKinds: [triggerKind, subscriptionKind],
          fold: foldTrigger,
        },
        check: () => {
          for (const { declaration } of byName.values()) assertTold(host, declaration);
        },
        of: service,
        begin: (tenant) => service(tenant).declareAll(),
      };
    },
  } satisfies ServicePart<TriggerService>);
}

function checked(declared: readonly Trigger[]): ReadonlyMap<string, Trigger> {
  if (isList(declared) !== undefined)
    throw refusal(`it needs a list of triggers, not ${describeValue(declared)}`);
  const byName = new Map<string, Trigger>();
  for (const one of declared) {
    if (one?.kind !== 'trigger')
      throw refusal(`each must be made by \`trigger\`, and one is ${describeValue(one)}`);
    if (byName.has(one.name)) throw refusal(`there are two triggers "${one.name}"`);
    byName.set(one.name, one);
  }
  return byName;
}

function refusal(reason: string): InvalidTriggerError {
  return new InvalidTriggerError({ function: 'triggers', reason });
}
