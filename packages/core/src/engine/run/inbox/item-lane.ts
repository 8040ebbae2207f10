import type { JsonObject } from '../../../base/json.ts';
import { defaultLane, laneAt } from '../../../ledger/folds/lanes.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { rootOf } from '../../../ledger/path.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import { textOf } from './item.ts';

/**
 * The lane of a session that an inbox item is for; `undefined` when any run of the session takes it
 * in. The `lane` of the item itself is another thing: its place in the order of the inbox.
 */
export function laneOfItem(ledger: Ledger, entry: InboxEntry): string | undefined {
  const { data, settles, type } = entry;
  switch (type) {
    case 'cancel':
    case 'pause':
    case 'interrupt':
    case 'user':
      return namedLane(ledger, data);
    case 'grant':
    case 'revoke':
      return data['runId'] === undefined ? undefined : namedLane(ledger, data);
    case 'tool_input': {
      const path =
        textOf(data, 'resolves') ?? ledger.requests.get(settles ?? '')?.invocationId ?? '';
      return knownLane(ledger, path);
    }
    default:
      return undefined;
  }
}

function namedLane(ledger: Ledger, data: JsonObject): string {
  const path = textOf(data, 'runId') ?? textOf(data, 'invocationId') ?? '';
  return knownLane(ledger, path) ?? textOf(data, 'lane') ?? defaultLane;
}

function knownLane({ invocations }: Ledger, path: string): string | undefined {
  return invocations.byPath.has(rootOf(path)) ? laneAt(invocations, path) : undefined;
}
