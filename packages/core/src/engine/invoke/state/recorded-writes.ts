import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { DataOf } from '../../../ledger/decisions/decision-map.ts';
import type { EventOf } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../../ledger/ledger.ts';

/** Recorded fate of the writes that were to land with the start of a child or effect. */
export interface Flush {
  /** Writes of the first version of `state_change`. */
  readonly landed: readonly EventOf<'state_change'>[];
  /** Shared writes that the store refused, by scope. */
  readonly refused: readonly RefusedWrites[];
}

export type RefusedWrites = DataOf<'shared_state', 'refuse_write'>;

/**
 * Returns the writes of a body that were to land with a start. The start is that of a child or of
 * the first attempt of an effect. The writes stand right before it.
 */
export function flushedWith(ledger: Ledger, path: string, begun: number, key: string): Flush {
  const landed: EventOf<'state_change'>[] = [];
  const refused: RefusedWrites[] = [];
  for (let seq = begun - 1; seq > 0; seq--) {
    const event = ledger.events[seq - 1];
    if (event?.invocationId !== path) break;
    if (event.type === 'state_change' && event.flush === key) landed.push(event);
    else if (
      isDecision(event, 'shared_state', 'refuse_write') &&
      event.data !== undefined &&
      (event.data.flush ?? key) === key
    ) {
      refused.push(event.data);
    } else break;
  }
  return { landed, refused };
}

/** Returns the `seq` of the end of a slot, if the ledger has its outcome. */
export function outcomeSeq(ledger: Ledger, path: string): number | undefined {
  const { byPath } = ledger.invocations;
  let record: InvocationRecord | undefined = byPath.get(path);
  while (record?.next !== undefined) record = byPath.get(`${record.path}>${record.next.name}`);
  return record?.end?.seq;
}

/**
 * Returns the `seq` of the state that the body of a tool started from. It is the recorded one, or
 * that of the last event before the call's first child or effect. `undefined`: the call has begun
 * neither.
 */
export function recordedBase(
  { invocations }: Ledger,
  path: string,
  callId: string,
): number | undefined {
  const below = `${callId}/`;
  const record = invocations.byPath.get(path);
  const starts = (record?.children ?? []).flatMap((child) =>
    child.startsWith(below) ? [invocations.byPath.get(child)?.start.seq ?? 0] : [],
  );
  let first = starts.length === 0 ? undefined : Math.min(...starts);
  for (const event of record?.events ?? []) {
    if (event.type === 'state_change' && event.callId === callId && event.base !== undefined)
      return event.base;
    if (event.type === 'tool_attempt' && event.callId.startsWith(below))
      first = Math.min(first ?? event.seq, event.seq);
  }
  return first === undefined ? undefined : first - 1;
}
