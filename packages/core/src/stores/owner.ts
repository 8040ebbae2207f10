import type { IdSource } from '../base/id.ts';

/**
 * Returns the name under which this process claims ledgers: `<where>/<pid>/<process start
 * time>/<random>`. The first part is the scope of process numbers: boot id and, on Linux, pid
 * namespace. Another process there can see that the owner is gone, even when the process number is
 * in use again.
 */
export function processOwner(ids: IdSource): string {
  ownName ??= nameOf(process.pid);
  return `${ownName}/${ids.next()}`;
}

/**
 * The part of the name that stays the same while the process lives. Asking the system costs more
 * than a round of an agent.
 */
let ownName: string | undefined;

/**
 * Returns the owner name of any process of this machine. The start time of another process is only
 * known on Linux.
 */
export function ownerOfProcess(pid: number, random: string): string {
  return `${nameOf(pid)}/${random}`;
}

function nameOf(pid: number): string {
  return `${whereabouts()}/${pid}/${startOf(pid) ?? ownStart()}`;
}

/**
 * True when `owner` is a process of this machine and pid namespace, since its last start, that no
 * longer exists. False when it cannot be known: the containers of one host share its boot id, and
 * not its process numbers.
 */
export function isOwnerGone(owner: string): boolean {
  const [where, pidText, start] = owner.split('/');
  const pid = Number(pidText);
  if (where !== whereabouts() || !Number.isSafeInteger(pid) || pid < 1) return false;
  if (!isRunning(pid)) return true;
  const found = startOf(pid);
  return found !== undefined && found !== start;
}

/**
 * Tells which owners are gone, asking the system once for each: many sessions mostly have few
 * owners.
 */
export class OwnerSurvey {
  readonly #gone = new Map<string, boolean>();

  isGone(owner: string): boolean {
    let gone = this.#gone.get(owner);
    if (gone === undefined) {
      gone = isOwnerGone(owner);
      this.#gone.set(owner, gone);
    }
    return gone;
  }
}

let knownWhereabouts: string | undefined;

function whereabouts(): string {
  knownWhereabouts ??= [bootId(), pidNamespace()].filter((part) => part !== undefined).join('.');
  return knownWhereabouts;
}

/**
 * Returns the name of the present boot, within the processes that share process numbers.
 * `undefined` where the system does not tell.
 */
export function bootName(): string | undefined {
  return systemBootId() === undefined ? undefined : whereabouts();
}

function bootId(): string {
  return systemBootId() ?? process.getBuiltinModule('node:os').hostname().replaceAll('/', '_');
}

function systemBootId(): string | undefined {
  return readText('/proc/sys/kernel/random/boot_id')?.trim();
}

/** Returns the number in `pid:[4026531836]`, or `undefined` where there are no namespaces. */
function pidNamespace(): string | undefined {
  try {
    return /\d+/.exec(process.getBuiltinModule('node:fs').readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

/**
 * Returns the clock ticks from boot to the start of a process. `undefined` where the system does
 * not tell or the process does not exist.
 */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // Field 2 is the command in parentheses and may hold spaces; field 3 comes after the last
  // parenthesis. A zombie is gone.
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
    // Not imported: the modules that it loads are a quarter of the memory of the package.
    return process.getBuiltinModule('node:fs').readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
