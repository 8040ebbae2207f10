import { sha256 } from '../base/hash.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ToolEffect } from '../ledger/tool-result.ts';

/** Attempts under one id so far, of a tool call or of an effect in a body. */
interface Attempted {
  readonly call: { readonly callId: string };
  readonly attempts: readonly {
    readonly key: string;
    readonly result: { readonly effect?: ToolEffect } | undefined;
    readonly tool?: string | undefined;
  }[];
  /**
   * Name of the tool that stands in for the requested one. It does not get the keys of the
   * requested tool.
   */
  readonly fallback?: string | undefined;
}

/**
 * Returns the idempotency key of the next attempt. The key stays while an earlier attempt with it
 * may have had an effect. It changes when all attempts are known to have had none. A service that
 * honours keys would answer the old key with its recorded refusal.
 */
export function idempotencyKey(
  { session, ports }: Pick<Ledger, 'session' | 'ports'>,
  { call, attempts, fallback }: Attempted,
): string {
  // The recorded key is used, not a newly made one. It belongs to the ledger in which the attempt
  // was made, and this ledger may be a copy.
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
