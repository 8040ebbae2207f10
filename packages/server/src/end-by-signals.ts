import { visibleLine } from 'adjutant';
import type { Listening } from './listening.ts';

/**
 * The first signal ends the server and then the process, by the signal itself; a second one ends
 * the process at once.
 */
export function endBySignals(listening: Listening): void {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    // From here on a signal does what it does without us.
    for (const other of signals) process.off(other, onSignal);
    listening
      .close(true)
      .catch((error: unknown) =>
        process.emitWarning(visibleLine(`The app could not be closed: ${String(error)}`), {
          type: 'AdjutantWarning',
          code: 'close_failed',
        }),
      )
      .finally(() => {
        // Somebody else who listens decides when the process ends.
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  };
  for (const signal of signals) process.on(signal, onSignal);
}
