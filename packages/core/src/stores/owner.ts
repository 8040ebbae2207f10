import type { IdSource } from '../base/id.ts';

/**
 * The name under which this process claims ledgers: `<boot id>/<pid>/<process start time>/<random>`. It lets another
 * process on the same machine see that its owner is gone, even when the process number is in use again.
 */
export function processOwner(ids: IdSource): string {
  return ownerOfProcess(process.pid, ids.next());
}

/** The owner name of any process of this machine. The start time of another process is only known on Linux. */
export function ownerOfProcess(pid: number, random: string): string {
  return `${bootId()}/${pid}/${startOf(pid) ?? ownStart()}/${random}`;
}

/** Whether `owner` is a process of this machine, since its last start, that no longer exists. What cannot be judged is not gone. */
export function isOwnerGone(owner: string): boolean {
  const [boot, pidText, start] = owner.split('/');
  const pid = Number(pidText);
  if (boot !== bootId() || !Number.isSafeInteger(pid) || pid < 1) return false;
  if (!isRunning(pid)) return true;
  const found = startOf(pid);
  return found !== undefined && found !== start;
}

let knownBootId: string | undefined;

function bootId(): string {
  knownBootId ??= readText('/proc/sys/kernel/random/boot_id')?.trim() ?? process.getBuiltinModule('node:os').hostname().replaceAll('/', '_');
  return knownBootId;
}

/** Clock ticks from boot to the start of a process, or `undefined` where the system does not tell or there is no such process. */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // Field 2 is the command in parentheses and may hold spaces; field 3 comes after the last parenthesis. A zombie is gone.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields?.[19];
}

function ownStart(): string {
  return String(Math.round(performance.timeOrigin));
}

function isRunning(pid: number): boolean {
  const state = readText(`/proc/${pid}/stat`)?.match(/\) (\S)/)?.[1];
  if (state !== undefined) return state !== 'Z' && state !== 'X';
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function readText(path: string): string | undefined {
  try {
    // Not imported: the modules that this would load with the package are a quarter of the memory that it takes.
    return process.getBuiltinModule('node:fs').readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
