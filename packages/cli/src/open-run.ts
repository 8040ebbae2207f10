import { isAdjutantError, type Session } from 'adjutant';
import { holderOf } from './failure.ts';
import { plainLine } from './output/plain-text.ts';

/** Name of the runnable whose run a session has open; `undefined`: it has none. */
export function openRunOf({ ledger }: Session): string | undefined {
  const { roots, byPath } = ledger.invocations;
  const root = byPath.get(roots.at(-1) ?? '');
  let last = root;
  while (last?.next !== undefined) last = byPath.get(`${last.path}>${last.next.name}`);
  // Handed over to what has not begun yet.
  const isHandedOver = root !== undefined && last === undefined;
  return isHandedOver || (last !== undefined && last.end === undefined) ? root?.name : undefined;
}

/** Why the open run of a session cannot be continued by the agent of this name; `undefined`: it can. */
export function whyNotHere(session: Session, name: string): string | undefined {
  const found = openRunOf(session) ?? name;
  return found === name ? undefined : `it is a run of "${plainLine(found)}", not of the agent of the command line`;
}

/** Who works on a session; `undefined`: nobody does, and now this process has it. */
export async function holderNow(session: Session): Promise<string | undefined> {
  try {
    await session.ledger.own();
    return undefined;
  } catch (error) {
    if (!isAdjutantError(error, 'session_busy')) throw error;
    const process = holderOf(error);
    return process === undefined ? 'Another process' : `Process ${process}`;
  }
}
