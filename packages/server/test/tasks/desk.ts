import { agent, memoryStore, type Runtime, type RuntimeOptions, runtime, step } from 'adjutant';
import { roundModel } from 'adjutant/testing';

/** An app whose task `slow` ends when it is let. */
export function desk(options: Partial<RuntimeOptions> = {}): {
  readonly app: Runtime;
  readonly goOn: () => void;
  /** Resolves when `slow` has begun. */
  readonly begun: Promise<void>;
} {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      begun.resolve();
      const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      await Promise.race([gate.promise, aborted]);
      return ctx.complete('done');
    },
  });
  const writer = agent({ name: 'writer', model: roundModel([{ text: 'Written.' }]) });
  const app = runtime({
    app: 'desk',
    store: memoryStore(),
    runnables: [slow, writer],
    ...options,
  });
  return { app, goOn: () => gate.resolve(), begun: begun.promise };
}
