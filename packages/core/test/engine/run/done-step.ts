import { type Event, step } from 'adjutant';

export const done = (name = 's') =>
  step({ name, execute: (ctx) => ctx.complete(`${name} is done`) });

export const types = (events: readonly Event[]) => events.map(({ type }) => type);
