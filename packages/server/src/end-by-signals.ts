import { visibleLine } from 'adjutant/text';
import type { Listening } from './listening.ts';

/**
 * Closes the server on the first signal and then ends the process by the same signal. A second
 * signal ends the process at once.
 */
export function endBySignals(listening: Listening): void {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    // From here on signals have their usual effect.
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
        // Another listener decides when the process ends.
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  };
  for (const signal of signals) process.on(signal, onSignal);
}
