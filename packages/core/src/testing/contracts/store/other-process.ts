import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ownerOfProcess } from '../../../stores/owner.ts';

/**
 * Another process of this machine, as a store sees it: the name under which it would own ledgers,
 * and its end.
 */
export interface OtherProcess {
  readonly owner: string;
  kill(): Promise<void>;
}

/** Runs work with another process, which ends after the work, even if that fails. */
export async function withOtherProcess(
  work: (process: OtherProcess) => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  await once(child, 'spawn');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await work({ owner: ownerOfProcess(child.pid as number, 'x'), kill });
  } finally {
    await kill();
  }
}
