import type { Event, EventOf, EventType } from 'adjutant';

/** Returns the events of one type. */
export const of = <Type extends EventType>(events: readonly Event[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);
