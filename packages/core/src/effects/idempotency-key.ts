import { sha256 } from '../base/hash.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ToolEffect } from '../ledger/tool-result.ts';

/** What was tried so far under one id: the calls of tools and the effects of bodies. */
interface Attempted {
  readonly call: { readonly callId: string };
  readonly attempts: readonly {
    readonly key: string;
    readonly result: { readonly effect?: ToolEffect } | undefined;
    readonly tool?: string | undefined;
  }[];
  /**
   * The tool that stands in for the one that was asked for: what the other one was given is not
   * given to it.
   */
  readonly fallback?: string | undefined;
}

/**
 * The key that stays while the effect of any attempt with it may have happened, and changes when
 * all of them are known to have had none: a service that honours such keys would answer the old one
 * with the recorded refusal.
 */
export function idempotencyKey(
  { session, ports }: Pick<Ledger, 'session' | 'ports'>,
  { call, attempts, fallback }: Attempted,
): string {
  // The recorded key, not one that is made again: it was made in the ledger that holds the attempt,
  // which may be another one's beginning.
  const open = attempts.find(({ result, tool }) => tool === fallback && result?.effect !== 'none');
  if (open !== undefined) return open.key;
  const { tenant, app } = ports.scope;
  return sha256(
    JSON.stringify([
      tenant,
      app,
      session,
      call.callId,
      attempts.length,
      ...(fallback === undefined ? [] : [fallback]),
    ]),
  ).slice(0, 32);
}
