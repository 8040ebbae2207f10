import type { ServiceHost } from '../../engine/services/service.ts';
import type { StoredRow } from '../../ledger/port.ts';
import type { RunningChecks } from './condition-check.ts';
import { heldElsewhere, mostLooks } from './held-elsewhere.ts';

/** A trigger to which a caller has posted, and the name of its turn. */
interface PostedTrigger {
  readonly host: ServiceHost;
  readonly checks: RunningChecks;
  readonly tenant: string;
  readonly name: string;
  readonly turn: string;
}

/**
 * Lets a trigger be written here until that is done, or nobody is at work on it any more. A check
 * that begins after that goes on without the caller.
 * @returns its row as it is then; `undefined` when there is none
 */
export async function writtenRow(
  { checks, host, name, tenant, turn }: PostedTrigger,
  find: () => Promise<StoredRow | undefined>,
  isDone: (found: StoredRow) => boolean,
): Promise<StoredRow | undefined> {
  const place = { tenant, name };
  for (let looks = 0; ; looks++) {
    await checks.orBegun(place, host.advance(tenant, turn));
    const row = await find();
    if (row !== undefined && isDone(row)) return row;
    // Its writer takes in commands only after a check.
    checks.end(place);
    let isHere = false;
    const work = host.awaited(tenant, turn).then((found) => {
      isHere = found;
    });
    const isChecked = await checks.orBegun(place, work);
    if (isHere || (isChecked && looks < mostLooks)) continue;
    const isHeld = looks < mostLooks && (await heldElsewhere(host, tenant, name));
    if (!isHeld) return find();
  }
}
