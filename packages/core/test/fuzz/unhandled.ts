import { expect, onTestFinished } from 'vitest';

const events = ['unhandledRejection', 'uncaughtException'] as const;

/**
 * Watches over what would end a process, until the test is over.
 * @returns what checks that there was nothing of it
 */
export function watchProcess(): () => Promise<void> {
  const failures: string[] = [];
  const listeners = events.map((event) => {
    const heed = (thrown: unknown): void =>
      void failures.push(`${event}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
    process.on(event, heed);
    return () => process.off(event, heed);
  });
  onTestFinished(() => {
    for (const end of listeners) end();
  });
  return async () => {
    // Rejections are told of when nothing else is left to be done in a turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(failures).toEqual([]);
  };
}
