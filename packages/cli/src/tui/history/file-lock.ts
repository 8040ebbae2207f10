import { open, rm, stat } from 'node:fs/promises';
import type { Clock } from 'adjutant/ports';

/** Times in milliseconds: a try, all tries, and the age of a lock that its process has left. */
const patience = { retry: 20, whole: 2_000, abandoned: 10_000 };

/**
 * Does something while this process alone holds the lock beside a file. A lock that is older than
 * 10 s was left by a process that ended. Returns `undefined` if others held it for 2 s.
 */
export async function withFileLock<Value>(
  path: string,
  clock: Clock,
  act: () => Promise<Value>,
): Promise<Value | undefined> {
  const lock = `${path}.lock`;
  if (!(await takeLock(lock, clock))) return undefined;
  try {
    return await act();
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string, clock: Clock): Promise<boolean> {
  for (let waited = 0; waited <= patience.whole; waited += patience.retry) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(lock, clock)) await rm(lock, { force: true });
    else await new Promise<void>((resolve) => clock.setTimer(patience.retry, resolve));
  }
  return false;
}

async function isAbandoned(lock: string, clock: Clock): Promise<boolean> {
  try {
    return clock.now() - (await stat(lock)).mtimeMs > patience.abandoned;
  } catch {
    // Its process has just given it back.
    return false;
  }
}
