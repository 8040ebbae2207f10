import type { EventOf } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Tool } from '../../tools/tool.ts';
import { requestFingerprint } from './fingerprint.ts';
import { requestDecision } from './question.ts';

/**
 * Withdraws a request that this ledger cannot have answered. It belongs to the ledger of which this
 * one is a fork or copy, or its tool has changed. A request that is still needed is made anew.
 */
export function withdrawIfStale(
  ledger: Ledger,
  path: string,
  request: EventOf<'tool_yield'>,
  tool: Tool | undefined,
): void {
  const { requestId, callId, generation, kind, fingerprint, args } = request;
  const isForeign = requestId !== ledger.requestId(callId, generation);
  const isChanged =
    kind !== 'limit' &&
    tool !== undefined &&
    requestFingerprint(tool, ledger.resolve(args)) !== fingerprint;
  if (!isForeign && !isChanged) return;
  const why = isForeign
    ? 'it was asked in the ledger that this one is a copy of'
    : `the tool ${request.name} has changed since it was asked`;
  ledger.append(
    [
      requestDecision(path, 'withdraw', `The question is not waited for any more: ${why}.`, {
        requestId,
        callId,
        kind,
      }),
    ],
    isForeign ? undefined : { settles: [{ requestId, status: 'withdrawn', by: 'runtime' }] },
  );
}
