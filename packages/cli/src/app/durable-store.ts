import type { Runtime } from 'adjutant';
import { UsageError } from '../failure.ts';

/** True for an app whose sessions end with its process. */
export function keepsInMemory({ store }: Pick<Runtime, 'store'>): boolean {
  return ['memory', ':memory:'].includes(store.description);
}

/**
 * Refuses an app whose sessions end with its process.
 * @param why the reason, as half a sentence
 * @throws UsageError
 */
export function assertDurable(app: Runtime, why: string): void {
  if (!keepsInMemory(app)) return;
  throw new UsageError({
    reason:
      `The app "${app.app}" keeps everything in memory: ${why}. Give it a store that lasts, ` +
      "such as sqlite('ledgers.db').",
  });
}
