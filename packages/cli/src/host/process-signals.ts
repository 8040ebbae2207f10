import type { JobControl, Signals } from './interruption.ts';

/** Milliseconds after which a process that runs was not stopped. */
const stopsWithin = 100;

const atEnd = new Set<() => void>();
let jobControl: JobControl | undefined;
const onStop = (): void => jobControl?.stop();
/** Listener to the end of a stop that this process asked for. */
let goesOn: (() => void) | undefined;
const onContinue = (): void => (goesOn ?? jobControl?.goOn)?.();

/** The signals of this process. */
export const processSignals: Signals = {
  listen: (signal, listener) => void process.on(signal, listener),
  atEnd(listener) {
    if (atEnd.size === 0) process.once('exit', toldOfEnd);
    atEnd.add(listener);
    return () => void atEnd.delete(listener);
  },
  onJobControl(listeners) {
    // Windows has none.
    if (process.platform === 'win32') return () => undefined;
    jobControl = listeners;
    process.on('SIGTSTP', onStop).on('SIGCONT', onContinue);
    return () => void process.off('SIGTSTP', onStop).off('SIGCONT', onContinue);
  },
  async stopHere() {
    if (process.platform === 'win32') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    goesOn = resolve;
    // A signal with a listener stops nothing.
    process.off('SIGTSTP', onStop);
    process.kill(0, 'SIGTSTP');
    const timer = setTimeout(resolve, stopsWithin);
    await promise;
    clearTimeout(timer);
    goesOn = undefined;
    process.on('SIGTSTP', onStop);
  },
  exit: (code) => process.exit(code),
  // The signal itself ends the process. `process.exit` would wait for the thread of the store,
  // which a locked file can hold for seconds.
  endBy(signal) {
    toldOfEnd();
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  },
};

function toldOfEnd(): void {
  const listeners = [...atEnd];
  atEnd.clear();
  for (const listener of listeners) listener();
}
