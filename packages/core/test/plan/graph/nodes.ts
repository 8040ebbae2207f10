import { type Event, runtime, step } from 'adjutant';

export const app = () => runtime({ app: 'graphs' });
export const gives = <Value>(name: string, value: Value) =>
  step({ name, execute: (ctx) => ctx.complete(value as never) });
export const passes = (name: string) =>
  step({ name, execute: (ctx) => ctx.complete(ctx.input?.data ?? 'nothing') });
export const fails = (name: string, message = `${name} failed`) =>
  step({ name, execute: (ctx) => ctx.fail(message) });

/** Paths of the executions in the order in which they began, without the run. */
export function executions(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'invocation_start' && event.mode !== 'root'
      ? [event.invocationId.split('/').slice(1).join('/')]
      : [],
  );
}

export function decisions(events: readonly Event[], name: string): readonly unknown[] {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'graph' && event.decision === name
      ? [event.data]
      : [],
  );
}
