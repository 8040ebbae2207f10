import { type Event, step } from 'adjutant';

export const ends = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
  );
export const writing = (name: string, changes: Record<string, number>, output = name) =>
  step({
    name,
    execute: (ctx) => {
      ctx.state.update(changes);
      return ctx.complete(output);
    },
  });
export const failing = (name: string) =>
  step({ name, execute: (ctx) => ctx.fail(`${name} failed`) });

/** Waits for its signal, and says when it was told to stop. */
export const hanging = (name: string, onAbort: () => void = () => undefined) =>
  step({
    name,
    execute: (ctx) =>
      new Promise((resolve) =>
        ctx.signal.addEventListener('abort', () => {
          onAbort();
          resolve(undefined);
        }),
      ),
  });
