import { step } from 'adjutant';

/** A step that ends while what it has dispatched goes on until the gate opens. */
export function dispatching() {
  const gate = Promise.withResolvers<void>();
  const child = step({
    name: 'child',
    execute: async (ctx) => {
      await Promise.race([
        gate.promise,
        new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve())),
      ]);
      return ctx.complete('late');
    },
  });
  const parent = step({
    name: 'parent',
    execute: (ctx) => {
      ctx.dispatch(child);
      return ctx.complete('dispatched');
    },
  });
  return { gate, child, parent };
}
