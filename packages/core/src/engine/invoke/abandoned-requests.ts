import { requestDecision } from '../../effects/request/question.ts';
import type { EventDraft, EventOf } from '../../ledger/event.ts';
import { slotMode } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import type { RequestSettlement } from '../../ledger/port.ts';
import { inFlightOn } from '../frame/in-flight.ts';

/** Drafts that withdraw requests, and the settlements that go with them. */
interface Withdrawal {
  readonly drafts: readonly EventDraft[];
  readonly settles: readonly RequestSettlement[];
}

/**
 * Withdraws the requests at and below an invocation that ends: nothing would ever use their
 * answers. The invocation may have ended because its code asks for something else now, or because
 * it failed or was cancelled. Spawned and dispatched children below it go on, and their requests
 * with them.
 */
export function withdrawnWith(ledger: Ledger, path: string, isCancelled: boolean): Withdrawal {
  const why = `"${path}" has ended and does not go on with it`;
  return withdraw(ledger, openBelow(ledger, path), { own: path, isCancelled, why });
}

/**
 * Withdraws the requests below a tool call that was settled while a child of it was open.
 * Invocations under way settle their own requests.
 */
export function withdrawBelowCall(ledger: Ledger, callId: string): void {
  const { underWay } = inFlightOn(ledger);
  const isLeft = (request: EventOf<'tool_yield'>): boolean =>
    ![...chain(ledger, request, callId)].some(({ path }) => underWay.has(path));
  const left = openBelow(ledger, callId).filter(isLeft);
  const { drafts, settles } = withdraw(ledger, left, {
    own: undefined,
    isCancelled: false,
    why: `the call "${callId}" has been settled without it`,
  });
  if (drafts.length > 0) ledger.append(drafts, { settles });
}

/** Adds a withdrawal to what goes with an append. */
export function withSettled(
  extras: BatchExtras | undefined,
  settles: readonly RequestSettlement[],
): BatchExtras | undefined {
  return settles.length === 0
    ? extras
    : { ...extras, settles: [...(extras?.settles ?? []), ...settles] };
}

interface Reason {
  /** Path of the invocation whose own end records that it was cancelled. */
  readonly own: string | undefined;
  readonly isCancelled: boolean;
  readonly why: string;
}

function withdraw(
  ledger: Ledger,
  requests: readonly EventOf<'tool_yield'>[],
  { own, isCancelled, why }: Reason,
): Withdrawal {
  const drafts: EventDraft[] = [];
  const settles: RequestSettlement[] = [];
  for (const { requestId, callId, generation, kind, invocationId = '' } of requests) {
    // A copied request belongs to the ledger that it was copied from, and is settled there.
    if (requestId === ledger.requestId(callId, generation)) {
      settles.push({ requestId, status: isCancelled ? 'cancelled' : 'withdrawn', by: 'runtime' });
    }
    if (isCancelled && invocationId === own) continue;
    drafts.push(
      requestDecision(
        invocationId,
        'withdraw',
        `The question is not waited for any more: ${why}.`,
        { requestId, callId, kind },
      ),
    );
  }
  return { drafts, settles };
}

/**
 * Returns the open requests at or below a path, without those of spawned and dispatched children.
 */
function openBelow(ledger: Ledger, path: string): EventOf<'tool_yield'>[] {
  if (ledger.requests.size === 0) return [];
  return [...ledger.requests.values()].filter((request) => {
    const { invocationId = '' } = request;
    if (invocationId !== path && !invocationId.startsWith(`${path}/`)) return false;
    const modes = [...chain(ledger, request, path)].map((record) =>
      slotMode(ledger.invocations, record.path),
    );
    return !modes.includes('dispatch') && !modes.includes('spawn');
  });
}

/** Yields the invocations from the one that asked up to the one below `path`. */
function* chain(ledger: Ledger, { invocationId }: EventOf<'tool_yield'>, path: string) {
  const { byPath } = ledger.invocations;
  for (
    let record = byPath.get(invocationId ?? '');
    record !== undefined;
    record = byPath.get(record.parent ?? '')
  ) {
    if (!record.path.startsWith(`${path}/`)) return;
    yield record;
  }
}
