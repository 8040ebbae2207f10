import type { Event, EventOf } from '../../../ledger/event.ts';
import type { InvocationRecord } from '../../../ledger/folds/invocation-fold.ts';
import { sleepsUntil } from '../../../ledger/folds/sleeps.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { isBelow } from '../../../ledger/path.ts';

/** An open part of a run, and the thing that it waits for. */
export type OpenWork =
  | {
      readonly kind: 'model';
      readonly path: string;
      readonly agent: string;
      readonly round: number;
    }
  | { readonly kind: 'retry'; readonly path: string; readonly what: string; readonly at: number }
  | { readonly kind: 'request'; readonly path: string; readonly requestId: string }
  | { readonly kind: 'tool'; readonly path: string; readonly callId: string; readonly name: string }
  | { readonly kind: 'sleep'; readonly path: string; readonly name: string; readonly until: number }
  | { readonly kind: 'step'; readonly path: string; readonly name: string }
  /** The run is between two events: nothing in the ledger says what it waits for. */
  | { readonly kind: 'between'; readonly path: string; readonly what: string };

type Asked = Pick<Ledger, 'invocations' | 'requests'>;

/** Returns the open work of a ledger: the innermost parts only. */
export function openWork(ledger: Asked): readonly OpenWork[] {
  const open = [...ledger.invocations.byPath.values()].filter(({ end }) => end === undefined);
  return open.flatMap((record) => workOf(record, ledger, open));
}

function workOf(
  record: InvocationRecord,
  { requests }: Asked,
  open: readonly InvocationRecord[],
): readonly OpenWork[] {
  const { path, kind, name } = record;
  const below = open.filter((other) => isBelow(other.path, path));
  const asked = [...requests.values()].filter(({ invocationId }) => invocationId === path);
  if (kind === 'sleep') return [{ kind, path, name, until: sleepsUntil(record.input) }];
  const found: OpenWork[] = [
    ...asked.map(({ requestId }): OpenWork => ({ kind: 'request', path, requestId })),
    ...callsOf(record.events)
      .filter(
        ({ callId }) =>
          asked.every((request) => request.callId !== callId) &&
          below.every((child) => !isBelow(child.path, callId)),
      )
      .map((call) => workOfCall(path, call)),
    ...modelWorkOf(record),
  ];
  if (found.length > 0 || below.length > 0 || record.status === 'yielded') return found;
  return [
    kind === 'step'
      ? { kind, path, name }
      : { kind: 'between', path, what: `the ${kind} "${name}"` },
  ];
}

interface OpenCall {
  readonly callId: string;
  readonly name: string;
  /** Its last attempt, or the unsettled result of that. */
  readonly last: EventOf<'tool_attempt'> | EventOf<'tool_result'> | undefined;
}

/** Tool calls and effects that are not settled. */
function callsOf(events: readonly Event[]): readonly OpenCall[] {
  const calls = new Map<string, OpenCall>();
  for (const event of events) {
    if (event.type === 'tool_call')
      calls.set(event.callId, { callId: event.callId, name: event.name, last: undefined });
    if (event.type === 'tool_attempt')
      calls.set(event.callId, {
        callId: event.callId,
        name: calls.get(event.callId)?.name ?? event.callId,
        last: event,
      });
    if (event.type !== 'tool_result') continue;
    if (event.settled || event.late === true) calls.delete(event.callId);
    else calls.set(event.callId, { callId: event.callId, name: event.name, last: event });
  }
  return [...calls.values()];
}

function workOfCall(path: string, { callId, name, last }: OpenCall): OpenWork {
  if (last?.type === 'tool_attempt') return { kind: 'tool', path, callId, name };
  if (last?.retryAfterMs !== undefined)
    return { kind: 'retry', path, what: `the tool ${name}`, at: last.at + last.retryAfterMs };
  return { kind: 'between', path, what: `the call of ${name}` };
}

function modelWorkOf({ path, events }: InvocationRecord): readonly OpenWork[] {
  const last = events.findLast(
    (event) => event.type === 'model_start' || event.type === 'model_end',
  );
  if (last?.type === 'model_start')
    return [{ kind: 'model', path, agent: last.agent, round: last.round }];
  if (last?.type !== 'model_end' || last.status !== 'error' || last.retryAfterMs === undefined)
    return [];
  return [{ kind: 'retry', path, what: 'its model', at: last.at + last.retryAfterMs }];
}
