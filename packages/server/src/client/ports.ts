import type { Clock, IdSource, Random } from 'adjutant/ports';

/** Where a client's time, chance and names come from. */
export interface ClientPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
}

// 32 symbols, so that one random byte gives one symbol without bias.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const idLength = 24;

/** Ports that browsers and Node have in common. */
export const platformPorts: ClientPorts = Object.freeze({
  clock: Object.freeze({
    now: () => Date.now(),
    monotonic: () => performance.now(),
    setTimer: (ms: number, task: () => void) => {
      const handle = setTimeout(task, ms);
      return () => clearTimeout(handle);
    },
  }),
  random: Object.freeze({ next: () => Math.random() }),
  // Not `randomUUID`: pages that were loaded over plain HTTP have none.
  ids: Object.freeze({
    next: () =>
      Array.from(
        crypto.getRandomValues(new Uint8Array(idLength)),
        (byte) => alphabet[byte & 31],
      ).join(''),
  }),
});

/** Resolves after `ms` milliseconds, or rejects with the signal's reason. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const give = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', give);
      resolve();
    });
    signal?.addEventListener('abort', give, { once: true });
  });
}
