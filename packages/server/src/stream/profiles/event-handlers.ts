import type { EventOf, EventType } from 'adjutant';
import type { Folded } from '../frame.ts';

/**
 * Handlers of a profile for every type of durable event. A new type does not compile until each
 * profile handles it.
 */
export type EventHandlers<State> = {
  readonly [Type in EventType]: (state: State, event: EventOf<Type>) => Folded<State>;
};

/** The handler of a profile for events of which it says nothing. */
export function silent<State>(state: State): Folded<State> {
  return { state, frames: [] };
}

/** A record without one of its entries. */
export function without<Value>(
  record: Readonly<Record<string, Value>>,
  key: string,
): Readonly<Record<string, Value>> {
  const { [key]: _, ...rest } = record;
  return rest;
}
