import { AsyncLocalStorage } from 'node:async_hooks';

/** Called with an error of simulated code that nothing handles. */
type OnStrayError = (error: unknown) => void;
type Listener = (error: unknown, ...rest: unknown[]) => void;

const kinds = ['unhandledRejection', 'uncaughtException'] as const;
/** Simulations that run, in the order in which they began. */
const running: OnStrayError[] = [];
const current = new AsyncLocalStorage<OnStrayError>();
/** Puts back the listeners that the process had before the first of them. */
let restore: () => void = () => undefined;

/**
 * Runs a simulation. It is told the errors that its code leaves to nobody: otherwise they would end
 * the process of Node. Errors of other code go where they went before.
 */
export async function hearingStrayErrors<Result>(
  onError: OnStrayError,
  simulate: () => Promise<Result>,
): Promise<Result> {
  if (running.length === 0) restore = takeOver();
  running.push(onError);
  try {
    return await current.run(onError, simulate);
  } finally {
    running.splice(running.indexOf(onError), 1);
    if (running.length === 0) restore();
  }
}

function takeOver(): () => void {
  const undo = kinds.map((kind) => {
    const before = process.listeners(kind as 'uncaughtException') as Listener[];
    const heard: Listener = (error, ...rest) => {
      const owner = current.getStore();
      if (owner === undefined) return passOn(before, error, rest);
      // Code of a simulation that is over disturbs the next one.
      const told = running.includes(owner) ? owner : running.at(-1);
      told?.(error);
    };
    process.removeAllListeners(kind);
    process.on(kind, heard);
    return () => {
      process.removeListener(kind, heard);
      for (const listener of before) process.on(kind, listener);
    };
  });
  return () => {
    for (const each of undo) each();
  };
}

/** Does what the process did with an error before: without a listener, it ends. */
function passOn(before: readonly Listener[], error: unknown, rest: readonly unknown[]): void {
  if (before.length === 0) throw error;
  for (const listener of before) listener(error, ...rest);
}
