import type { InboxEntry } from '../../ledger/port.ts';

/** Name of the service in the item with which a later session of it begins. */
export function begunName({ data, type }: InboxEntry): string | undefined {
  const { command, name } = data;
  const begins = type === 'service' && command === 'begin';
  return begins && typeof name === 'string' ? name : undefined;
}
